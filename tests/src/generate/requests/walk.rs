//! Every field of an object broken in every way that its schema suggests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::edit::{Edit, escaped};

/// Values of fields by schema and name, taken from all bases: what to put where a field is left out.
pub(super) type Samples = BTreeMap<(String, String), Value>;

/// The schemas of one API version, as the server gives them out.
pub(super) struct Schemas<'d>(pub(super) &'d Value);

impl<'d> Schemas<'d> {
    /// The name of the schema of a kind.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Value> {
        let wanted = json!({ "group": group, "version": version, "kind": kind });
        let all = self.0.pointer("/components/schemas")?.as_object()?;
        let is_it = |schema: &Value| {
            let kinds = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
            kinds.is_some_and(|kinds| kinds.contains(&wanted))
        };
        let (name, _) = all.iter().find(|(_, schema)| is_it(schema))?;
        Some(json!({ "$ref": format!("#/components/schemas/{name}") }))
    }

    /// A schema and its name, references followed.
    fn resolve<'s>(&self, schema: &'s Value) -> (&'s Value, String)
    where
        'd: 's,
    {
        let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref")).and_then(Value::as_str);
        let Some(name) = reference.and_then(|reference| reference.rsplit_once('/')).map(|(_, name)| name) else {
            return (schema, String::new());
        };
        (self.0.pointer(&format!("/components/schemas/{name}")).unwrap_or(&Value::Null), name.to_owned())
    }

    /// The schema of a field, or of a list's entries.
    pub(super) fn step(&self, schema: &Value, step: &str) -> Option<Value> {
        let (schema, _) = self.resolve(schema);
        if step.parse::<usize>().is_ok() { schema.get("items").cloned() } else { property(schema, step).cloned() }
    }

    /// Notes the fields that an object has.
    pub(super) fn sample(&self, schema: &Value, value: &Value, samples: &mut Samples) {
        let (schema, name) = self.resolve(schema);
        match value {
            Value::Object(map) => {
                for (field, value) in map {
                    let Some(inner) = property(schema, field) else { continue };
                    if schema.get("properties").is_some() {
                        samples.entry((name.clone(), field.clone())).or_insert_with(|| value.clone());
                    }
                    self.sample(inner, value, samples);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.sample(schema.get("items").unwrap_or(&Value::Null), item, samples);
                }
            }
            _ => {}
        }
    }
}

fn property<'s>(schema: &'s Value, field: &str) -> Option<&'s Value> {
    schema.get("properties").map_or_else(|| schema.get("additionalProperties"), |all| all.get(field))
}

/// A walk through one object.
pub(super) struct Walk<'w> {
    pub(super) schemas: &'w Schemas<'w>,
    pub(super) samples: &'w Samples,
    /// Whether each field is broken in few ways only.
    pub(super) is_short: bool,
    pub(super) edits: Vec<Edit>,
    /// Schemas that got an unknown field already.
    pub(super) seen: BTreeSet<String>,
}

/// Lengths of lists around the limits of the API.
const LENGTHS: [usize; 8] = [5, 9, 11, 17, 33, 65, 129, 257];

const TEXTS: [&str; 9] = ["", "Not_valid!", "-x", "UPPER", "a/b", "a.example.com/b", "a.example.com/b/c", "1", "..."];

const LONG: [usize; 5] = [33, 64, 129, 257, 1025];

