//! Requests to the API server, with objects as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use hyper::Request;
use kube::{Client, Error};
use serde_json::{Value, json};
use tokio::runtime::Handle;

/// A request that the server did not carry out.
#[derive(Debug)]
pub(crate) struct Refused {
    /// HTTP status; 0 where there was no answer.
    pub(crate) code: u16,
    pub(crate) message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

pub(crate) type Answer<T = Value> = Result<T, Refused>;

/// Whoever asks.
pub(crate) struct Requests {
    client: Client,
    runtime: Handle,
    /// Kinds by API version and name: the name in paths, and whether their objects have a namespace.
    kinds: Mutex<BTreeMap<(String, String), (String, bool)>>,
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

impl Requests {
    pub(crate) fn new(client: Client, runtime: Handle) -> Self {
        Self { client, runtime, kinds: Mutex::default() }
    }

    fn send(&self, method: &str, path: &str, body: Option<(&str, &Value)>) -> Answer<String> {
        let request = Request::builder().method(method).uri(path);
        let request = match body {
            Some((kind, body)) => request.header("content-type", kind).body(body.to_string().into_bytes()),
            None => request.body(Vec::new()),
        };
        self.runtime.block_on(self.client.request_text(request.unwrap())).map_err(|error| match error {
            Error::Api(status) => Refused { code: status.code, message: status.message },
            error => Refused { code: 0, message: error.to_string() },
        })
    }

    fn ask(&self, method: &str, path: &str, body: Option<(&str, &Value)>) -> Answer {
        Ok(serde_json::from_str(&self.send(method, path, body)?).unwrap())
    }

    /// What a path gives.
    pub(crate) fn text(&self, path: &str) -> Answer<String> {
        self.send("GET", path, None)
    }

    fn folder(api_version: &str) -> String {
        match api_version.contains('/') {
            true => format!("/apis/{api_version}"),
            false => format!("/api/{api_version}"),
        }
    }

    /// The name of a kind in paths, and whether its objects have a namespace.
    fn kind(&self, api_version: &str, kind: &str) -> Answer<(String, bool)> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(known) = self.kinds.lock().unwrap().get(&key) {
            return Ok(known.clone());
        }
        let served = self.ask("GET", &Self::folder(api_version), None)?;
        let fits = |one: &&Value| one["kind"] == *kind && !text(one, "/name").contains('/');
        let Some(found) = served["resources"].as_array().unwrap().iter().find(fits) else {
            return Err(Refused { code: 404, message: format!("{kind} is not served") });
        };
        let found = (text(found, "/name").to_owned(), found["namespaced"] == true);
        self.kinds.lock().unwrap().insert(key, found.clone());
        Ok(found)
    }

    /// The path of the list that an object is in.
    fn list_path(&self, object: &Value) -> Answer<String> {
        let (plural, is_namespaced) = self.kind(text(object, "/apiVersion"), text(object, "/kind"))?;
        let folder = Self::folder(text(object, "/apiVersion"));
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("default");
        Ok(match is_namespaced {
            true => format!("{folder}/namespaces/{namespace}/{plural}"),
            false => format!("{folder}/{plural}"),
        })
    }

    fn path(&self, object: &Value) -> Answer<String> {
        Ok(format!("{}/{}", self.list_path(object)?, text(object, "/metadata/name")))
    }

    /// Applies an object; no field of it may be unknown. `query` is added to the path.
    pub(crate) fn try_apply(&self, object: &Value, query: &str) -> Answer {
        let path = format!("{}?fieldManager=test&force=true&fieldValidation=Strict{query}", self.path(object)?);
        self.ask("PATCH", &path, Some(("application/apply-patch+yaml", object)))
    }

    pub(crate) fn apply(&self, object: &Value) -> Value {
        self.try_apply(object, "").unwrap_or_else(|refused| panic!("{refused}: {object}"))
    }

    /// Creates an object. `query` is the path's.
    pub(crate) fn try_create(&self, object: &Value, query: &str) -> Answer {
        let path = format!("{}{query}", self.list_path(object)?);
        self.ask("POST", &path, Some(("application/json", object)))
    }

    pub(crate) fn create(&self, object: &Value) -> Value {
        self.try_create(object, "").unwrap_or_else(|refused| panic!("{refused}: {object}"))
    }

    /// Merges fields into the status of an object.
    pub(crate) fn set_status(&self, object: &Value, status: Value) {
        let path = format!("{}/status", self.path(object).unwrap());
        let body = json!({ "status": status });
        self.ask("PATCH", &path, Some(("application/merge-patch+json", &body))).unwrap();
    }

    /// Merges fields into an object.
    pub(crate) fn merge(&self, object: &Value, fields: &Value) {
        let path = self.path(object).unwrap();
        self.ask("PATCH", &path, Some(("application/merge-patch+json", fields))).unwrap();
    }

