//! What agents can read: the codes of findings, and the concepts of DRA.

use rmcp::model::{Resource, ResourceTemplate};

use crate::cli::arguments::{LookArguments, Output, ViewArguments};
use crate::cli::codes::entries;
use crate::cli::commands::explain;
use crate::cli::shown::Stdout;

/// What every resource is.
pub(super) const MIME: &str = "text/markdown";

/// The concepts, each below a heading of the second level.
const CONCEPTS: &str = include_str!("../../../../../docs/concepts.md");

const CODES_URI: &str = "apportion://codes";
const CONCEPTS_URI: &str = "apportion://concepts";

/// A concept: its name in addresses, its heading, and its text with the heading.
fn concepts() -> impl Iterator<Item = (String, &'static str, String)> {
    CONCEPTS.split("\n## ").skip(1).map(|section| {
        let heading = section.lines().next().unwrap_or_default();
        (heading.to_lowercase().replace(' ', "-"), heading, format!("## {}\n", section.trim_end()))
    })
}

/// Everything that can be read, apart from single codes, of which there are hundreds.
pub(super) fn all() -> Vec<Resource> {
    let resource =
        |uri: &str, name: &str, what: String| Resource::new(uri, name).with_description(what).with_mime_type(MIME);
    let mut all = vec![
        resource(CODES_URI, "codes", "All codes of findings, with their severity".to_owned()),
        resource(CONCEPTS_URI, "concepts", "The concepts of Dynamic Resource Allocation on one page".to_owned()),
    ];
    all.extend(concepts().map(|(name, heading, _)| {
        resource(&format!("{CONCEPTS_URI}/{name}"), &name, format!("Dynamic Resource Allocation: {heading}"))
    }));
    all
}

/// How single codes are addressed.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let what = "What a code of a finding means, such as apportion://codes/alloc/unknown-class";
    vec![ResourceTemplate::new(format!("{CODES_URI}/{{+code}}"), "code").with_description(what).with_mime_type(MIME)]
}

/// The text of a resource; `None` where there is none.
pub(super) fn read(uri: &str) -> Option<String> {
    match uri {
        CODES_URI => codes(None),
        CONCEPTS_URI => Some(CONCEPTS.to_owned()),
        _ => match (uri.strip_prefix("apportion://codes/"), uri.strip_prefix("apportion://concepts/")) {
            (Some(code), _) => entries().any(|entry| entry.code == code).then(|| codes(Some(code)))?,
            (_, Some(concept)) => concepts().find(|(name, ..)| name == concept).map(|(.., text)| text),
            (None, None) => None,
        },
    }
}

fn codes(wanted: Option<&str>) -> Option<String> {
    let view = ViewArguments { output: Output::Table, look: LookArguments::FILE };
    match explain::codes(&view, wanted).ok()?.stdout {
        Stdout::Text(text) => Some(text),
        Stdout::Pieces(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_listed_can_be_read() {
        let all = all();
        assert!(all.len() > 12, "{}", all.len());
        for resource in all {
            assert!(read(&resource.uri).is_some_and(|text| text.len() > 80), "{}", resource.uri);
        }
        assert_eq!(
            entries().find(|entry| read(&format!("{CODES_URI}/{}", entry.code)).is_none()).map(|entry| entry.code),
            None
        );
        assert_eq!(read("apportion://codes/no/such"), None);
        assert_eq!(read("file:///etc/passwd"), None);
    }
}