/// Texts for fields that hold more than names.
fn special(field: &str) -> &'static [&'static str] {
    match field {
        "expression" => &[
            "true",
            "1 + 1",
            "device.",
            "dyn(true)",
            "device.unknown == 1",
            "device.attributes['a.example.com'].x.includes('a')",
            "device.allowMultipleAllocations == true",
            "[1, 2, 3].all(a, [1, 2, 3].all(b, device.attributes.all(c, device.attributes.all(d, true))))",
            "semver('1.0.0').isGreaterThan(semver('0.9.0'))",
            "quantity('x').sign() > 0",
        ],
        "driver" => &["A.example.com", "a..b", "a.example.com."],
        "poolName" | "pool" => &["a//b", "/a", "a/B", "a/b/c"],
        "shareID" | "uid" => &["9C1B2A3D-4E5F-4A6B-8C7D-0123456789AB", "9c1b2a3d4e5f4a6b8c7d0123456789ab"],
        "version" | "versions" => &["1.2", "v1.2.3", "1.2.3-beta.1+build", "01.2.3"],
        "ips" => &["10.9.8.0", "10.9.8.1/33", "010.9.8.0/24", "2001:DB8::1/64", "::ffff:1.2.3.4/120"],
        "key" => &["example.com/Key", "Example.com/key", "key/"],
        "deviceClassName" | "resourceClaimName" | "workloadName" => &["a.b", "a_b"],
        "request" | "requests" => &["gpu", "gpu/none", "gpu/a/b", "none", "nic", "any", "any/large"],
        "operator" => &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Equal", "exists"],
        "effect" => &["NoSchedule", "NoExecute", "None", "PreferNoSchedule"],
        "source" => &["FromClass", "FromClaim"],
        "allocationMode" => &["All", "ExactCount", "all"],
        "extendedResourceName" => &["cpu", "kubernetes.io/x", "requests.example.com/x", "example.com/gpu2"],
        "disruptionMode" => &["Pod", "PodGroup"],
        "preemptionPolicy" => &["PreemptLowerPriority", "Never"],
        "status" => &["True", "False", "Unknown", "true"],
        "skipNodeOperations" => &["*", "NodePrepareResources"],
        _ => &[],
    }
}

