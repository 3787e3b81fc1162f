//! Requests to answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::{StreamExt, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Answered;
use super::store::{Refusal, Request, Store, merged, not_found};

pub(crate) type Body = BoxBody<Bytes, std::io::Error>;

/// What a path names.
struct Target {
    group_version: String,
    plural: String,
    namespace: String,
    name: String,
    subresource: String,
}

fn target(path: &str) -> Option<Target> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (group_version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ((*version).to_owned(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => return None,
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && rest != ["status"] => (*namespace, rest),
        rest => ("", rest),
    };
    let part = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
    Some(Target {
        group_version,
        plural: part(0),
        namespace: namespace.to_owned(),
        name: part(1),
        subresource: part(2),
    })
}

pub(crate) async fn answer(
    store: Arc<Mutex<Store>>,
    changed: watch::Sender<u64>,
    seen: watch::Receiver<u64>,
    request: hyper::Request<impl hyper::body::Body>,
) -> Answered<Body> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let accepts = parts.headers.get("accept").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_bare = accepts.contains("PartialObjectMetadataList");
    let request = Request {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: query(parts.uri.query().unwrap_or_default()),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    let fault = {
        let mut store = store.lock().unwrap();
        store.requests.push(request.clone());
        store.fault(&request)
    };
    match fault {
        None => {}
        Some(0) => return Ok(broken()),
        Some(1) => {
            let _ = act(&store, &request);
            changed.send_modify(|number| *number += 1);
            return Ok(broken());
        }
        Some(429) => return Ok(busy()),
        Some(code) => return Ok(refused(&(code, "Injected", "a fault on purpose".to_owned()))),
    }
    if request.query.get("watch").is_some_and(|watch| watch == "true" || watch == "1") {
        return Ok(watched(store, seen, &request));
    }
    let answer = act(&store, &request);
    if request.method != "GET" {
        changed.send_modify(|number| *number += 1);
    }
    Ok(match answer {
        Ok(mut value) => {
            for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten().filter(|_| is_bare) {
                item.as_object_mut().unwrap().retain(|field, _| field == "metadata");
            }
            whole(StatusCode::OK, &value)
        }
        Err(refusal) => refused(&refusal),
    })
}

fn act(store: &Mutex<Store>, request: &Request) -> Result<Value, Refusal> {
    let mut store = store.lock().unwrap();
    let Some(target) = target(&request.path) else { return Err((404, "NotFound", "no such path".to_owned())) };
    let Target { group_version, plural, namespace, name, subresource } = &target;
    if store.missing.contains(&format!("{group_version}/{plural}").as_str()) {
        return Err((404, "NotFound", "the server could not find the requested resource".to_owned()));
    }
    let resource = if subresource.is_empty() { plural.clone() } else { format!("{plural}/{subresource}") };
    if store.forbidden.contains(&resource.as_str()) {
        let verb = request.method.to_lowercase();
        let who = format!("User \"somebody\" cannot {verb} resource \"{resource}\"");
        let sentence =
            format!("{plural} \"{name}\" is forbidden: {who} in API group \"\" in the namespace \"{namespace}\"");
        return Err((403, "Forbidden", sentence));
    }
    let key = (plural.clone(), namespace.clone(), name.clone());
    let current = store.get(plural, namespace, name);
    match (request.method.as_str(), name.as_str()) {
        ("GET", "") => Ok(page(&store, &target, &request.query)?),
        ("GET", _) => current.ok_or_else(|| not_found(&key)),
        ("POST", _) if subresource == "binding" => {
            let mut pod = current.ok_or_else(|| not_found(&key))?;
            let uid = &request.body["metadata"]["uid"];
            if !pod["spec"]["nodeName"].is_null() || (!uid.is_null() && *uid != pod["metadata"]["uid"]) {
                return Err((409, "Conflict", "the Pod has a node, or is another one".to_owned()));
            }
            pod["spec"]["nodeName"] = request.body["target"]["name"].clone();
            store.replace(plural, pod)
        }
        ("POST", _) => {
            let mut object = request.body.clone();
            if !namespace.is_empty() {
                object["metadata"]["namespace"] = json!(namespace);
            }
            store.create(plural, object)
        }
        ("PUT", _) => {
            let old = current.ok_or_else(|| not_found(&key))?;
            store.replace(plural, changed_part(&old, &request.body, subresource))
        }
        ("PATCH", _) => match current {
            Some(old) => {
                let new = merged(old.clone(), &request.body);
                store.replace(plural, changed_part(&old, &new, subresource))
            }
            // Only what is applied says what it is.
            None if request.body["kind"].is_null() => Err(not_found(&key)),
            None => {
                let mut object = request.body.clone();
                object["metadata"]["namespace"] = json!(namespace);
                store.create(plural, object)
            }
        },
        ("DELETE", _) => {
            let old = current.ok_or_else(|| not_found(&key))?;
            for field in ["uid", "resourceVersion"] {
                let wanted = request.body.pointer(&format!("/preconditions/{field}"));
                if wanted.is_some_and(|wanted| !wanted.is_null() && *wanted != old["metadata"][field]) {
                    return Err((409, "Conflict", "the precondition does not hold".to_owned()));
                }
            }
            Ok(store.delete(plural, namespace, name).unwrap_or_default())
        }
        _ => Err((405, "MethodNotAllowed", "unknown method".to_owned())),
    }
}

/// What of an update counts: the status through the subresource, everything else without it.
fn changed_part(old: &Value, new: &Value, subresource: &str) -> Value {
    let (mut result, status) = match subresource {
        "status" => (old.clone(), new["status"].clone()),
        _ => (new.clone(), old["status"].clone()),
    };
    result["metadata"]["resourceVersion"] = new["metadata"]["resourceVersion"].clone();
    match status {
        Value::Null => drop(result.as_object_mut().unwrap().remove("status")),
        status => result["status"] = status,
    }
    result
}

fn page(store: &Store, target: &Target, query: &BTreeMap<String, String>) -> Result<Value, Refusal> {
    let all: Vec<&Value> = store
        .of(&target.plural)
        .filter(|_| target.plural != store.unlisted)
        .filter(|object| target.namespace.is_empty() || object["metadata"]["namespace"] == *target.namespace)
        .collect();
    let number = |name: &str| query.get(name).and_then(|text| text.parse::<usize>().ok());
    let start = number("continue").unwrap_or(0);
    let size = store.page.or(number("limit")).unwrap_or(usize::MAX);
    let items: Vec<Value> = all
        .iter()
        .skip(start)
        .take(size)
        .map(|item| {
            let mut item = (*item).clone();
            // Items of a list do not say what they are.
            item.as_object_mut().unwrap().retain(|field, _| field != "kind" && field != "apiVersion");
            item
        })
        .collect();
    let mut metadata = json!({ "resourceVersion": store.version.to_string() });
    if start + items.len() < all.len() {
        metadata["continue"] = json!((start + items.len()).to_string());
    }
    Ok(json!({ "kind": "List", "apiVersion": target.group_version, "metadata": metadata, "items": items }))
}

fn watched(store: Arc<Mutex<Store>>, seen: watch::Receiver<u64>, request: &Request) -> Response<Body> {
    let Some(target) = target(&request.path) else { return broken() };
    let from = request.query.get("resourceVersion").and_then(|text| text.parse().ok()).unwrap_or(0);
    let cut = {
        let store = store.lock().unwrap();
        if store.missing.contains(&format!("{}/{}", target.group_version, target.plural).as_str()) {
            return refused(&(404, "NotFound", "the server could not find the requested resource".to_owned()));
        }
        if from < store.compacted {
            let status = status(&(410, "Expired", "too old resource version".to_owned()));
            let line = format!("{}\n", json!({ "type": "ERROR", "object": status }));
            return Response::new(full(line));
        }
        store.cut
    };
    let plural = target.plural;
    let lines = stream::unfold((store, seen, from), move |(store, mut seen, from)| {
        let plural = plural.clone();
        async move {
            loop {
                seen.borrow_and_update();
                let (text, last) = news(&store.lock().unwrap(), &plural, from, cut)?;
                if !text.is_empty() {
                    return Some((text, (store, seen, last)));
                }
                seen.changed().await.ok()?;
            }
        }
    });
    let frames = lines.map(|text| Ok(Frame::data(Bytes::from(text))));
    Response::new(BodyExt::boxed(StreamBody::new(frames)))
}

/// What a watch has to tell since a version, and the version up to which it then has told everything. `None` when it was cut.
fn news(store: &Store, plural: &str, from: u64, cut: u64) -> Option<(String, u64)> {
    if store.cut != cut {
        return None;
    }
    if store.is_silent || store.silent == plural {
        return Some((String::new(), from));
    }
    let known = store.changes.partition_point(|change| change.version <= from);
    let mine = store.changes.iter().skip(known).filter(|change| change.plural == plural);
    let text = mine.map(|change| format!("{}\n", json!({ "type": change.kind, "object": change.object }))).collect();
    Some((text, store.version.max(from)))
}

fn query(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn status((code, reason, message): &Refusal) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
        "metadata": {},
    })
}

fn refused(refusal: &Refusal) -> Response<Body> {
    whole(StatusCode::from_u16(refusal.0).unwrap(), &status(refusal))
}

/// What a server says that has no time: a line of text, and for how many seconds in a header.
fn busy() -> Response<Body> {
    let mut response = Response::new(full("Too many requests, please try again later.\n".to_owned()));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert("retry-after", "3".parse().unwrap());
    response
}

fn whole(code: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(full(value.to_string()));
    *response.status_mut() = code;
    response.headers_mut().insert("content-type", "application/json".parse().unwrap());
    response
}

fn full(text: String) -> Body {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed()
}

/// An answer that ends in the middle.
fn broken() -> Response<Body> {
    let error = std::io::Error::other("cut on purpose");
    let frames = stream::iter([Ok(Frame::data(Bytes::from_static(b"{"))), Err(error)]);
    Response::new(BodyExt::boxed(StreamBody::new(frames)))
}
