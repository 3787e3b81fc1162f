//! CEL: simple selectors for scenarios, and free compositions for comparing the language itself.

use serde_json::{Value, json};

use super::dice::Dice;
use super::functions::Calls;
use super::{DRIVERS, Features, MODELS};
use crate::reference::Release;

/// A selector as people write them; rarely one that fails.
pub(super) fn matching(dice: &mut Dice, features: &Features) -> Value {
    let driver = dice.word(&DRIVERS);
    let expression = match dice.below(18) {
        0 | 1 => format!("device.driver == \"{driver}\""),
        2 => format!(
            "device.driver == \"{driver}\" && device.attributes[\"{driver}\"].model == \"{}\"",
            dice.word(&MODELS)
        ),
        3 | 4 => format!("device.attributes[device.driver].model != \"{}\"", dice.word(&MODELS)),
        5 => format!("device.attributes[device.driver].index < {}", dice.between(1, 4)),
        6 => "device.attributes[device.driver].?numa.orValue(9) == 1".to_owned(),
        7 => "has(device.attributes[device.driver].fast) && device.attributes[device.driver].fast".to_owned(),
        8 => format!("device.capacity[device.driver].memory.compareTo(quantity(\"{}Gi\")) >= 0", dice.between(1, 8)),
        9 => "cel.bind(a, device.attributes[device.driver], a.model in [\"small\", \"large\"])".to_owned(),
        10 => "!has(device.attributes[device.driver].driverVersion) || \
               device.attributes[device.driver].driverVersion.isLessThan(semver(\"1.9.0\"))"
            .to_owned(),
        11 if features.on("consumableCapacity") => "!device.allowMultipleAllocations".to_owned(),
        12 if dice.chance(10) => "device.attributes[device.driver].fast".to_owned(),
        13 if dice.chance(8) => "device.attributes[device.driver].nothing == 1".to_owned(),
        14 if features.on("listTypeAttributes") => {
            format!("device.attributes[\"common.example.com\"].?links.orValue([9]).includes({})", dice.below(4))
        }
        15 if dice.chance(5) => "device.attributes[device.driver].model ==".to_owned(),
        16 => format!("device.attributes[device.driver].model.matches(\"^{}\")", dice.word(&["s", "l", "[sm]", "x"])),
        _ => "true".to_owned(),
    };
    json!({ "cel": { "expression": expression } })
}

/// A derived attribute.
pub(super) fn derived(dice: &mut Dice, index: u64) -> Value {
    let expression = match dice.below(12) {
        0 | 1 => "device.attributes[device.driver].index".to_owned(),
        2 | 3 => "device.attributes[device.driver].?numa.orValue(7)".to_owned(),
        4 => "device.attributes[device.driver].model.size()".to_owned(),
        5 => "device.driver".to_owned(),
        6 => "[device.attributes[device.driver].model, \"small\"]".to_owned(),
        7 => "device.attributes[\"common.example.com\"].?links.orValue([1, 2])".to_owned(),
        8 => "semver(\"1.0.0\")".to_owned(),
        9 => "device.attributes[device.driver].index > 1".to_owned(),
        10 if dice.chance(30) => "device.attributes[device.driver].nothing".to_owned(),
        11 if dice.chance(20) => dice.word(&["1.5", "{1: 2}", "[]", "quantity(\"1\")", "device.", "[[1]]"]),
        _ => "1".to_owned(),
    };
    let name = if index == 0 {
        dice.word(&["derived/x0", "derived/x0", "common.example.com/rack"])
    } else {
        "derived/x1".to_owned()
    };
    json!({ "name": name, "expression": expression })
}

