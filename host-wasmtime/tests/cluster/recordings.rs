//! Histories as they were recorded of a control plane; what their lists leave out is filled in.

use std::{env, fs};

use serde_json::{Value, json};

pub(crate) fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// All histories of the folder that `APPORTION_HISTORIES` names.
pub(crate) fn histories() -> Vec<Value> {
    let folder =
        env::var_os("APPORTION_HISTORIES").expect("APPORTION_HISTORIES names a folder with recorded histories");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(!files.is_empty(), "there are histories in the folder");
    files.iter().map(|path| whole(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())).collect()
}

/// A history without gaps.
fn whole(mut history: Value) -> Value {
    for step in history["steps"].as_array_mut().unwrap() {
        fill(&mut step["do"]);
        fill(&mut step["then"]["pods"]);
        let pods = step["then"]["pods"].as_array().cloned().unwrap_or_default();
        for claim in step["then"]["resourceClaims"].as_array_mut().into_iter().flatten() {
            fill_reservations(&mut claim["status"]["reservedFor"], &pods);
        }
    }
    history
}

/// The object of a request, or what a list has of it.
fn name(entry: &Value) -> &str {
    let object = if entry["object"].is_object() { &entry["object"] } else { entry };
    if object["metadata"].is_object() { text(&object["metadata"], "name") } else { text(entry, "name") }
}

/// What a name has before its number, the number, and how many digits it has.
fn numbered(name: &str) -> (&str, usize, usize) {
    let (start, number) = name.rsplit_once('-').unwrap();
    (start, number.parse().unwrap(), number.len())
}

/// Fills in what is left out of a list: entries like the one before, with the numbers between that and the one after.
fn fill(list: &mut Value) {
    let Some(entries) = list.as_array_mut() else { return };
    let Some(gap) = entries.iter().position(|entry| entry["omitted"].is_u64()) else { return };
    let ((start, first, digits), (_, last, _)) = (numbered(name(&entries[gap - 1])), numbered(name(&entries[gap + 1])));
    assert_eq!(entries[gap]["omitted"], last - first - 1, "{start}-{first} to {start}-{last}");
    let (known, before) = (name(&entries[gap - 1]).to_owned(), entries[gap - 1].to_string());
    let like = |number: usize| {
        let text = before.replace(&known, &format!("{start}-{number:0digits$}"));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let between: Vec<Value> = (first + 1..last).map(like).collect();
    entries.splice(gap..=gap, between);
}

/// Long lists of reservations were recorded as their number, beginning and end: they are those of all Pods that have a place.
fn fill_reservations(reserved: &mut Value, pods: &[Value]) {
    let Some(count) = reserved["count"].as_u64() else { return };
    let placed = pods.iter().filter(|pod| pod["spec"]["nodeName"].is_string());
    let names: Vec<&str> = placed.map(name).collect();
    assert_eq!(names.len() as u64, count, "as many as were recorded");
    for ends in ["first", "last"] {
        assert!(reserved[ends].as_array().unwrap().iter().all(|one| names.contains(&text(one, "name"))));
    }
    *reserved = names.iter().map(|name| json!({ "resource": "pods", "name": name })).collect();
}
