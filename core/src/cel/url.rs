//! URLs as Go's `net/url` takes them apart.

use std::collections::BTreeMap;
use std::fmt;

/// A parsed URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Url {
    scheme: String,
    /// What follows the scheme where no slash does.
    opaque: String,
    /// With escapes resolved.
    user: Option<String>,
    host: String,
    /// As written.
    path: String,
    query: Option<String>,
    fragment: String,
}

impl Url {
    /// # Errors
    ///
    /// The reference's message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let explain = |why: String| format!("parse \"{text}\": {why}");
        parse(text, true).map_err(explain)?;
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parse(rest, false).map_err(explain)?;
        fragment.clone_into(&mut url.fragment);
        unescape(fragment).map_err(explain)?;
        Ok(url)
    }

    /// Whether the text is an absolute URI or an absolute path.
    pub(super) fn is_request_uri(text: &str) -> bool {
        parse(text, true).is_ok()
    }

    pub(super) fn scheme(&self) -> &str {
        &self.scheme
    }

    /// With the port, if there is one.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Without port and without brackets.
    pub(super) fn hostname(&self) -> &str {
        let (name, _) = split_port(&self.host);
        name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
    }

    pub(super) fn port(&self) -> &str {
        split_port(&self.host).1
    }

    pub(super) fn escaped_path(&self) -> String {
        if self.path == "*" || is_valid_path(&self.path) { self.path.clone() } else { escape_path(&self.path) }
    }

    /// Values by key, in the order they stand. Pairs that cannot be read are left out.
    pub(super) fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.as_deref().unwrap_or_default().split('&') {
            if pair.is_empty() || pair.contains(';') {
                continue;
            }
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let read = |text: &str| unescape(&text.replace('+', " "));
            if let (Ok(key), Ok(value)) = (read(key), read(value)) {
                values.entry(key).or_default().push(value);
            }
        }
        values
    }
}

fn split_port(host: &str) -> (&str, &str) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    }
}

fn parse(text: &str, is_request: bool) -> Result<Url, String> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && is_request {
        return Err("empty url".to_owned());
    }
    let mut url = Url {
        scheme: String::new(),
        opaque: String::new(),
        user: None,
        host: String::new(),
        path: String::new(),
        query: None,
        fragment: String::new(),
    };
    if text == "*" {
        url.path = text.to_owned();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query.to_owned())),
        None => (rest, None),
    };
    url.query = query;
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            url.opaque = rest.to_owned();
            return Ok(url);
        }
        if is_request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|first| first.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let has_authority = !scheme.is_empty() || (!is_request && !rest.starts_with("///"));
    let path = match rest.strip_prefix("//").filter(|_| has_authority) {
        Some(authority) => {
            let (authority, path) =
                authority.find('/').and_then(|slash| authority.split_at_checked(slash)).unwrap_or((authority, ""));
            let (user, host) = match authority.rsplit_once('@') {
                Some((user, host)) => (Some(user), host),
                None => (None, authority),
            };
            url.host = parse_host(host)?;
            url.user = user.map(parse_user).transpose()?;
            path
        }
        None => rest,
    };
    unescape(path)?;
    url.path = path.to_owned();
    Ok(url)
}

fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if position > 0 => {}
            b':' if position == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok(text.split_once(':').unwrap_or(("", text))),
            _ => break,
        }
    }
    Ok(("", text))
}

fn parse_user(user: &str) -> Result<String, String> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if user.chars().all(is_valid) { unescape(user) } else { Err("net/url: invalid userinfo".to_owned()) }
}

fn parse_host(host: &str) -> Result<String, String> {
    if host.starts_with('[') {
        let Some((address, port)) = host.rsplit_once(']') else {
            return Err("missing ']' in host".to_owned());
        };
        check_port(port)?;
        let address = unescape(address)?;
        return Ok(format!("{address}]{port}"));
    }
    if let Some(colon) = host.rfind(':') {
        check_port(host.get(colon..).unwrap_or_default())?;
    }
    let is_valid = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    if let Some(bad) = host.chars().find(|c| !is_valid(*c)) {
        return Err(format!("invalid character \"{bad}\" in host name"));
    }
    // In host names only bytes beyond ASCII may be escaped.
    let mut rest = host;
    while let Some((_, after)) = rest.split_once('%') {
        let code = after.get(..2).unwrap_or(after);
        if !u8::from_str_radix(code, 16).is_ok_and(|byte| byte >= 0x80 || code == "25") {
            return Err(format!("invalid URL escape \"%{code}\""));
        }
        rest = after;
    }
    unescape(host)
}

fn check_port(text: &str) -> Result<(), String> {
    let is_valid =
        text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    if is_valid { Ok(()) } else { Err(format!("invalid port \"{text}\" after host")) }
}

/// The text with `%41` resolved.
fn unescape(text: &str) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&unescape_bytes(text)?).into_owned())
}

fn unescape_bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let code = after.get(..2).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) else {
            let shown: String = after.chars().take(2).collect();
            return Err(format!("invalid URL escape \"%{shown}\""));
        };
        bytes.push(byte);
        rest = after.get(2..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

/// Whether the path is written as an encoder may write it.
fn is_valid_path(path: &str) -> bool {
    path.bytes().all(|byte| is_unreserved(byte) || b"!$&'()*+,;=:@[]/%".contains(&byte))
}

fn escape_path(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in unescape_bytes(path).unwrap_or_default() {
        if is_unreserved(byte) || b"$&+,/:;=@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            if !self.host.is_empty() || self.user.is_some() {
                f.write_str("//")?;
            }
            if let Some(user) = &self.user {
                write!(f, "{user}@")?;
            }
            write!(f, "{}{}", self.host, self.escaped_path())?;
        } else {
            f.write_str(&self.opaque)?;
        }
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.fragment)?;
        }
        Ok(())
    }
}