impl Walk<'_> {
    fn set(&mut self, at: &str, value: impl Into<Value>) {
        self.edits.push(Edit::Set(at.to_owned(), value.into()));
    }

    /// Breaks a value, and what is in it.
    pub(super) fn value(&mut self, schema: &Value, value: &Value, at: &str) {
        let field = field_of(at);
        let (schema, name) = self.schemas.resolve(schema);
        if !self.is_short {
            self.set(at, Value::Null);
        }
        if name.ends_with("Quantity") {
            let all = ["", "1x", "-1", "0", "1500m", "1e40", "123456789123456789123", "5", "41Gi", "1Gi"];
            let all = all.into_iter().map(Value::from).chain([json!(7), json!(true), json!({})]);
            let most = if self.is_short { 3 } else { 20 };
            all.take(most).for_each(|value| self.set(at, value));
        } else if name.ends_with(".Time") {
            for text in ["2026-02-02T00:00:00Z", "2026-01-01", "", "2026-01-01T00:00:00.5+01:00"] {
                self.set(at, text);
            }
        } else if let Value::Object(map) = value {
            self.object(schema, &name, map, at);
        } else if let Value::Array(items) = value {
            self.list(schema, items, at);
        } else if value.is_string() {
            self.text(schema, field, at);
        } else if let Some(number) = value.as_i64() {
            let all = [json!(number.saturating_add(1)), json!(-1), json!(0), json!(1), json!(1001), json!(i64::MAX)];
            let all = all.into_iter().chain([json!(1_i64 << 31), json!(1.5), json!("1"), json!(1_000_000_001)]);
            let most = if self.is_short { 3 } else { 20 };
            all.take(most).for_each(|value| self.set(at, value));
        } else if let Some(flag) = value.as_bool() {
            self.set(at, !flag);
            self.set(at, "true");
        }
    }

    fn text(&mut self, schema: &Value, field: &str, at: &str) {
        let known = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let texts: Vec<&str> = special(field).iter().copied().chain(known).collect();
        if self.is_short {
            TEXTS.iter().take(2).chain(&["changed"]).for_each(|text| self.set(at, *text));
            texts.into_iter().take(2).for_each(|text| self.set(at, text));
            return;
        }
        TEXTS.iter().copied().chain(texts).for_each(|text| self.set(at, text));
        self.set(at, 7);
        let long: &[usize] = match field {
            "expression" => &[10241],
            "message" => &[32769],
            _ => &LONG,
        };
        for length in long {
            self.edits.push(Edit::Text(at.to_owned(), "a".to_owned(), *length));
        }
        self.edits.push(Edit::Text(at.to_owned(), "a.".to_owned(), 32));
    }

    fn object(&mut self, schema: &Value, name: &str, map: &serde_json::Map<String, Value>, at: &str) {
        self.set(at, json!({}));
        if !self.is_short {
            self.set(at, "x");
            self.set(at, json!([]));
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            if let Some(inner) = schema.get("additionalProperties") {
                self.map(inner, map, at);
            } else if field_of(at) == "parameters" || field_of(at) == "data" {
                self.set(at, json!([1]));
                self.set(at, 7);
                self.edits.push(Edit::Text(format!("{at}/a"), "b".to_owned(), 10_300));
            }
            return;
        };
        for (field, inner) in properties {
            let at = format!("{at}/{}", escaped(field));
            match map.get(field) {
                Some(value) => {
                    self.edits.push(Edit::Remove(at.clone()));
                    self.value(inner, value, &at);
                }
                None => {
                    let sample = self.samples.get(&(name.to_owned(), field.clone())).cloned();
                    let value = sample.unwrap_or_else(|| self.smallest(inner));
                    self.set(&at, value.clone());
                    if !self.is_short && !name.ends_with("ObjectMeta") {
                        self.set(&at, self.empty(inner));
                        if value.is_string() {
                            self.set(&at, "Not_valid!");
                        }
                    }
                }
            }
        }
        if self.seen.insert(name.to_owned()) {
            self.set(&format!("{at}/unknownField"), 1);
        }
    }

    fn map(&mut self, inner: &Value, map: &serde_json::Map<String, Value>, at: &str) {
        for entries in [32, 33, 49] {
            self.edits.push(Edit::Entries(at.to_owned(), entries));
        }
        let first = map.values().next().cloned().unwrap_or_default();
        let long = ["a".repeat(33), "a".repeat(64), format!("{}b", "a.".repeat(32))];
        let keys = ["", "Bad Key", "a/b", "a.example.com/b", "a.example.com/b/c", "A.b/c", "/x", "x/", "Upper", "1a"];
        let keys = keys.into_iter().chain(long.iter().map(String::as_str));
        for key in keys.take(if self.is_short { 4 } else { 99 }) {
            self.set(&format!("{at}/{}", escaped(key)), first.clone());
        }
        for (key, value) in map {
            let at = format!("{at}/{}", escaped(key));
            self.edits.push(Edit::Remove(at.clone()));
            self.value(inner, value, &at);
        }
    }

    fn list(&mut self, schema: &Value, items: &[Value], at: &str) {
        self.set(at, json!([]));
        self.edits.push(Edit::Again(at.to_owned()));
        let lengths = if self.is_short { &LENGTHS[..2] } else { &LENGTHS[..] };
        let more: &[usize] = if field_of(at) == "pools" { &[1000, 1001] } else { &[] };
        for length in lengths.iter().chain(more) {
            self.edits.push(Edit::Times(at.to_owned(), *length));
        }
        if !self.is_short {
            self.set(at, "x");
            self.set(at, json!({}));
            self.set(&format!("{at}/-"), Value::Null);
        }
        if items.len() > 1 {
            let reversed: Vec<Value> = items.iter().rev().cloned().collect();
            self.set(at, reversed);
        }
        let inner = schema.get("items").unwrap_or(&Value::Null);
        for (index, item) in items.iter().enumerate() {
            let keys = |item: &Value| item.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
            self.edits.push(Edit::Remove(format!("{at}/{index}")));
            if index == 0 || items.first().map(keys) != Some(keys(item)) {
                self.value(inner, item, &format!("{at}/{index}"));
            }
        }
    }

    /// A value of a type that says as little as possible.
    fn smallest(&self, schema: &Value) -> Value {
        let (schema, name) = self.schemas.resolve(schema);
        match schema.get("type").and_then(Value::as_str) {
            _ if name.ends_with("Quantity") => json!("1"),
            _ if name.ends_with(".Time") => json!("2026-01-01T00:00:00Z"),
            Some("string") => json!("x"),
            Some("integer") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([self.smallest(schema.get("items").unwrap_or(&Value::Null))]),
            _ => json!({}),
        }
    }

    /// The value of a type that stands for none.
    fn empty(&self, schema: &Value) -> Value {
        let (schema, name) = self.schemas.resolve(schema);
        match schema.get("type").and_then(Value::as_str) {
            _ if name.ends_with("Quantity") => json!("0"),
            Some("string") => json!(""),
            Some("integer") => json!(0),
            Some("boolean") => json!(false),
            Some("array") => json!([]),
            _ => json!({}),
        }
    }
}

/// The field that a place is in; for an entry of a list, that of the list.
fn field_of(at: &str) -> &str {
    let mut steps = at.rsplit('/');
    let last = steps.next().unwrap_or_default();
    if last.parse::<usize>().is_ok() { steps.next().unwrap_or_default() } else { last }
}
