//! Requests from outside: what `validate` refuses is refused, in the API server's form, and what it drops is dropped.

use serde_json::Value;

use super::apply::{apply_as_user, remembered};
use super::item::Item;
use super::request::{kind, with_what_stays};
use super::{Happened, Refused, Server, merge};
use crate::decision::Time;
use crate::finding::{Code, ErrorKind, Finding, ObjectRef, value_at};
use crate::validate::{self, Circumstances, Operation, Submission};

impl Server {
    /// Creates an object that a user sends. It goes through all of validation, and to namespace `default` where it names none.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the name is taken or the object breaks a rule.
    pub fn submit(&mut self, object: Value, now: Time) -> Result<ObjectRef, Refused> {
        let sent = validate::in_default_namespace(object);
        match self.judge(sent.clone(), None, Operation::Create) {
            Ok(object) => self.create_item(Item::read(object), now),
            Err(refused) => {
                let item = Item::read(sent);
                self.remember(Happened::Refused, &item.key(), &item, now);
                Err(refused)
            }
        }
    }

    /// Replaces an object, or its status, as a user sends it.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no such object, it has changed since, or the new one breaks a rule.
    pub fn submit_update(&mut self, object: Value, status: bool, now: Time) -> Result<(), Refused> {
        let item = Item::read(object);
        let key = item.key();
        let old = self.current(&key, &item.metadata().uid, &item.metadata().resource_version)?;
        self.change(&key, &old, item, status, now)
    }

    /// Merges fields that a user sends into an object: lists are replaced, `null` removes.
    ///
    /// # Errors
    ///
    /// As [`Server::submit_update`].
    pub fn submit_fields(&mut self, key: &ObjectRef, fields: &Value, status: bool, now: Time) -> Result<(), Refused> {
        let old = self.current(key, "", "")?;
        let mut value = old.write();
        merge::merge(&mut value, fields);
        self.change(key, &old, Item::read(value), status, now)
    }

    /// Creates an object or changes it as `kubectl apply` does.
    ///
    /// # Errors
    ///
    /// As [`Server::submit`] and [`Server::submit_update`].
    pub fn submit_applied(&mut self, object: Value, now: Time) -> Result<(), Refused> {
        let object = remembered(validate::in_default_namespace(object));
        let key = Item::read(object.clone()).key();
        let Ok(old) = self.current(&key, "", "") else { return self.submit(object, now).map(|_| ()) };
        let mut value = old.write();
        apply_as_user(&mut value, &object);
        self.change(&key, &old, Item::read(value), false, now)
    }

    fn change(&mut self, key: &ObjectRef, old: &Item, item: Item, status: bool, now: Time) -> Result<(), Refused> {
        let operation = if status { Operation::StatusUpdate } else { Operation::Update };
        let mut changed = if status {
            let mut changed = old.clone();
            changed.take_status(&item);
            changed
        } else {
            with_what_stays(item, old)
        };
        // A request that names no version means the current one.
        changed.metadata_mut().resource_version.clone_from(&old.metadata().resource_version);
        let object = self.judge(changed.write(), Some(old.write()), operation)?;
        self.store(key, old, Item::read(object), now)
    }

    /// The object as it would be stored.
    fn judge(&self, object: Value, old: Option<Value>, operation: Operation) -> Result<Value, Refused> {
        let item = Item::read(object.clone());
        let namespace = self.cluster.namespaces().get(&item.metadata().namespace);
        let is_admin = namespace.is_some_and(|namespace| validate::allows_admin_access(&namespace.metadata.labels));
        // For new objects `admit` checks the label of the namespace.
        let admin_namespace = (operation == Operation::StatusUpdate).then_some(is_admin);
        let circumstances = Circumstances { admin_namespace, authorized: true };
        // What is stored may be of a version that is served no more.
        let is_known = old.is_some();
        let submission = Submission { object: object.clone(), old, operation, circumstances };
        let admission = validate::submit(submission, self.cluster.profile());
        let refuses = |finding: &&Finding| finding.refuses() && !(is_known && finding.code == Code::ValidateNotServed);
        let refusing: Vec<&Finding> = admission.findings.iter().filter(refuses).collect();
        if refusing.is_empty() { Ok(admission.object) } else { Err(refusal(&item.key(), &object, &refusing)) }
    }
}

