//! What only shows when objects are seen together.
//!
//! The API server checks one object at a time: a reference to what does not exist is accepted, and the Pod stays Pending.
//! A reference to a kind of which the set has no object at all is only worth a note, because that kind may well be
//! installed elsewhere.

mod attributes;
mod copies;
mod groups;
mod index;
mod json;
mod member;
mod pods;
mod pools;
mod priorities;
mod security;
mod shared;
mod trim;

pub use member::Member;

use crate::finding::{Code, Finding, Severity};
use crate::near::{did_you_mean, nearest};
use crate::profile::Profile;
use attributes::Published;
use index::{Index, Key};
use json::{Json, each_asked, reference, text};
use shared::SharedClaims;
use trim::trim;

/// Findings per object, in the order given.
pub(super) fn validate<M: Member>(members: &[M], profile: &Profile) -> Vec<Vec<Finding>> {
    let mut published = Published::default();
    // What others refer to, and what belongs together, is held; the rest is read one object at a time.
    let held: Vec<Json<'_>> = members.iter().map(|member| hold(member, &mut published)).collect();
    let index = Index::of(&held);
    let mut shared = SharedClaims::default();
    let mut all: Vec<Vec<Finding>> = Vec::with_capacity(members.len());
    for (number, (member, held)) in members.iter().zip(&held).enumerate() {
        let passing;
        let read = if held.is_null() {
            passing = member.object();
            &passing
        } else {
            held
        };
        shared.add(number, read, &index);
        all.push(one(read, &index, profile.features.admin_access));
    }
    pools::check(&held, &mut all);
    shared.check(members, &mut all);
    attributes::check(&held, &published, profile, &mut all);
    for (findings, held) in all.iter_mut().zip(&held) {
        for finding in findings.iter_mut().filter(|finding| finding.object.is_none()) {
            finding.object = Some(reference(held));
        }
    }
    all
}

/// The object, as far as it is held; null for another.
fn hold<'m>(member: &'m impl Member, published: &mut Published) -> Json<'m> {
    if !index::is_held(&member.kind()) {
        return Json::Null;
    }
    let mut object = member.object();
    published.add(&object);
    trim(&mut object);
    object
}

fn one(object: &Json<'_>, index: &Index<'_>, has_admin_access: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    pods::check(object, index, &mut found);
    groups::check(object, index, &mut found);
    classes(object, index, &mut found);
    index.copies.check(object, index, &mut found);
    priorities::check(object, index, &mut found);
    security::check(object, index, has_admin_access, &mut found);
    if !found.is_empty() {
        let about = reference(object);
        found.iter_mut().for_each(|finding| finding.object = Some(about.clone()));
    }
    // Of a large set the room for findings that are not there would be most of it.
    found.shrink_to_fit();
    found
}

/// The device classes that a claim or template asks for.
fn classes(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    each_asked(object, &mut |at, holder| {
        let class = text(holder, "deviceClassName");
        if !class.is_empty() && !index.classes.contains(class) {
            found.push(unknown_class(format!("{at}.deviceClassName"), class, index));
        }
    });
}

fn unknown_class(at: String, class: &str, index: &Index<'_>) -> Finding {
    let finding = Finding::new(Code::LinkUnknownClass, at, format!("there is no DeviceClass `{class}`"));
    match nearest(class, index.classes.iter().copied()) {
        Some(meant) => finding.with_hint(format!("did you mean `{meant}`?")),
        // Classes come with drivers more often than with the manifests that use them.
        None => finding.with_severity(Severity::Info),
    }
}

/// A reference to what is not in the set; only a note where the set has nothing of the kind. `wanted` is what is named, as `known` are.
fn missing<'k>(
    code: Code,
    at: String,
    message: String,
    wanted: Key<'_>,
    known: impl Iterator<Item = Key<'k>> + Clone,
) -> Finding {
    let finding = Finding::new(code, at, message);
    if known.clone().next().is_none() {
        return finding.with_severity(Severity::Info);
    }
    let mut named = known.filter(|key| !key.1.is_empty());
    let mut here = named.clone().filter(|key| key.0 == wanted.0).map(|key| key.1);
    if let Some(meant) = did_you_mean(wanted.1, &mut here) {
        return finding.with_hint(meant);
    }
    let names: Vec<String> = named.by_ref().take(5).map(|key| key.to_string()).collect();
    if names.is_empty() {
        return finding.with_hint("what is given of that kind has no name: set `metadata.name`");
    }
    let more = if named.next().is_some() { ", ..." } else { "" };
    finding.with_hint(format!("there are {}{more}", names.join(", ")))
}
