use serde_json::json;

use super::*;

fn changed(text: &str, value: &Value) -> (String, Vec<usize>) {
    let reading = read(text.as_bytes(), &Limits::default());
    let mut values: Vec<Value> = reading.documents.iter().map(|document| document.value.clone()).collect();
    *values.last_mut().unwrap() = value.clone();
    let result = rewrite(text.as_bytes(), &reading, &values).unwrap();
    (String::from_utf8(result.text).unwrap(), result.anew)
}

#[test]
fn fields_move_into_a_new_one_with_their_comments() {
    let text = "\
# a claim
kind: A # first
---
version: old # why
requests:
# the accelerator
- name: gpu # short
  # how many
  count: 2
  class: a.b

  mode: x
- name: nic
  class: c
";
    let value = json!({ "version": "new", "requests": [
        { "name": "gpu", "exactly": { "count": 2, "class": "a.b", "mode": "x" } },
        { "name": "nic", "exactly": { "class": "c" } },
    ] });
    let expected = "\
# a claim
kind: A # first
---
version: new # why
requests:
# the accelerator
- name: gpu # short
  exactly:
    # how many
    count: 2
    class: a.b

    mode: x
- name: nic
  exactly:
    class: c
";
    assert_eq!(changed(text, &value), (expected.to_owned(), vec![]));
}

#[test]
fn fields_move_out_of_a_removed_one() {
    let text = "\
devices:
  - basic: # plain
      # what it is
      attributes:
        model: {string: x} # kept
      capacity: {}
    name: gpu-0 # last
";
    let value =
        json!({ "devices": [{ "name": "gpu-0", "attributes": { "model": { "string": "x" } }, "capacity": {} }] });
    let expected = "\
devices:
    # plain
    # what it is
  - attributes:
      model: {string: x} # kept
    capacity: {}
    name: gpu-0 # last
";
    assert_eq!(changed(text, &value), (expected.to_owned(), vec![]));
}

#[test]
fn a_field_gets_another_name_or_value() {
    let text = "spec:\n  cuont: 3  # three\n  'mode': all\n";
    let (text, anew) = changed(text, &json!({ "spec": { "count": 3, "mode": "All" } }));
    assert_eq!((text.as_str(), anew), ("spec:\n  count: 3  # three\n  'mode': All\n", vec![]));
}

#[test]
fn a_byte_order_mark_stays() {
    let value = json!({ "spec": { "count": 3 } });
    let changed_text = changed("\u{feff}spec:\n  cuont: 3 # three\n", &value);
    assert_eq!(changed_text, ("\u{feff}spec:\n  count: 3 # three\n".to_owned(), vec![]));
    assert_eq!(changed("\u{feff}{\"a\": 1}\n", &json!({ "b": 1 })), ("\u{feff}{\n  \"b\": 1\n}\n".to_owned(), vec![0]));
}

#[test]
fn a_scalar_becomes_an_object() {
    let text = "claims: # of the Pod\n- gpu # the first\n# and\n-   'nic'\ncel: a == b # why\n";
    let value = json!({ "claims": [{ "name": "gpu" }, { "name": "nic" }], "cel": { "expression": "a == b" } });
    let expected =
        "claims: # of the Pod\n- name: gpu # the first\n# and\n-   name: nic\ncel: # why\n  expression: \"a == b\"\n";
    assert_eq!(changed(text, &value), (expected.to_owned(), vec![]));
}

#[test]
fn what_stands_on_one_line_comes_in_lines_of_its_own() {
    let text =
        "claims: [gpu] # one\nrequests:\n- {name: a, class: c} # two\n- {name: b}\nsource: {template: t} # three\n";
    let value = json!({ "claims": [{ "name": "gpu" }], "requests": [{ "name": "a", "exactly": { "class": "c" } }, { "name": "b" }], "template": "t" });
    let expected = "claims: # one\n  - name: gpu\nrequests:\n- exactly: # two\n    class: c\n  name: a\n- {name: b}\ntemplate: t # three\n";
    assert_eq!(changed(text, &value), (expected.to_owned(), vec![]));
}

#[test]
fn the_comments_of_a_field_that_goes_stay() {
    let text = "exactly:\n  class: c\n# two of them\ncount: 2\nname: x\n";
    let (text, anew) = changed(text, &json!({ "exactly": { "class": "c", "count": 2 }, "name": "x" }));
    assert_eq!((text.as_str(), anew), ("exactly:\n  class: c\n  count: 2\n# two of them\nname: x\n", vec![]));
}

#[test]
fn a_document_in_a_list_keeps_its_place() {
    let text = "kind: List\nitems:\n- kind: A\n  v: 1\n- v: 2\n  kind: B # here\n";
    let (text, anew) = changed(text, &json!({ "w": 2, "kind": "B" }));
    assert_eq!((text.as_str(), anew), ("kind: List\nitems:\n- kind: A\n  v: 1\n- w: 2\n  kind: B # here\n", vec![]));
}

#[test]
fn what_cannot_keep_its_layout_is_written_anew() {
    let value = json!({ "a": [1], "b": "x" });
    assert_eq!(changed("a: {c: 1,\n d: 1}\nd: 1\n", &value), ("a:\n- 1\nb: x\n".to_owned(), vec![0]));
    assert_eq!(changed("{\"a\": 1}\n", &value).1, [0]);
    let list = changed("kind: List\nitems:\n- {c: 1}\n", &value);
    assert_eq!(list, ("kind: List\nitems:\n- {\"a\":[1],\"b\":\"x\"}\n".to_owned(), vec![0]));
}

#[test]
fn equal_documents_keep_their_bytes() {
    let text = b"a:   1\r\n";
    let reading = read(text, &Limits::default());
    let values = [reading.documents[0].value.clone()];
    assert_eq!(rewrite(text, &reading, &values).unwrap().text, text);
}
