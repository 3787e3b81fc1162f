//! An object of a set, as a caller has it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json_borrow::Value as Json;

use super::json::text;
use crate::validate::claim::length;
use crate::validate::pipeline::too_large;

/// An object of a set: a value, or its JSON as text, which is read only where it is looked at.
pub trait Member {
    /// Its kind; empty where it has none.
    fn kind(&self) -> Cow<'_, str>;

    /// The object; null where it is none, or larger than the API server takes: such a one refers to nothing.
    fn object(&self) -> Json<'_>;
}

impl Member for Value {
    fn kind(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.get("kind").and_then(Self::as_str).unwrap_or_default())
    }

    fn object(&self) -> Json<'_> {
        match too_large(length(self)) {
            Some(_) => Json::Null,
            None => Json::deserialize(self).unwrap_or_default(),
        }
    }
}

impl Member for String {
    fn kind(&self) -> Cow<'_, str> {
        #[derive(Deserialize)]
        struct Head<'t> {
            #[serde(borrow)]
            kind: Cow<'t, str>,
        }
        match serde_json::from_str::<Head<'_>>(self) {
            Ok(head) => head.kind,
            // It may be an object nevertheless, with its kind written twice.
            Err(_) => Cow::Owned(text(&self.object(), "kind").to_owned()),
        }
    }

    fn object(&self) -> Json<'_> {
        match too_large(self.len()) {
            Some(_) => Json::Null,
            None => serde_json::from_str(self).unwrap_or_default(),
        }
    }
}
