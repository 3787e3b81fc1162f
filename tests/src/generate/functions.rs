//! Functions and operators called on edge cases of every type, the result made visible.

use super::dice::Dice;
use super::literals::literals;
use super::signatures::{Signature, signatures};

const SIMPLE: [&str; 12] =
    ["bool", "int", "uint", "double", "string", "bytes", "duration", "timestamp", "quantity", "semver", "ip", "cidr"];
const ORDERED: [&str; 8] = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const NUMBERS: [&str; 4] = ["int", "uint", "double", "duration"];

/// Calls of functions on edge cases.
pub(super) struct Calls<'d> {
    pub(super) dice: &'d mut Dice,
    all: Vec<Signature>,
}

impl<'d> Calls<'d> {
    pub(super) fn new(dice: &'d mut Dice) -> Self {
        Self { dice, all: signatures() }
    }

    /// An expression that shows the result of a call: true or false, or an error that has the result in its text.
    pub(super) fn probe(&mut self) -> String {
        let count = u64::try_from(self.all.len()).unwrap_or(1);
        let index = usize::try_from(self.dice.below(count + 40)).unwrap_or(0);
        let (call, of) = if index < self.all.len() { self.call(index, 2) } else { self.operation(2) };
        match self.dice.below(8) {
            0..=4 if of == "bool" => call,
            0 => format!("{call} == {}", self.value(&of, 1)),
            1 if of == "int" => format!("[true][{call}]"),
            2 => format!("cel.bind(v, {call}, v == v && {{\"@\": true}}[\"%s\".format([[v]])])"),
            3 if matches!(of.as_str(), "int" | "string" | "uint" | "bool") => format!("{{\"@\": true}}[dyn({call})]"),
            4 if ORDERED.contains(&of.as_str()) => format!("{{\"@\": true}}[string({call})]"),
            _ => format!("{{\"@\": true}}[\"%s\".format([{call}])]"),
        }
    }

    /// A call of a function and the type of its result.
    fn call(&mut self, index: usize, depth: u64) -> (String, String) {
        let Some(signature) = self.all.get(index) else { return ("true".to_owned(), "bool".to_owned()) };
        let (receiver, name, result) = (signature.receiver, signature.name, signature.result);
        let arguments = signature.arguments.clone();
        let (a, b) = (self.any_type(depth), self.dice.word(&["int", "string", "bool", "double"]));
        let (ordered, number) = (self.dice.word(&ORDERED), self.dice.word(&NUMBERS));
        let fill = |of: &str| of.replace('A', &a).replace('B', &b).replace('O', &ordered).replace('N', &number);
        let mut texts = Vec::new();
        for argument in &arguments {
            texts.push(self.argument(&fill(argument), depth - 1));
        }
        let list = texts.join(", ");
        let text = match receiver {
            None => format!("{name}({list})"),
            Some(receiver) => {
                let receiver = self.argument(&fill(receiver), depth - 1);
                format!("{receiver}.{name}({list})")
            }
        };
        (text, fill(result))
    }

    /// Mostly a value of the type; rarely of another one, seen by the checker or not.
    fn argument(&mut self, of: &str, depth: u64) -> String {
        match self.dice.below(40) {
            // The reference makes the whole list before it looks at the cost.
            _ if of == "small" => self.value(of, 0),
            0 => {
                let other = self.any_type(1);
                format!("dyn({})", self.value(&other, depth))
            }
            1 => {
                let other = self.any_type(1);
                self.value(&other, depth)
            }
            2 | 3 => format!("dyn({})", self.value(of, depth)),
            _ => self.value(of, depth),
        }
    }

    fn any_type(&mut self, depth: u64) -> String {
        match self.dice.below(10) {
            0 if depth > 0 => format!("[{}]", self.any_type(depth - 1)),
            1 if depth > 0 => {
                format!("{{{}:{}}}", self.dice.word(&["string", "int", "bool", "uint"]), self.any_type(depth - 1))
            }
            2 if depth > 0 && self.dice.chance(40) => format!("{}?", self.dice.word(&SIMPLE)),
            3 => self.dice.word(&["null", "type", "url"]),
            _ => self.dice.word(&SIMPLE),
        }
    }