/// Makes the selector of a seed, with a device to evaluate it on, in the schema of the selector vectors.
pub fn selector(seed: u64, release: Release) -> Value {
    let mut dice = Dice(seed ^ 0x5e1e_c704);
    let lists = dice.chance(50);
    let mut attributes = json!({
        "model": { "string": dice.word(&MODELS) },
        "index": { "int": dice.below(5) },
        "fast": { "bool": dice.chance(50) },
        "api": { "version": dice.word(&["1.2.3", "1.10.0", "2.0.0-rc.1"]) },
        "other.example.com/text": { "string": dice.word(&["", "a-b-c", "H100 80GB", "\u{e4}\u{f6}\u{fc} 12"]) },
    });
    if let (true, Some(map)) = (lists, attributes.as_object_mut()) {
        map.insert("links".to_owned(), json!({ "ints": [1, 2, 3] }));
        map.insert("names".to_owned(), json!({ "strings": ["a", "b", "ab"] }));
    }
    let expression = if dice.chance(60) {
        Calls::new(&mut dice).probe()
    } else {
        let mut words = Words { dice: Dice(dice.next()), lists };
        words.bool(4)
    };
    let environment = if dice.chance(50) { "stored" } else { "new" };
    json!({
        "id": format!("cel-{seed}"),
        "version": release.to_string(),
        "environment": environment,
        "features": { "consumableCapacity": true, "listTypeAttributes": lists },
        "expression": expression,
        "device": {
            "driver": "dra.example.com",
            "allowMultipleAllocations": seed.is_multiple_of(2),
            "attributes": attributes,
            "capacity": { "memory": { "value": "80Gi" }, "cores": { "value": "1500m" } },
        },
    })
}

/// Compositions of a bounded depth, mostly well typed.
struct Words {
    dice: Dice,
    lists: bool,
}

impl Words {
    /// One of several forms; at depth 0 the first, which is a leaf.
    fn form(&mut self, depth: u64, forms: u64) -> u64 {
        if depth == 0 { 0 } else { self.dice.below(forms) }
    }

    /// A value of a random type.
    fn any(&mut self, depth: u64) -> String {
        match self.dice.below(9) {
            0 => self.bool(depth),
            1 => self.int(depth),
            2 => self.string(depth),
            3 => self.ints(depth),
            4 => self.strings(depth),
            5 => self.double(depth),
            6 => self.quantity(depth),
            7 => self.semver(depth),
            _ => self.attribute(),
        }
    }

    fn attribute(&mut self) -> String {
        let names: &[&str] = if self.lists {
            &["model", "index", "fast", "api", "links", "names", "nothing"]
        } else {
            &["model", "index", "fast", "api", "model", "index", "nothing"]
        };
        let name = self.dice.word(names);
        match self.dice.below(5) {
            0 => "device.attributes[\"other.example.com\"].text".to_owned(),
            1 => format!("device.attributes[\"dra.example.com\"].?{name}.orValue(1)"),
            2 => format!("device.attributes[device.driver][\"{name}\"]"),
            _ => format!("device.attributes[\"dra.example.com\"].{name}"),
        }
    }

