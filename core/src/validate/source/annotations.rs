//! Annotations by which templates of other kinds say which namespaces they are for.

use super::super::node::Node;
use super::super::report::{Report, shown};
use super::rows::Format;
use crate::api::source::{ANNOTATIONS, EXCLUDED_NAMESPACES, NAMESPACE_SELECTOR, NAMESPACES, TEMPLATE_NAME};
use crate::finding::{Code, Finding};
use crate::near::nearest_name;

/// No API server looks at them, and what is wrong in them selects nothing.
pub(in crate::validate) fn check(out: &mut Report<'_>, template: &Node<'_, '_>) {
    let metadata = template.field("metadata");
    let annotations = metadata.field("annotations");
    for (name, value) in annotations.entries().filter(|(name, _)| name.starts_with("apportion.dev/")) {
        let at = annotations.at.key(name);
        let words = value.as_str().unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty());
        let problems = |word: &str| match name {
            NAMESPACES => Format::Namespace.problems(word),
            EXCLUDED_NAMESPACES => Format::Label.problems(word),
            TEMPLATE_NAME => Format::Subdomain.problems(word),
            NAMESPACE_SELECTOR => {
                let (key, value) = word.split_once('=').unwrap_or((word, ""));
                [Format::LabelKey.problems(key), Format::LabelValue.problems(value)].concat()
            }
            _ => Vec::new(),
        };
        for word in words {
            for problem in problems(word) {
                out.note(Finding::new(Code::LinkNoNamespace, at, format!("`{}` {problem}", shown(word))));
                if name == NAMESPACE_SELECTOR {
                    out.hint("write `key=value` or `key`, separated by commas");
                }
            }
        }
        if let Some(meant) = nearest_name(name, ANNOTATIONS.map(str::to_owned).iter()).filter(|meant| *meant != name) {
            let message = format!("no annotation of a source is named `{}`", shown(name));
            out.note(Finding::new(Code::LinkNoNamespace, at, message).with_hint(format!("did you mean `{meant}`?")));
        }
    }
}
