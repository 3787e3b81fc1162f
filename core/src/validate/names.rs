//! Formats of names: what is wrong with a text, one message per broken rule.
//!
//! Source: apimachinery `pkg/util/validation`, `pkg/api/validate/content`.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::node::Node;
use super::report::{Problems, Report, shown};

const LABEL: &str =
    "is not a DNS label: lower-case letters, digits and `-`, starting and ending with a letter or digit";
const SUBDOMAIN: &str = "is not a DNS subdomain: lower-case letters, digits, `-` and `.`, each part starting and ending with a letter or digit";
const LABEL_LENGTH: &str = "is longer than 63 characters";
const SUBDOMAIN_LENGTH: &str = "is longer than 253 characters";
const NAME_PART: &str =
    "has a name part with other characters than letters, digits, `-`, `_` and `.`, or with one of these at an end";

/// The longest domain of a driver, in bytes.
const LONGEST_DRIVER: usize = 63;
/// The longest C identifier, in bytes.
const LONGEST_IDENTIFIER: usize = 32;
/// The longest pool name, in bytes.
const LONGEST_POOL: usize = 253;
/// The longest key of attributes and capacities: a domain, a slash, an identifier.
pub(super) const LONGEST_QUALIFIED: usize = LONGEST_DRIVER + 1 + LONGEST_IDENTIFIER;

/// The domain of attributes that mean the same for all drivers.
const STANDARD_DOMAIN: &str = "resource.kubernetes.io";
/// Such attributes.
const STANDARD: [&str; 3] = ["numaNode", "pciBusID", "pcieRoot"];

fn is_lower_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().all(|byte| is_lower_alphanumeric(*byte) || *byte == b'-')
        && bytes.first().is_some_and(|byte| is_lower_alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| is_lower_alphanumeric(*byte))
}

/// The messages of the rules that are broken.
fn broken<const N: usize>(rules: [(bool, &'static str); N]) -> Problems {
    rules.into_iter().filter_map(|(is_broken, message)| is_broken.then_some(message)).collect()
}

/// A DNS label (RFC 1123).
pub(super) fn label(text: &str) -> Problems {
    broken([(text.len() > 63, LABEL_LENGTH), (!is_label_shape(text), LABEL)])
}

/// A DNS subdomain (RFC 1123).
pub(super) fn subdomain(text: &str) -> Problems {
    broken([(text.len() > 253, SUBDOMAIN_LENGTH), (!text.split('.').all(is_label_shape), SUBDOMAIN)])
}

/// The characters of names in labels: letters, digits, `-`, `_`, `.`, with letters or digits at both ends.
fn is_name_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// The key of a label: `name` or `prefix/name`. An empty name breaks two rules.
pub(super) fn label_key(text: &str) -> Problems {
    let mut problems = Vec::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, rest)) if rest.contains('/') => return vec!["has more than one `/`"],
        Some(("", name)) => {
            problems.push("has an empty prefix before the `/`");
            name
        }
        Some((prefix, name)) => {
            problems.extend(subdomain(prefix));
            name
        }
    };
    problems.extend(broken([
        (name.is_empty(), "has an empty name"),
        (name.len() > 63, "has a name part longer than 63 characters"),
        (!is_name_shape(name), NAME_PART),
    ]));
    problems
}

/// The value of a label; may be empty.
pub(super) fn label_value(text: &str) -> Problems {
    const OTHER: &str = "has other characters than letters, digits, `-`, `_` and `.`, or one of these at an end";
    broken([(text.len() > 63, LABEL_LENGTH), (!text.is_empty() && !is_name_shape(text), OTHER)])
}

/// The name of a port (an IANA service name): at most 15 characters, and a letter among them.
pub(super) fn port(text: &str) -> Problems {
    let is_known = |byte: u8| is_lower_alphanumeric(byte) || byte == b'-';
    broken([
        (text.len() > 15, "is longer than 15 characters"),
        (!text.bytes().all(is_known), "has other characters than lower-case letters, digits and `-`"),
        (!text.bytes().any(|byte| byte.is_ascii_lowercase()), "has no letter"),
        (text.contains("--"), "has two hyphens in a row"),
        (text.starts_with('-') || text.ends_with('-'), "begins or ends with a hyphen"),
    ])
}

/// A path with a domain before it, such as `example.com/controller`.
pub(super) fn path_of_domain(text: &str) -> Problems {
    const FORM: &str = "is not a domain-prefixed path such as `example.com/controller`";
    let Some((domain, path)) = text.split_once('/').filter(|(domain, path)| !domain.is_empty() && !path.is_empty())
    else {
        return vec![FORM];
    };
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    let mut problems = subdomain(domain);
    problems.extend(broken([(!path.bytes().all(is_known), FORM)]));
    problems
}

