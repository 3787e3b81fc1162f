//! Semantic versions as strictly as the reference reads them.

use std::cmp::Ordering;
use std::fmt;

/// A version. Build metadata is read and has no influence on order and equality.
#[derive(Clone, Debug)]
pub(super) struct Semver {
    pub(super) numbers: [u64; 3],
    pre_release: Box<str>,
    build: Box<str>,
}

const NAMES: [&str; 3] = ["Major", "Minor", "Patch"];

impl Semver {
    /// # Errors
    ///
    /// The reference's message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let mut numbers = [0; 3];
        let (core, build) = match rest.split_once('+') {
            Some((core, build)) => (core, Some(build)),
            None => (rest, None),
        };
        let (patch, pre_release) = match core.split_once('-') {
            Some((patch, pre_release)) => (patch, Some(pre_release)),
            None => (core, None),
        };
        for ((number, text), name) in numbers.iter_mut().zip([major, minor, patch]).zip(NAMES) {
            *number = parse_number(text, name)?;
        }
        for id in pre_release.into_iter().flat_map(|text| text.split('.')) {
            check_pre_release(id)?;
        }
        for id in build.into_iter().flat_map(|text| text.split('.')) {
            if id.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !id.bytes().all(is_id_byte) {
                return Err(format!("Invalid character(s) found in build meta data \"{id}\""));
            }
        }
        Ok(Self {
            numbers,
            pre_release: pre_release.unwrap_or_default().into(),
            build: build.unwrap_or_default().into(),
        })
    }

    /// Accepts `v1`, `1.2` and leading zeros too.
    ///
    /// # Errors
    ///
    /// The reference's message.
    pub(super) fn parse_normalized(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(strip_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Self::parse(&parts.join("."))
    }
}

/// Without leading zeros, but with one where no other digit follows.
fn strip_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let stripped = part.trim_start_matches('0');
    let starts_with_digit = stripped.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    if starts_with_digit { stripped.to_owned() } else { format!("0{stripped}") }
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn parse_number(text: &str, name: &str) -> Result<u64, String> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {} number \"{text}\"", name.to_lowercase()));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{name} number must not contain leading zeroes \"{text}\""));
    }
    text.parse().map_err(|_| {
        let reason = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing \"{text}\": {reason}")
    })
}

fn check_pre_release(id: &str) -> Result<(), String> {
    if id.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if id.bytes().all(|byte| byte.is_ascii_digit()) {
        if id.len() > 1 && id.starts_with('0') {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes \"{id}\""));
        }
        return id
            .parse::<u64>()
            .map(|_| ())
            .map_err(|_| format!("strconv.ParseUint: parsing \"{id}\": value out of range"));
    }
    if id.bytes().all(is_id_byte) { Ok(()) } else { Err(format!("Invalid character(s) found in prerelease \"{id}\"")) }
}

impl PartialEq for Semver {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Semver {}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Semver {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => compare_ids(&self.pre_release, &other.pre_release),
            }
        })
    }
}

fn compare_ids(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

impl fmt::Display for Semver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.pre_release.is_empty() {
            write!(f, "-{}", self.pre_release)?;
        }
        if !self.build.is_empty() {
            write!(f, "+{}", self.build)?;
        }
        Ok(())
    }
}
