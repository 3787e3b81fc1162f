//! The recorded quantities of the reference: what each text parses to, and sums, differences and order of pairs.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads files and fails by panicking")]

use std::cmp::Ordering;
use std::path::Path;

use apportion_core::api::quantity::{Format, Quantity};
use serde_json::Value;

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn problems(case: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut compare = |what: &str, got: String, want: String| {
        if got != want {
            problems.push(format!("{what}: got {got}, want {want} in {case}"));
        }
    };
    if text(case, "op") == "pair" {
        let (a, b) = (Quantity::parse(text(case, "a")).unwrap(), Quantity::parse(text(case, "b")).unwrap());
        compare("cmp", (a.cmp(&b) as i32).to_string(), case["cmp"].to_string());
        compare("sum", a.checked_add(&b).unwrap().to_string(), text(case, "sum").into());
        compare("difference", a.checked_sub(&b).unwrap().to_string(), text(case, "difference").into());
        return problems;
    }
    let quantity = match Quantity::parse(text(case, "input")) {
        Ok(quantity) => quantity,
        Err(error) => {
            compare("error", error.to_string(), text(case, "error").into());
            return problems;
        }
    };
    compare("error", String::new(), text(case, "error").into());
    compare("canonical", quantity.to_string(), text(case, "canonical").into());
    let format = match quantity.format() {
        Format::DecimalSi => "DecimalSI",
        Format::BinarySi => "BinarySI",
        Format::DecimalExponent => "DecimalExponent",
    };
    compare("format", format.into(), text(case, "format").into());
    compare("sign", quantity.signum().to_string(), case["sign"].to_string());
    // The reference wraps around where an intermediate value leaves 64 bits; only values far from that are comparable.
    let small = Quantity::parse("9G").unwrap();
    let is_small = quantity.cmp(&small) == Ordering::Less && quantity.signum() >= 0;
    if is_small {
        compare("value", quantity.value_rounded_up().to_string(), text(case, "value").into());
        compare("milliValue", quantity.milli_rounded_up().to_string(), text(case, "milliValue").into());
    }
    compare("isInt64", quantity.as_i64().is_some().to_string(), case["isInt64"].as_bool().unwrap_or(false).to_string());
    if let Some(value) = quantity.as_i64() {
        compare("int64", value.to_string(), text(case, "int64").into());
    }
    let again = Quantity::parse(&quantity.to_string()).unwrap();
    compare("printed and read again", again.to_string(), quantity.to_string());
    assert_eq!(again, quantity);
    problems
}

#[test]
fn quantities_agree_with_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/units/quantity-1.37.2.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let problems: Vec<String> = cases.iter().flat_map(problems).collect();
    assert!(cases.len() > 1_000, "{} quantities", cases.len());
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn the_smallest_and_the_largest_texts_do_not_panic() {
    for text in [
        "1e2147483647",
        "1e-2147483648",
        "1e99999999999",
        "Pi",
        ".Pi",
        "-.Ei",
        "1e",
        "+",
        "9999999999999999999999999999999999999999",
        "0.00000000000000000000000000000000000000000000000000001",
        "1e1000",
        "-1e1000",
        "é",
        "1é",
    ] {
        if let Ok(a) = Quantity::parse(text) {
            let b = Quantity::parse("-3n").unwrap();
            let _ = (a.to_string(), a.value_rounded_up(), a.milli_rounded_up(), a.as_i64(), a.as_approximate_f64());
            let _ = (a.cmp(&b), a.saturating_add(&b), b.saturating_sub(&a), a.saturating_add(&a), a.saturating_sub(&a));
        }
    }
    assert_eq!(Quantity::parse("0.00000000000000000000000000000000000000001").unwrap().to_string(), "1n");
    assert!(Quantity::parse("1e1000").unwrap() > Quantity::parse("1E").unwrap());
    assert!(Quantity::parse("-1e1000").unwrap() < Quantity::parse("-1E").unwrap());
}

/// Found by fuzzing: what is held with a power of ten is printed with more digits than fit into the number itself.
#[test]
fn what_is_printed_with_zeros_at_its_end_is_read_again() {
    for text in ["-000000200000000000000000000000265199358.0199G", "12345678901234567890123456789012345678E", "1e60"] {
        let first = Quantity::parse(text).unwrap();
        let again = Quantity::parse(&first.to_string()).unwrap();
        assert_eq!((again.clone(), again.to_string()), (first.clone(), first.to_string()), "{text}");
    }
}
