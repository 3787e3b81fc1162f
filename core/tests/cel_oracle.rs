//! Our evaluator and the crate `cel`, which knows nothing of Kubernetes, agree on the core of the language.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::Cell;

use apportion_core::cel::Environment;
use apportion_core::evaluate::{DeviceSample, Verdict, evaluate};
use apportion_core::profile::Version;
use cel::{Context, Program, Value};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const CASES: u32 = 10_000;

/// What an expression came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Is(bool),
    Fails,
    /// Our compiler computes what is constant and fails at once, as cel-go does; the other one may never come to that part.
    FailsEarly,
}

fn ours(expression: &str) -> Outcome {
    let environment =
        Environment { stored: false, consumable_capacity: true, list_type_attributes: true, version: Version::V1_37 };
    match evaluate(expression, &DeviceSample::default(), &environment).verdict {
        Verdict::Match => Outcome::Is(true),
        Verdict::NoMatch => Outcome::Is(false),
        Verdict::RuntimeError(_) => Outcome::Fails,
        Verdict::CompileError(error) if error.message.starts_with("program instantiation failed") => {
            Outcome::FailsEarly
        }
        Verdict::CompileError(error) => unreachable!("{expression}: {error:?}"),
    }
}

fn theirs(expression: &str) -> Outcome {
    let program = Program::compile(expression).unwrap_or_else(|error| unreachable!("{expression}: {error}"));
    match program.execute(&Context::default()) {
        Ok(Value::Bool(value)) => Outcome::Is(value),
        Ok(other) => unreachable!("{expression}: {other:?}"),
        Err(_) => Outcome::Fails,
    }
}

type Text = BoxedStrategy<String>;

/// Expressions of each type, up to a depth.
struct Typed {
    int: Text,
    uint: Text,
    double: Text,
    string: Text,
    bool: Text,
    ints: Text,
    map: Text,
}

fn literals() -> Typed {
    let one_of = |texts: &'static [&'static str]| prop::sample::select(texts).prop_map(str::to_owned).boxed();
    Typed {
        int: one_of(&["0", "1", "2", "7", "-3", "100", "9223372036854775807", "-9223372036854775808"]),
        uint: one_of(&["0u", "1u", "3u", "18446744073709551615u"]),
        double: one_of(&["0.0", "1.5", "-2.25", "1e3"]),
        string: one_of(&["''", "'a'", "'ab'", "'gpu.example.com'", "'größe'", "'12'", "'-5'", "'x y'"]),
        bool: one_of(&["true", "false"]),
        ints: one_of(&["[1, 2, 3]", "[7]", "[0, 0, 1]", "[-3, 100]"]),
        map: one_of(&["{'a': 1}", "{'a': 1, 'b': 7}", "{'gpu': 0}"]),
    }
}

