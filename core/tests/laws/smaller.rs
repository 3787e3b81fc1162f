//! The smallest input that still contradicts itself.

use serde_json::{Map, Value};

use crate::ask;
use crate::generate::Case;
use crate::{Law, hold, kind_of};

/// Most inputs that are tried.
const MOST: usize = 4000;

struct Search<'k> {
    law: Law,
    kind: &'k str,
    /// Objects that the API server refuses at first; what is left out makes no more of them.
    refused: usize,
    tried: usize,
}

impl Search<'_> {
    fn fails(&mut self, case: &Case) -> bool {
        self.tried += 1;
        self.tried <= MOST
            && hold(self.law, case).is_err_and(|text| kind_of(&text) == self.kind)
            && ask::refused(case).len() <= self.refused
    }

    /// Leaves out whole objects, then settings, then fields, as long as something can be left out.
    fn shrink(&mut self, mut case: Case) -> Case {
        loop {
            let before = size(&case);
            for index in (0..case.objects.len()).rev() {
                let mut fewer = case.clone();
                fewer.objects.remove(index);
                if self.fails(&fewer) {
                    case = fewer;
                }
            }
            case = self.prune(case, None);
            for index in 0..case.objects.len() {
                case = self.prune(case, Some(index));
            }
            if size(&case) == before || self.tried > MOST {
                return case;
            }
        }
    }

    fn prune(&mut self, mut case: Case, index: Option<usize>) -> Case {
        let mut paths = Vec::new();
        list(part(&mut case, index), &mut Vec::new(), &mut paths);
        // What is deep or late in a list goes first, so that positions stay true.
        for path in paths.into_iter().rev() {
            let mut fewer = case.clone();
            if remove(part(&mut fewer, index), &path) && self.fails(&fewer) {
                case = fewer;
            }
        }
        case
    }
}

fn part(case: &mut Case, index: Option<usize>) -> &mut Value {
    match index {
        Some(index) => &mut case.objects[index],
        None => &mut case.settings,
    }
}

fn size(case: &Case) -> usize {
    case.settings.to_string().len() + case.objects.iter().map(|object| object.to_string().len()).sum::<usize>()
}

fn list(value: &Value, at: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let mut visit = |key: String, inner: &Value| {
        at.push(key);
        paths.push(at.clone());
        list(inner, at, paths);
        at.pop();
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| visit(key.clone(), inner)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, inner)| visit(index.to_string(), inner)),
        _ => {}
    }
}

/// Takes away what stands at a path. False where nothing does, or what every object needs.
fn remove(value: &mut Value, path: &[String]) -> bool {
    let (last, first) = path.split_last().unwrap();
    if ["apiVersion", "kind", "name"].contains(&last.as_str()) && first.len() < 2 {
        return false;
    }
    let mut inner = value;
    for step in first {
        let next = match inner {
            Value::Object(map) => map.get_mut(step),
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            _ => None,
        };
        let Some(next) = next else { return false };
        inner = next;
    }
    match inner {
        Value::Object(map) => map.remove(last).is_some(),
        Value::Array(items) => {
            let index: usize = last.parse().unwrap();
            let is_there = index < items.len();
            if is_there {
                items.remove(index);
            }
            is_there
        }
        _ => false,
    }
}

/// The smallest input with the same contradiction.
pub(crate) fn smallest(law: Law, case: &Case, kind: &str) -> Case {
    Search { law, kind, refused: ask::refused(case).len(), tried: 0 }.shrink(case.clone())
}

/// The input as YAML, and what disagrees in it.
pub(crate) fn shown(law: Law, case: &Case) -> String {
    let what = hold(law, case).err().unwrap_or_default();
    let mut text = format!("# {}\n# settings {}\n", what.replace('\n', " "), case.settings);
    for object in &case.objects {
        text.push_str(&format!("---\n{}\n", flow(object)));
    }
    text
}

/// JSON that is YAML, with the fields in which people look for what it is in front.
fn flow(object: &Value) -> String {
    let mut ordered = Map::new();
    let all = object.as_object().unwrap();
    for key in ["apiVersion", "kind", "metadata", "spec", "status"] {
        ordered.extend(all.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    ordered.extend(all.iter().map(|(key, value)| (key.clone(), value.clone())));
    let lines: Vec<String> = ordered.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    lines.join("\n")
}