    fn bool(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 24) {
            0 => self.dice.word(&["true", "false", "device.allowMultipleAllocations", "true"]),
            1 | 2 => format!("{} && {}", self.bool(less), self.bool(less)),
            3 | 4 => format!("({} || {})", self.bool(less), self.bool(less)),
            5 => format!("!({})", self.bool(less)),
            6 => {
                let operator = self.dice.word(&["==", "!=", "<", "<=", ">", ">="]);
                format!("{} {operator} {}", self.int(less), self.int(less))
            }
            7 => {
                let operator = self.dice.word(&["==", "!=", "<", ">="]);
                format!("{} {operator} {}", self.string(less), self.string(less))
            }
            8 => format!("{} == {}", self.attribute(), self.any(less)),
            9 => format!("{} in {}", self.int(less), self.ints(less)),
            10 => format!("{} in {}", self.string(less), self.strings(less)),
            11 => {
                let function = self.dice.word(&["startsWith", "endsWith", "contains"]);
                format!("{}.{function}({})", self.string(less), self.string(less))
            }
            12 => format!("{}.matches({})", self.string(less), self.pattern()),
            13 => {
                let macro_name = self.dice.word(&["all", "exists", "exists_one"]);
                format!("{}.{macro_name}(x, x > {})", self.ints(less), self.int(less))
            }
            14 => {
                let macro_name = self.dice.word(&["all", "exists"]);
                format!("{}.{macro_name}(x, x.contains({}))", self.strings(less), self.string(0))
            }
            15 => {
                let function = self.dice.word(&["isGreaterThan", "isLessThan"]);
                format!("{}.{function}({})", self.quantity(less), self.quantity(less))
            }
            16 => {
                let function = self.dice.word(&["isGreaterThan", "isLessThan"]);
                format!("{}.{function}({})", self.semver(less), self.semver(less))
            }
            17 => format!("has(device.attributes[\"dra.example.com\"].{})", self.dice.word(&["model", "nothing"])),
            18 => format!("({} ? {} : {})", self.bool(less), self.bool(less), self.bool(less)),
            19 => format!("cel.bind(v, {}, v == {})", self.any(less), self.any(less)),
            20 => format!("{} == {}", self.double(less), self.double(less)),
            21 => {
                let function = self.dice.word(&["isQuantity", "isSemver", "isURL", "isIP", "isCIDR"]);
                format!("{function}({})", self.string(less))
            }
            22 => format!("{}.isSorted()", self.ints(less)),
            _ => {
                let function = self.dice.word(&["contains", "equivalent", "intersects"]);
                format!("sets.{function}({}, {})", self.ints(less), self.ints(less))
            }
        }
    }

    fn int(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 14) {
            0 => self.dice.word(&["0", "1", "2", "3", "10", "-1", "9223372036854775807"]),
            1 | 2 => {
                let operator = self.dice.word(&["+", "-", "*", "/", "%"]);
                format!("({} {operator} {})", self.int(less), self.int(less))
            }
            3 => format!("size({})", self.string(less)),
            4 => format!("{}.size()", self.ints(less)),
            5 => format!("int({})", self.double(less)),
            6 => format!("int({})", self.string(less)),
            7 => format!("{}.compareTo({})", self.quantity(less), self.quantity(less)),
            8 => format!("{}.indexOf({})", self.string(less), self.string(0)),
            9 => format!("{}.{}()", self.ints(less), self.dice.word(&["sum", "min", "max"])),
            10 => format!("{}.{}()", self.semver(less), self.dice.word(&["major", "minor", "patch"])),
            11 => format!("{}[{}]", self.ints(less), self.int(0)),
            12 => format!("({} ? {} : {})", self.bool(less), self.int(less), self.int(less)),
            _ => self.attribute(),
        }
    }

    fn double(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 5) {
            0 => self.dice.word(&["0.0", "1.5", "-2.25", "1e3", "0.1"]),
            1 | 2 => {
                let operator = self.dice.word(&["+", "-", "*", "/"]);
                format!("({} {operator} {})", self.double(less), self.double(less))
            }
            3 => format!("double({})", self.int(less)),
            _ => format!("double({})", self.string(less)),
        }
    }

    fn string(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 15) {
            0 => self.dice.word(&[
                "\"\"",
                "\"a\"",
                "\"b-c\"",
                "\"12\"",
                "\"1.2.3\"",
                "\"1Gi\"",
                "\"\u{e4}b\"",
                "device.driver",
            ]),
            1 => format!("{} + {}", self.string(less), self.string(less)),
            2 => format!("string({})", self.int(less)),
            3 => format!("{}.{}()", self.string(less), self.dice.word(&["lowerAscii", "upperAscii", "trim"])),
            4 => format!("{}.substring({})", self.string(less), self.int(0)),
            5 => format!("{}.replace({}, {})", self.string(less), self.string(0), self.string(0)),
            6 => format!("{}.join({})", self.strings(less), self.string(0)),
            7 => format!("{}[{}]", self.strings(less), self.int(0)),
            8 => format!("{}.find({})", self.string(less), self.pattern()),
            9 => format!("{}.charAt({})", self.string(less), self.int(0)),
            10 => format!("({} ? {} : {})", self.bool(less), self.string(less), self.string(less)),
            11 => format!("string({})", self.double(less)),
            12 => format!("\"%s-%d\".format([{}, {}])", self.string(less), self.int(less)),
            13 => format!("strings.quote({})", self.string(less)),
            _ => self.attribute(),
        }
    }

    fn ints(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 12) {
            0 => self.dice.word(&["[1, 2, 3]", "[3, 1, 2, 1]", "[5]"]),
            1 => format!("[{}, {}]", self.int(less), self.int(less)),
            2 => format!("{}.map(x, x + {})", self.ints(less), self.int(less)),
            3 => format!("{}.filter(x, x > {})", self.ints(less), self.int(less)),
            4 => format!("{} + {}", self.ints(less), self.ints(less)),
            5 => format!("{}.{}()", self.ints(less), self.dice.word(&["sort", "distinct", "reverse"])),
            6 => format!("{}.slice(0, {})", self.ints(less), self.int(0)),
            7 => format!("{}.map(x, x.size())", self.strings(less)),
            8 => "lists.range(4)".to_owned(),
            9 => format!("[{}, {}].flatten()", self.ints(less), self.ints(less)),
            10 => format!("{}.transformList(i, v, i * v)", self.ints(less)),
            _ if self.lists => "device.attributes[\"dra.example.com\"].links".to_owned(),
            _ => "[1, 2]".to_owned(),
        }
    }

    fn strings(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 8) {
            0 => self.dice.word(&["[\"a\", \"b\"]", "[\"x\"]", "[\"b\", \"a\", \"ab\"]"]),
            1 => format!("[{}, {}]", self.string(less), self.string(less)),
            2 => format!("{}.split({})", self.string(less), self.dice.word(&["\"-\"", "\"\"", "\" \""])),
            3 => format!("{}.map(x, x + {})", self.strings(less), self.string(0)),
            4 => format!("{}.filter(x, x != {})", self.strings(less), self.string(0)),
            5 => format!("{}.findAll({})", self.string(less), self.pattern()),
            6 => format!("{}.sort()", self.strings(less)),
            _ if self.lists => "device.attributes[\"dra.example.com\"].names".to_owned(),
            _ => "[\"a\"]".to_owned(),
        }
    }

    fn quantity(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 6) {
            0 => {
                let text = self.dice.word(&["1", "1Gi", "500m", "1e3", "0.5Ki", "10Ei", "5"]);
                format!("quantity(\"{text}\")")
            }
            1 => "device.capacity[\"dra.example.com\"].memory".to_owned(),
            2 => "device.capacity[\"dra.example.com\"].cores".to_owned(),
            3 => format!("{}.add({})", self.quantity(less), self.quantity(less)),
            4 => format!("{}.sub({})", self.quantity(less), self.int(less)),
            _ => format!("quantity({})", self.string(less)),
        }
    }

    fn semver(&mut self, depth: u64) -> String {
        let less = depth.saturating_sub(1);
        match self.form(depth, 4) {
            0 => {
                let text = self.dice.word(&["1.2.3", "1.10.0", "2.0.0-rc.1", "0.0.0+x"]);
                format!("semver(\"{text}\")")
            }
            1 => "device.attributes[\"dra.example.com\"].api".to_owned(),
            2 => format!("semver({}, true)", self.dice.word(&["\"v1.2\"", "\"01.1\"", "\"1\""])),
            _ => format!("semver({})", self.string(less)),
        }
    }

    fn pattern(&mut self) -> String {
        let patterns = [
            "a",
            "^[a-z]+$",
            "[0-9]+",
            "(a|b)*c?",
            "\\\\d{2,3}",
            "(?i)A.B",
            "\\\\bx",
            "[^\\\\s-]+",
            "\\\\p{L}+",
            "\\\\pN",
            "[[:alpha:]]",
            "\\\\P{Lu}",
            "[\\\\p{Greek}a]",
            "x{2",
            "(?P<n>a)",
            "a**",
            "(?s).",
            "\\\\x{e4}",
            "(",
            "[b-a]",
        ];
        format!("\"{}\"", self.dice.word(&patterns))
    }
}
