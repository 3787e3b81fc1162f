//! What the rules write to.

use std::fmt::Display;

use serde_json::Value;

use super::Circumstances;
use super::node::Node;
use crate::finding::{Code, ErrorKind, Finding, Fix};
use crate::near::{distance, nearest};
use crate::profile::{Features, Profile};

/// What is wrong with a text; empty if nothing is.
pub(super) type Problems = Vec<&'static str>;

/// The findings so far, and what the rules need to know beside the object.
pub(super) struct Report<'a> {
    /// Which Kubernetes answers.
    pub(super) profile: &'a Profile,
    /// What else matters.
    pub(super) circumstances: Circumstances,
    /// Whether the object is a manifest, which leaves to the server what it does not say.
    pub(super) is_manifest: bool,
    /// What was found, in the order of the rules.
    pub(super) findings: Vec<Finding>,
    /// How much more there was than is told.
    untold: usize,
}

/// Findings that are told about one object; hostile input has any number of them.
const MOST_FINDINGS: usize = 2000;

impl<'a> Report<'a> {
    pub(super) fn new(profile: &'a Profile, circumstances: Circumstances) -> Self {
        Self { profile, circumstances, is_manifest: false, findings: Vec::new(), untold: 0 }
    }

    /// Features that are on.
    pub(super) fn features(&self) -> &'a Features {
        &self.profile.features
    }

    /// An error of the API server.
    pub(super) fn error(&mut self, kind: ErrorKind, code: Code, at: impl Display, message: impl Into<String>) {
        if self.is_full() {
            return;
        }
        let mut finding = Finding::new(code, at, message);
        finding.kind = Some(kind);
        self.findings.push(finding);
    }

    /// A finding of ours.
    pub(super) fn note(&mut self, finding: Finding) {
        if !self.is_full() {
            self.findings.push(finding);
        }
    }

    /// Whether no more is told; counts what is not.
    pub(super) fn is_full(&mut self) -> bool {
        let full = self.findings.len() >= MOST_FINDINGS;
        self.untold = self.untold.saturating_add(usize::from(full));
        full
    }

    /// What was found, and at the end how much more there was.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        if self.untold > 0 {
            let message = format!("{} more findings about this object are left out", self.untold);
            self.findings.push(Finding::new(Code::ValidateTooManyFindings, "", message));
        }
        self.findings
    }

    /// Adds a way out to the latest finding.
    pub(super) fn hint(&mut self, hint: impl Into<String>) {
        if let Some(finding) = self.findings.last_mut() {
            finding.hint = Some(hint.into());
        }
    }

    /// Adds the one certain correction to the latest finding.
    pub(super) fn fix(&mut self, fix: Fix) {
        if let Some(finding) = self.findings.last_mut() {
            finding.fix = Some(fix);
        }
    }

    pub(super) fn required(&mut self, at: impl Display, message: impl Into<String>) {
        self.error(ErrorKind::Required, Code::ValidateRequired, at, message);
    }

    pub(super) fn invalid(&mut self, at: impl Display, message: impl Into<String>) {
        self.error(ErrorKind::Invalid, Code::ValidateInvalid, at, message);
    }

    pub(super) fn immutable(&mut self, at: impl Display) {
        self.error(ErrorKind::Invalid, Code::ValidateImmutable, at, "the field cannot be changed");
    }

    pub(super) fn not_supported(&mut self, at: impl Display, value: &str, known: &[&str]) {
        self.error(ErrorKind::NotSupported, Code::ValidateNotSupported, at, format!("`{value}` is not a known value"));
        // None of the values differ in upper and lower case only.
        let same = known.iter().copied().find(|known| known.eq_ignore_ascii_case(value));
        let near = same.or_else(|| nearest(value, known.iter().copied()).filter(|_| value.len() > 2));
        let guess = near.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        self.hint(format!("{guess}one of {}", known.join(", ")));
        // One slip of the finger in a word long enough.
        if let Some(meant) = near.filter(|meant| same.is_some() || distance(value, meant) == 1 && value.len() > 4) {
            self.fix(Fix::Set(Value::from(meant)));
        }
    }

    pub(super) fn duplicate(&mut self, at: impl Display, key: &str) {
        self.error(ErrorKind::Duplicate, Code::ValidateDuplicate, at, format!("`{key}` is there already"));
    }

    pub(super) fn too_many(&mut self, at: impl Display, actual: usize, most: usize) {
        let message = format!("{actual} entries, at most {most} are allowed");
        self.error(ErrorKind::TooMany, Code::ValidateTooMany, at, message);
    }

    pub(super) fn too_long(&mut self, at: impl Display, actual: usize, most: usize) {
        let message = format!("{actual} bytes, at most {most} are allowed");
        self.error(ErrorKind::TooLong, Code::ValidateTooLong, at, message);
    }

    pub(super) fn forbidden(&mut self, at: impl Display, message: impl Into<String>) {
        self.error(ErrorKind::Forbidden, Code::ValidateForbidden, at, message);
    }

    pub(super) fn not_found(&mut self, at: impl Display, message: impl Into<String>) {
        self.error(ErrorKind::NotFound, Code::ValidateNotFound, at, message);
    }

    /// A list or map of at most so many entries; false where it has more.
    pub(super) fn most(&mut self, node: &Node<'_, '_>, most: usize) -> bool {
        if node.len() > most {
            self.too_many(node.at, node.len(), most);
        }
        node.len() <= most
    }

    /// A text of at most so many bytes.
    pub(super) fn longest(&mut self, node: &Node<'_, '_>, most: usize) {
        if node.text().len() > most {
            self.too_long(node.at, node.text().len(), most);
        }
    }

    /// A number that is not negative.
    pub(super) fn not_negative(&mut self, node: &Node<'_, '_>) {
        if node.int() < 0 {
            self.invalid(node.at, "must not be negative");
        }
    }

    /// A text that is one of these.
    pub(super) fn known(&mut self, node: &Node<'_, '_>, known: &[&str]) {
        if !known.contains(&node.text()) {
            self.not_supported(node.at, node.text(), known);
        }
    }

    /// The same where the text is not empty.
    pub(super) fn one_of(&mut self, node: &Node<'_, '_>, known: &[&str]) {
        if !node.text().is_empty() {
            self.known(node, known);
        }
    }

    /// One error of kind invalid per problem of a name.
    pub(super) fn invalid_each(&mut self, at: impl Display, value: &str, problems: &[&str]) {
        for problem in problems {
            self.invalid(&at, format!("`{}` {problem}", shown(value)));
        }
    }

    /// A text that must follow a rule of names.
    pub(super) fn text(&mut self, node: &Node<'_, '_>, rule: fn(&str) -> Problems) {
        self.invalid_each(node.at, node.text(), &rule(node.text()));
    }

    /// The same where the field is there.
    pub(super) fn set_text(&mut self, node: &Node<'_, '_>, rule: fn(&str) -> Problems) {
        if node.is_set() {
            self.text(node, rule);
        }
    }

    /// The same where the text is not empty.
    pub(super) fn some_text(&mut self, node: &Node<'_, '_>, rule: fn(&str) -> Problems) {
        if !node.text().is_empty() {
            self.text(node, rule);
        }
    }

    /// The same for a text that is needed.
    pub(super) fn needed_text(&mut self, node: &Node<'_, '_>, message: impl Into<String>, rule: fn(&str) -> Problems) {
        if node.text().is_empty() {
            self.required(node.at, message);
        } else {
            self.text(node, rule);
        }
    }

    /// A list of at most `most` entries, each of which has rules. More entries give one error, and the rules are not
    /// asked.
    pub(super) fn list(&mut self, list: &Node<'_, '_>, most: usize, mut rule: impl FnMut(&mut Self, &Node<'_, '_>)) {
        if self.most(list, most) {
            list.items().for_each(|item| rule(self, &item));
        }
    }

    /// A [`list`](Self::list) whose entries must differ in a field, or as texts where `key` is empty.
    pub(super) fn set(
        &mut self,
        list: &Node<'_, '_>,
        most: usize,
        key: &str,
        rule: impl FnMut(&mut Self, &Node<'_, '_>),
    ) {
        self.list(list, most, rule);
        if list.len() <= most {
            self.unique_by(list, key);
        }
    }

    /// Entries must differ in a field, or as texts where `key` is empty.
    pub(super) fn unique_by(&mut self, list: &Node<'_, '_>, key: &str) {
        self.unique(list, |item| if key.is_empty() { item.text() } else { item.text_of(key) }.to_owned());
    }

    /// Entries must differ in their keys.
    pub(super) fn unique(&mut self, list: &Node<'_, '_>, key: impl Fn(&Node<'_, '_>) -> String) {
        let mut seen = std::collections::BTreeSet::new();
        for item in list.items() {
            let key = key(&item);
            if seen.contains(&key) {
                self.duplicate(item.at, &key);
            }
            seen.insert(key);
        }
    }
}

/// The user's text for a message: shortened, since it may be anything.
pub(super) fn shown(value: &str) -> std::borrow::Cow<'_, str> {
    super::node::shown_key(value, 80)
}