/// The API server's answer.
///
/// Source: apimachinery `pkg/api/errors`, `NewInvalid`, `NewBadRequest`, `NewRequestEntityTooLargeError`.
fn refusal(key: &ObjectRef, object: &Value, findings: &[&Finding]) -> Refused {
    let has = |code: Code| findings.iter().any(|finding| finding.code == code);
    let first = findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
    if has(Code::ValidateNotServed) {
        return Refused::not_served();
    }
    if has(Code::ValidateTooLarge) {
        let message = format!("Request entity is too large: {first}");
        return Refused { status: 413, reason: "RequestEntityTooLarge", message };
    }
    let misread = findings.iter().find(|finding| finding.kind == Some(ErrorKind::TypeInvalid));
    if let Some(finding) = misread {
        let kind = kind(key);
        let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let version = version.rsplit('/').next().unwrap_or_default();
        let message = format!(
            "{kind} in version \"{version}\" cannot be handled as a {kind}: {}: {}",
            finding.path, finding.message
        );
        return Refused { status: 400, reason: "BadRequest", message };
    }
    if findings.iter().all(|finding| finding.kind.is_none()) {
        return Refused { status: 400, reason: "BadRequest", message: first };
    }
    let problems: Vec<String> = findings.iter().map(|finding| problem(object, finding)).collect();
    match problems.as_slice() {
        [one] => Refused::invalid(key, one),
        several => Refused::invalid(key, &format!("[{}]", several.join(", "))),
    }
}

/// One error about a field, as the API server writes it.
///
/// Source: apimachinery `pkg/util/validation/field`, `Error.Error`.
fn problem(object: &Value, finding: &Finding) -> String {
    let Finding { path, message, kind, .. } = finding;
    let value = value_at(object, path).unwrap_or(&Value::Null);
    match kind.unwrap_or(ErrorKind::Internal) {
        ErrorKind::Forbidden if path.is_empty() => format!("Forbidden: {message}"),
        ErrorKind::Required => format!("{path}: Required value: {message}"),
        ErrorKind::Invalid | ErrorKind::TypeInvalid => format!("{path}: Invalid value: {value}: {message}"),
        ErrorKind::NotSupported => format!("{path}: Unsupported value: {value}: {message}"),
        ErrorKind::Duplicate => format!("{path}: Duplicate value: {value}"),
        ErrorKind::TooMany => format!("{path}: Too many: {message}"),
        ErrorKind::TooLong => format!("{path}: Too long: {message}"),
        ErrorKind::Forbidden => format!("{path}: Forbidden: {message}"),
        ErrorKind::NotFound => format!("{path}: Not found: {value}"),
        ErrorKind::Internal => format!("{path}: Internal error: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::profile::{Profile, Version};

    fn claim(name: &str, count: i64) -> Value {
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": name, "namespace": "ml" },
            "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu", "count": count } }] } } })
    }

    #[test]
    fn what_validate_refuses_is_refused_with_the_status_of_the_api_server() {
        let mut server = Server::new(Profile::of(Version::V1_36));
        let now = Time::default();
        let refused = server.submit(claim("a", -3), now).unwrap_err();
        assert_eq!((refused.status, refused.reason), (422, "Invalid"));
        let start = "ResourceClaim.resource.k8s.io \"a\" is invalid: spec.devices.requests[0].exactly.count: Invalid value: -3: ";
        assert!(refused.message.starts_with(start), "{}", refused.message);
        let key = server.submit(claim("a", 1), now).unwrap();
        let refused = server.submit_fields(&key, &json!({ "spec": claim("a", 2)["spec"] }), false, now).unwrap_err();
        assert_eq!((refused.status, refused.reason), (422, "Invalid"));
        server.submit_fields(&key, &json!({ "metadata": { "labels": { "a": "b" } } }), false, now).unwrap();
        let wrong = server.submit(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": [] }), now).unwrap_err();
        assert_eq!((wrong.status, wrong.reason), (400, "BadRequest"));
    }

    #[test]
    fn kinds_of_a_gate_that_is_off_are_not_served_and_fields_are_dropped() {
        let mut profile = Profile::of(Version::All);
        profile.features.generic_workload = false;
        profile.features.prioritized_list = true;
        profile.features.device_taints = false;
        let mut server = Server::new(profile);
        let group = json!({ "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
            "metadata": { "name": "g", "namespace": "ml" }, "spec": { "schedulingPolicy": { "basic": {} } } });
        assert_eq!(server.submit(group, Time::default()).unwrap_err().status, 404);
        let mut tolerant = claim("a", 1);
        tolerant["spec"]["devices"]["requests"][0]["exactly"]["tolerations"] = json!([{ "operator": "Exists" }]);
        let key = server.submit(tolerant, Time::default()).unwrap();
        assert_eq!(server.get(&key).unwrap().pointer("/spec/devices/requests/0/exactly/tolerations"), None);
    }
}
