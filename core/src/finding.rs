//! Problems in the input, as data.

use std::fmt;

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The object or question cannot be used as it is.
    Error,
    /// It can be used, but not as its author is likely to think.
    Warning,
    /// Worth knowing.
    Info,
}

/// Which object a finding is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
pub struct ObjectRef {
    /// Kind, for instance `ResourceClaim`; empty when unknown.
    pub kind: String,
    /// Namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// A problem in the input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// What kind of problem; published, never renamed or reused.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// The object it is about, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    /// Field path in the API server's notation, for instance `spec.devices.requests[0].exactly.count`; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What is wrong: one line, lower case, no full stop, the user's words in backticks.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// A finding of the code's usual severity, without object and hint.
    pub fn new(code: Code, path: impl fmt::Display, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            object: None,
            path: path.to_string(),
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a way out.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same about one object.
    #[must_use]
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.object = Some(object);
        self
    }
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $severity:ident, $paragraph:literal;)*) => {
        /// The published code of a finding.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = $paragraph] $variant,)*
        }

        impl Code {
            /// All codes, in the order of this table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as printed, for instance `read/unknown-field`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The severity that a finding of this code has unless the place says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What the code means and what to do, in a paragraph.
            pub const fn paragraph(self) -> &'static str {
                match self { $(Self::$variant => $paragraph,)* }
            }
        }
    };
}

codes! {
    ReadUnknownField = "read/unknown-field", Warning,
        "A field that this kind does not have. The API server drops it (kubectl refuses it), so it has no effect. Often a typo or a wrong indentation.";
    ReadWrongType = "read/wrong-type", Error,
        "A value of a type that the field cannot hold, for instance text where a number is needed. The API server refuses the object.";
    ReadBadQuantity = "read/bad-quantity", Error,
        "A text that is not a Kubernetes quantity such as `40Gi`, `500m` or `1e3`.";
    ReadBadJson = "read/bad-json", Error,
        "The text is not JSON.";
    ReadUnknownKind = "read/unknown-kind", Info,
        "A kind that plays no part in resource allocation, or that is not known here. The object is left aside.";
    ReadUnknownVersion = "read/unknown-version", Warning,
        "An API version of a known kind that no supported Kubernetes serves. The object is read as the nearest known version.";
    ReadNoKind = "read/no-kind", Error,
        "A document without `apiVersion` and `kind` is no Kubernetes object.";
    ReadNoName = "read/no-name", Error,
        "An object needs `metadata.name` (or `metadata.generateName` when it is created).";
    ReadUnknownValue = "read/unknown-value", Warning,
        "A value outside the closed set that the field allows. A newer Kubernetes may know it; this one does not.";
    ReadTooDeep = "read/too-deep", Error,
        "The document nests deeper than the limit and was not read further.";
    ReadBadSettings = "read/bad-settings", Error,
        "A setting (version, feature gate, mode, limit) or a question has an unknown name or a value of the wrong type.";
    Internal = "internal/bug", Error,
        "Apportion contradicted itself. Please report it with the input.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}