    /// The path of an object, or of a subresource of it.
    fn part_path(&self, object: &Value, subresource: &str) -> Answer<String> {
        let path = self.path(object)?;
        Ok(if subresource.is_empty() { path } else { format!("{path}/{subresource}") })
    }

    /// Merges fields into an object or a subresource of it.
    pub(crate) fn try_merge(&self, object: &Value, subresource: &str, fields: &Value) -> Answer {
        let path = self.part_path(object, subresource)?;
        self.ask("PATCH", &path, Some(("application/merge-patch+json", fields)))
    }

    /// Replaces an object or a subresource of it.
    pub(crate) fn try_replace(&self, object: &Value, subresource: &str) -> Answer {
        let path = self.part_path(object, subresource)?;
        self.ask("PUT", &path, Some(("application/json", object)))
    }

    /// Deletes an object, which has so many seconds to end.
    pub(crate) fn try_delete_within(&self, object: &Value, seconds: Option<i64>) -> Answer {
        let mut options = json!({ "propagationPolicy": "Background" });
        if let Some(seconds) = seconds {
            options["gracePeriodSeconds"] = json!(seconds);
        }
        self.ask("DELETE", &self.path(object)?, Some(("application/json", &options)))
    }

    /// Deletes an object, a Pod at once.
    pub(crate) fn try_delete(&self, object: &Value) -> Answer {
        self.try_delete_within(object, (object["kind"] == "Pod").then_some(0))
    }

    pub(crate) fn delete(&self, object: &Value) {
        self.try_delete(object).unwrap_or_else(|refused| panic!("{refused}: {object}"));
    }

    /// Deletes all objects of a kind in a namespace.
    pub(crate) fn delete_all(&self, api_version: &str, kind: &str, namespace: &str) {
        let (plural, _) = self.kind(api_version, kind).unwrap();
        let path = format!("{}/namespaces/{namespace}/{plural}?gracePeriodSeconds=0", Self::folder(api_version));
        self.ask("DELETE", &path, None).unwrap();
    }

    /// Whether a namespace has Pods without a node.
    pub(crate) fn has_unplaced(&self, namespace: &str) -> bool {
        self.has_pod(namespace, "spec.nodeName%3D")
    }

    /// Whether a namespace has Pods with a node.
    pub(crate) fn has_placed(&self, namespace: &str) -> bool {
        self.has_pod(namespace, "spec.nodeName!%3D")
    }

    fn has_pod(&self, namespace: &str, selector: &str) -> bool {
        // One is enough to know: a list of all of them would be what is measured.
        let path = format!("/api/v1/namespaces/{namespace}/pods?limit=1&fieldSelector={selector}");
        !self.ask("GET", &path, None).unwrap()["items"].as_array().unwrap().is_empty()
    }

    pub(crate) fn get(&self, object: &Value) -> Option<Value> {
        match self.ask("GET", &self.path(object).unwrap(), None) {
            Ok(found) => Some(found),
            Err(refused) if refused.code == 404 => None,
            Err(refused) => panic!("{refused}"),
        }
    }

    /// All objects of a kind, of all namespaces.
    pub(crate) fn list(&self, api_version: &str, kind: &str) -> Vec<Value> {
        let (plural, _) = self.kind(api_version, kind).unwrap();
        let mut listed = self.ask("GET", &format!("{}/{plural}", Self::folder(api_version)), None).unwrap();
        let mut items = listed["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        for item in &mut items {
            (item["apiVersion"], item["kind"]) = (json!(api_version), json!(kind));
        }
        items
    }

    /// How many writes of objects of a kind the server has taken, whether they changed anything or not.
    pub(crate) fn writes(&self, plural: &str) -> u64 {
        let metrics = self.text("/metrics").unwrap();
        let resource = format!("resource=\"{plural}\"");
        let is_write = |line: &&str| {
            let verbs = ["APPLY", "DELETE", "PATCH", "POST", "PUT"];
            line.starts_with("apiserver_request_total{")
                && line.contains(&resource)
                && verbs.iter().any(|verb| line.contains(&format!("verb=\"{verb}\"")))
        };
        let count = |line: &str| line.rsplit(' ').next().and_then(|count| count.parse::<f64>().ok()).unwrap_or(0.0);
        metrics.lines().filter(is_write).map(count).sum::<f64>() as u64
    }
}

/// All documents of a text of manifests.
pub(crate) fn documents(manifests: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let problems = apportion_yaml::read_each(manifests.as_bytes(), &apportion_yaml::Limits::default(), |document| {
        all.push(document.value);
    });
    assert!(problems.is_empty(), "{problems:?}");
    all.retain(|document| !document.is_null());
    all
}