fn deeper(of: &Typed) -> Typed {
    let Typed { int, uint, double, string, bool, ints, map } = of;
    let pick = |texts: &'static [&'static str]| prop::sample::select(texts);
    let number = |of: &Text, operators: &'static [&'static str]| {
        (of.clone(), pick(operators), of.clone())
            .prop_map(|(left, operator, right)| format!("({left} {operator} {right})"))
            .boxed()
    };
    let chosen = |of: &Text| {
        (bool.clone(), of.clone(), of.clone()).prop_map(|(test, yes, no)| format!("({test} ? {yes} : {no})")).boxed()
    };
    let compared = |of: &Text| number(of, &["==", "!=", "<", "<=", ">", ">="]);
    Typed {
        int: prop_oneof![
            int.clone(),
            number(int, &["+", "-", "*", "/", "%"]),
            chosen(int),
            string.clone().prop_map(|text| format!("size({text})")),
            ints.clone().prop_map(|list| format!("{list}.size()")),
            (ints.clone(), int.clone()).prop_map(|(list, at)| format!("{list}[{at}]")),
            (map.clone(), pick(&["a", "b", "gpu"])).prop_map(|(map, key)| format!("{map}['{key}']")),
            (map.clone(), pick(&["a", "b", "gpu"])).prop_map(|(map, key)| format!("{map}.{key}")),
            string.clone().prop_map(|text| format!("int({text})")),
            uint.clone().prop_map(|number| format!("int({number})")),
        ]
        .boxed(),
        uint: prop_oneof![uint.clone(), number(uint, &["+", "-", "*", "/", "%"]), chosen(uint)].boxed(),
        double: prop_oneof![
            double.clone(),
            number(double, &["+", "-", "*", "/"]),
            chosen(double),
            int.clone().prop_map(|number| format!("double({number})")),
        ]
        .boxed(),
        string: prop_oneof![
            string.clone(),
            number(string, &["+"]),
            chosen(string),
            int.clone().prop_map(|number| format!("string({number})")),
        ]
        .boxed(),
        bool: prop_oneof![
            compared(int),
            compared(uint),
            compared(double),
            compared(string),
            number(bool, &["&&", "||", "==", "!="]),
            number(ints, &["==", "!="]),
            bool.clone().prop_map(|value| format!("!{value}")),
            chosen(bool),
            (string.clone(), pick(&["contains", "startsWith", "endsWith"]), string.clone())
                .prop_map(|(text, function, part)| format!("{text}.{function}({part})")),
            (string.clone(), pick(&["^a", "b$", "[a-z]+", "^$", "o|x", r"\\d+"]))
                .prop_map(|(text, pattern)| format!("{text}.matches('{pattern}')")),
            (int.clone(), ints.clone()).prop_map(|(value, list)| format!("({value} in {list})")),
            (string.clone(), map.clone()).prop_map(|(key, map)| format!("({key} in {map})")),
            (map.clone(), pick(&["a", "b", "gpu"])).prop_map(|(map, key)| format!("has({map}.{key})")),
            (ints.clone(), pick(&["all", "exists", "exists_one"]), pick(&["x > 1", "x == 0", "10 / x > 1", "x < 50"]))
                .prop_map(|(list, of, test)| format!("{list}.{of}(x, {test})")),
            (map.clone(), pick(&["all", "exists"]), pick(&["k == 'a'", "k > 'b'", "size(k) == 3"]))
                .prop_map(|(map, of, test)| format!("{map}.{of}(k, {test})")),
        ]
        .boxed(),
        ints: prop_oneof![
            ints.clone(),
            number(ints, &["+"]),
            chosen(ints),
            (int.clone(), int.clone()).prop_map(|(left, right)| format!("[{left}, {right}]")),
            (ints.clone(), pick(&["x + 1", "x * x", "10 / x"])).prop_map(|(list, to)| format!("{list}.map(x, {to})")),
            (ints.clone(), pick(&["x > 1", "x % 2 == 0"])).prop_map(|(list, test)| format!("{list}.filter(x, {test})")),
        ]
        .boxed(),
        map: prop_oneof![
            map.clone(),
            chosen(map),
            (string.clone(), int.clone()).prop_map(|(key, value)| format!("{{{key}: {value}}}")),
        ]
        .boxed(),
    }
}

#[test]
fn the_core_of_the_language_means_what_another_evaluator_says() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let expressions = deeper(&deeper(&literals())).bool;
    let (fails, early) = (Cell::new(0_u32), Cell::new(0_u32));
    runner
        .run(&expressions, |expression| {
            let outcome = ours(&expression);
            if outcome == Outcome::FailsEarly {
                early.set(early.get() + 1);
                return Ok(());
            }
            prop_assert_eq!(outcome, theirs(&expression), "{}", expression);
            fails.set(fails.get() + u32::from(outcome == Outcome::Fails));
            Ok(())
        })
        .unwrap();
    let (fails, early) = (fails.get(), early.get());
    assert!(early < CASES / 20, "{early} of {CASES} fail early");
    assert!((CASES / 50..CASES / 2).contains(&fails), "{fails} of {CASES} fail");
}