    /// A value of a type.
    fn value(&mut self, of: &str, depth: u64) -> String {
        if depth > 0 && self.dice.chance(35) {
            let fitting: Vec<usize> =
                self.all.iter().enumerate().filter(|(_, one)| one.result == of).map(|(index, _)| index).collect();
            if let Some(index) = self.dice.pick(&fitting).copied() {
                return self.call(index, depth).0;
            }
        }
        if let Some(inner) = of.strip_suffix('?') {
            let value = self.value(inner, depth.saturating_sub(1));
            return match self.dice.below(4) {
                0 => "optional.none()".to_owned(),
                1 => format!("[{value}][?0]"),
                2 => format!("{{\"k\": {value}}}.?k"),
                _ => format!("optional.of({value})"),
            };
        }
        if let Some(inner) = of.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let count = self.dice.below(5);
            let items: Vec<String> = (0..count).map(|_| self.value(inner, depth.saturating_sub(1))).collect();
            return format!("[{}]", items.join(", "));
        }
        if let Some((key, value)) =
            of.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|rest| rest.split_once(':'))
        {
            let count = self.dice.below(3);
            let items: Vec<String> = (0..count)
                .map(|_| format!("{}: {}", self.value(key, 0), self.value(value, depth.saturating_sub(1))))
                .collect();
            return format!("{{{}}}", items.join(", "));
        }
        self.dice.word(literals(of))
    }

    /// An operator, a macro or an access, and the type of the result.
    fn operation(&mut self, depth: u64) -> (String, String) {
        let less = depth - 1;
        let of = self.any_type(1);
        let simple = self.dice.word(&SIMPLE);
        let left = self.argument(&simple, less);
        let ints = self.value("[int]", less);
        // The reference walks through maps in random order, which shows in the cost: at most one entry.
        let map = if self.dice.chance(80) {
            format!("{{{}: {}}}", self.value("string", 0), self.value("int", 0))
        } else {
            "{}".to_owned()
        };
        match self.dice.below(26) {
            0 | 1 => {
                let operator = self.dice.word(&["<", "<=", ">", ">="]);
                let right = self.argument(&simple, less);
                (format!("{left} {operator} {right}"), "bool".to_owned())
            }
            2 | 3 => {
                let of = self.dice.word(&["int", "uint", "double"]);
                let operator = self.dice.word(&["+", "-", "*", "/", "%"]);
                (format!("{} {operator} {}", self.argument(&of, less), self.argument(&of, less)), of)
            }
            4 => (format!("-({left})"), simple),
            5 => (format!("{left} + {}", self.argument(&simple, less)), simple),
            6 => {
                let operator = self.dice.word(&["==", "!="]);
                (format!("{} {operator} {}", self.argument(&of, less), self.argument(&of, less)), "bool".to_owned())
            }
            7 => {
                (format!("{} in [{left}, {}]", self.argument(&simple, less), self.value(&simple, 0)), "bool".to_owned())
            }
            8 => (format!("{} in {map}", self.argument("string", less)), "bool".to_owned()),
            9 => {
                let (from, to) = match self.dice.below(4) {
                    0 => ("timestamp", "duration"),
                    1 => ("duration", "timestamp"),
                    2 => ("timestamp", "timestamp"),
                    _ => ("duration", "duration"),
                };
                let operator = self.dice.word(&["+", "-"]);
                let result = if from == to { "duration" } else { "timestamp" };
                (format!("{} {operator} {}", self.value(from, less), self.value(to, less)), result.to_owned())
            }
            10 => (format!("{ints}[{}]", self.argument("int", less)), "int".to_owned()),
            11 => (format!("{ints}[?{}]", self.argument("int", less)), "int?".to_owned()),
            12 => (format!("{map}[?{}]", self.argument("string", less)), "int?".to_owned()),
            13 => {
                let name = self.dice.word(&["all", "exists", "existsOne"]);
                (format!("{ints}.{name}(i, v, i < v)"), "bool".to_owned())
            }
            14 => {
                let name = self.dice.word(&["all", "exists", "exists_one"]);
                (format!("{map}.{name}(k, k.size() > {})", self.value("int", 0)), "bool".to_owned())
            }
            15 => (
                format!("{map}.{}(k, v, k != \"a\" && v > 1)", self.dice.word(&["all", "exists", "existsOne"])),
                "bool".to_owned(),
            ),
            16 => (format!("{ints}.transformList(i, v, v != 0, i + v)"), "[int]".to_owned()),
            17 => (format!("{map}.transformMap(k, v, k + string(v))"), "{string:string}".to_owned()),
            18 => (format!("{map}.transformMap(k, v, v > 1, v)"), "{string:int}".to_owned()),
            19 => (format!("{ints}.transformMapEntry(i, v, {{v: i}})"), "{int:int}".to_owned()),
            20 => (format!("{}.optMap(x, [x])", self.value(&format!("{simple}?"), less)), format!("[{simple}]?")),
            21 => (
                format!("{}.optFlatMap(x, optional.ofNonZeroValue(x))", self.value(&format!("{simple}?"), less)),
                format!("{simple}?"),
            ),
            22 => (
                format!("{ints}.sortBy(x, {})", self.dice.word(&["-x", "x % 3", "string(x)", "x > 1", "[x]"])),
                "[int]".to_owned(),
            ),
            23 => (format!("[?{}, {}]", self.value("int?", less), self.value("int", 0)), "[int]".to_owned()),
            24 => (
                format!("{{?\"k\": {}, \"l\": {}}}", self.value("int?", less), self.value("int", 0)),
                "{string:int}".to_owned(),
            ),
            _ => (format!("{ints}.map(x, x > 1, x * {})", self.value("int", 0)), "[int]".to_owned()),
        }
    }
}