/// A name that can be a part of a URL's path.
pub(super) fn path_segment(text: &str) -> Problems {
    broken([
        (text == ".", "may not be `.`"),
        (text == "..", "may not be `..`"),
        (text.contains('/'), "may not contain `/`"),
        (text.contains('%'), "may not contain `%`"),
    ])
}

/// A driver name, also the domain of an attribute.
pub(super) fn driver(out: &mut Report<'_>, node: &Node<'_, '_>) {
    driver_text(out, node.text(), &node.at);
}

fn driver_text(out: &mut Report<'_>, name: &str, at: &dyn std::fmt::Display) {
    if name.is_empty() {
        out.required(at, "a driver name is needed");
        return;
    }
    if name.len() > LONGEST_DRIVER {
        out.too_long(at, name.len(), LONGEST_DRIVER);
    }
    let problems = subdomain(&name.to_ascii_lowercase());
    out.invalid_each(at, name, &problems);
}

/// A pool name: DNS subdomains separated by slashes.
pub(super) fn pool(out: &mut Report<'_>, node: &Node<'_, '_>) {
    let name = node.text();
    if name.is_empty() {
        out.required(node.at, "a pool name is needed");
        return;
    }
    if name.len() > LONGEST_POOL {
        out.too_long(node.at, name.len(), LONGEST_POOL);
    }
    for part in name.split('/') {
        out.invalid_each(node.at, name, &subdomain(part));
    }
}

/// A name of an attribute or capacity: `id` or `domain/id`. With two or more slashes it is accepted unchecked up to
/// Kubernetes 1.36.
pub(super) fn qualified(out: &mut Report<'_>, name: &str, at: &dyn std::fmt::Display) {
    match name.split_once('/') {
        None => identifier(out, name, at),
        Some((_, rest)) if rest.contains('/') => {}
        Some((domain, id)) => {
            if domain.is_empty() {
                out.invalid(at, format!("`{}` has an empty domain before the `/`", shown(name)));
            } else {
                driver_text(out, domain, at);
            }
            if id.is_empty() {
                out.invalid(at, format!("`{}` has an empty name after the `/`", shown(name)));
            } else {
                identifier(out, id, at);
            }
        }
    }
}

/// A [`qualified`] name with its domain.
pub(super) fn fully_qualified(out: &mut Report<'_>, node: &Node<'_, '_>) {
    let name = node.text();
    qualified(out, name, &node.at);
    if !name.contains('/') {
        out.invalid(node.at, format!("`{}` has no domain", shown(name)));
        match STANDARD.contains(&name) {
            true => out.hint(format!("write `{STANDARD_DOMAIN}/{name}`")),
            false => out.hint("write the domain of the driver, a slash, and the name of the attribute"),
        }
    }
}

fn identifier(out: &mut Report<'_>, id: &str, at: &dyn std::fmt::Display) {
    if id.len() > LONGEST_IDENTIFIER {
        out.too_long(at, id.len(), LONGEST_IDENTIFIER);
    }
    let mut bytes = id.bytes();
    let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !starts || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        out.invalid_each(at, id, &["is not a C identifier: letters, digits and `_`, not starting with a digit"]);
    }
}

/// A UUID in the form with four dashes and lower-case digits.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}

/// A semantic version 2.0.0.
pub(super) fn is_semver(text: &str) -> bool {
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, pre) = match rest.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (rest, None),
    };
    let is_number = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
    };
    let is_id = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && pre.is_none_or(|pre| {
            pre.split('.').all(|id| is_id(id) && (is_number(id) || !id.bytes().all(|byte| byte.is_ascii_digit())))
        })
        && build.is_none_or(|build| build.split('.').all(is_id))
}

/// An extended resource name: with a domain that is not `kubernetes.io`.
pub(super) fn is_extended_resource(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && label_key(&format!("requests.{name}")).is_empty()
}

/// A resource of a node that Kubernetes itself knows.
pub(crate) fn is_native_resource(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// An address of a network interface: an IP address with a prefix length, both in canonical form.
pub(super) fn is_interface_address(text: &str) -> bool {
    let Some((address, prefix)) = text.split_once('/') else { return false };
    let is_plain = |longest: u32| {
        (prefix == "0" || !prefix.starts_with('0'))
            && prefix.bytes().all(|byte| byte.is_ascii_digit())
            && prefix.parse::<u32>().is_ok_and(|bits| bits <= longest)
    };
    if let Ok(v4) = address.parse::<Ipv4Addr>() {
        return v4.to_string() == address && is_plain(32);
    }
    match address.parse::<Ipv6Addr>() {
        Ok(v6) => v6.to_ipv4_mapped().is_none() && v6.to_string() == address && is_plain(128),
        Err(_) => false,
    }
}
