//! What to write instead of an expression that cannot do what its author wants.
//!
//! The reference's messages stay as they are; this stands beside them, in the words of the expression.

use super::ast::{Ast, Kind, NodeId};
use super::check::{Checked, DEVICE_FIELDS};
use super::comparisons::{Comparison, Constant, Operator, Reader};
use super::decls;
use super::lint::{Access, Linter};
use super::reads::Field;
use super::semver::Semver;
use crate::api::quantity::Quantity;
use crate::near::{amount_meant, amount_remedy, nearest};

/// What is wrong with a part of an expression, and what to write.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Advice {
    /// What is wrong, for instance "`80GB` is not an amount".
    pub problem: String,
    /// What to do, for instance "write `80G` or `80Gi`".
    pub remedy: String,
    /// Whether it is a comparison by `==`, `!=` or `in`, which is decided and does not fail.
    pub is_never_equal: bool,
}

impl Advice {
    /// Both in one sentence.
    pub(crate) fn in_words(&self) -> String {
        format!("{}: {}", self.problem, self.remedy)
    }
}

/// The CEL types of the values of an attribute; none where they are not known.
pub type Types<'t> = &'t dyn Fn(&str, &str) -> Vec<&'static str>;

/// The type of a capacity.
const QUANTITY: &str = "kubernetes.Quantity";
/// The type of a version.
const SEMVER: &str = "kubernetes.Semver";

/// Most parts of an expression that are looked at.
const MOST_PARTS: usize = 10_000;

/// Everything that is wrong with constants, and with comparisons of attributes whose types are known, in no order of places.
pub(super) fn advice(ast: &Ast, root: NodeId, checked: &Checked, types: Types<'_>) -> Vec<Advice> {
    let adviser = Adviser { ast, reader: Reader { ast, linter: Linter::new(ast, root, checked) }, types };
    let mut found: Vec<Advice> = Vec::new();
    // Whether a part stands where a truth value is needed decides whether an attribute can stand alone.
    let mut open = vec![(root, true)];
    let mut left = MOST_PARTS;
    while let Some((id, is_condition)) = open.pop().filter(|_| left > 0) {
        left = left.saturating_sub(1);
        let news = adviser.constant(id).or_else(|| adviser.comparison(id, is_condition));
        found.extend(news.into_iter().filter(|one| !found.contains(one)).collect::<Vec<_>>());
        let is_logic =
            matches!(ast.kind(id), Kind::Call { function, .. } if matches!(&**function, "_&&_" | "_||_" | "!_"));
        let before = open.len();
        ast.children(id, |child| open.push((child, is_condition && is_logic)));
        open.get_mut(before..).unwrap_or_default().reverse();
    }
    found
}

struct Adviser<'a> {
    ast: &'a Ast,
    reader: Reader<'a>,
    types: Types<'a>,
}

impl Adviser<'_> {
    /// A text that is no amount or version where one is made of it.
    fn constant(&self, id: NodeId) -> Option<Advice> {
        let Kind::Call { function, target: None, args } = self.ast.kind(id) else { return None };
        let [text] = args.as_slice() else { return None };
        let text = self.reader.text(*text)?;
        let (what, remedy) = match &**function {
            "quantity" if Quantity::parse(&text).is_err() => ("an amount", amount_remedy(&text)),
            "semver" if Semver::parse(&text).is_err() => ("a version", version_remedy(&text)),
            _ => return None,
        };
        Some(Advice { problem: format!("`{text}` is not {what}"), remedy, is_never_equal: false })
    }

    /// A comparison of an attribute or capacity with something of another type, or by a method that its type has not.
    fn comparison(&self, id: NodeId, is_condition: bool) -> Option<Advice> {
        let is_field = self.reader.field(id).is_some();
        if is_field && !is_condition {
            return None;
        }
        // What is negated is looked at by itself.
        if matches!(self.ast.kind(id), Kind::Call { function, .. } if &**function == "!_") {
            return None;
        }
        let comparison = self.reader.comparison(id)?;
        let (access, mut own) = self.access(&comparison.field)?;
        if own.is_empty() && matches!(comparison.constants.as_slice(), [Constant::Version(_)]) {
            own.push(SEMVER);
        }
        if is_field {
            let is_bool = own.is_empty() || own.contains(&"bool");
            let problem = || format!("a selector must be true or false, and `{access}` is {}", article(own.first()));
            return (!is_bool).then(|| Advice {
                problem: problem(),
                remedy: format!("compare it with a value: `{access} == {}`", sample(own.first())),
                is_never_equal: false,
            });
        }
        let is_method = self.is_method(id);
        if own.is_empty() || own.iter().any(|own| fits(own, is_method, &comparison)) {
            return None;
        }
        let own = *own.first()?;
        let is_equality = matches!(comparison.operator, Operator::Equal | Operator::Unequal) && !is_method;
        let other = comparison.constants.first()?.kind();
        let problem = if is_equality {
            format!("`{access}` is {}, never equal to {other}", article(Some(&own)))
        } else {
            let how = if is_method { "this method" } else { "an operator" };
            match own {
                QUANTITY | SEMVER if !is_method => {
                    format!("`{access}` is {}, which no operator compares", article(Some(&own)))
                }
                _ => format!("`{access}` is {}, not compared with {other} by {how}", article(Some(&own))),
            }
        };
        let remedy = match written(&access, own, &comparison) {
            Some(meant) => format!("write `{meant}`"),
            None => format!("compare it with {}", article(Some(&own))),
        };
        Some(Advice { problem, remedy, is_never_equal: is_equality })
    }

    /// How a field is read, and the types that its values have.
    fn access(&self, field: &Field) -> Option<(String, Vec<&'static str>)> {
        let (map, domain, name, types) = match field {
            Field::Attribute { domain, id } => ("attributes", domain, id, (self.types)(domain, id)),
            Field::Capacity { domain, id } => ("capacity", domain, id, vec![QUANTITY]),
            _ => return None,
        };
        let access = Access { map: map.to_owned(), domain: domain.clone(), name: name.clone() };
        Some((access.text(), types))
    }

    /// Whether a comparison is made by `compareTo` and the like.
    fn is_method(&self, id: NodeId) -> bool {
        match self.ast.kind(id) {
            Kind::Call { target: Some(_), .. } => true,
            Kind::Call { args, .. } => {
                args.iter().any(|side| matches!(self.ast.kind(*side), Kind::Call { target: Some(_), .. }))
            }
            _ => false,
        }
    }
}

impl Constant {
    /// What it is, with its article.
    fn kind(&self) -> &'static str {
        match self {
            Self::Quantity(_) => "an amount",
            Self::Version(_) => "a version",
            Self::Text(_) => "a text",
            Self::Int(_) => "a number",
            Self::Bool(_) => "a truth value",
        }
    }

    /// Its text, without quotes.
    fn text(&self) -> String {
        match self {
            Self::Quantity(text) | Self::Version(text) | Self::Text(text) => text.clone(),
            Self::Int(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
        }
    }
}

/// A type in words, with its article.
fn article(own: Option<&&str>) -> &'static str {
    match own.copied() {
        Some(QUANTITY) => "an amount",
        Some(SEMVER) => "a version",
        Some("int") => "a number",
        Some("bool") => "a truth value",
        _ => "a text",
    }
}

/// A value of a type, as an expression writes it.
fn sample(own: Option<&&str>) -> &'static str {
    match own.copied() {
        Some(QUANTITY) => "quantity(\"40Gi\")",
        Some(SEMVER) => "semver(\"1.2.3\")",
        Some("int") => "1",
        _ => "\"...\"",
    }
}

/// Whether a comparison can be evaluated on a value of a type, and can be true.
fn fits(own: &str, is_method: bool, comparison: &Comparison) -> bool {
    let is_equality = matches!(comparison.operator, Operator::Equal | Operator::Unequal);
    comparison.constants.iter().any(|constant| match (own, constant) {
        (QUANTITY, Constant::Quantity(_)) | (SEMVER, Constant::Version(_)) => is_method || is_equality,
        ("int", Constant::Int(_)) | ("string", Constant::Text(_)) | ("bool", Constant::Bool(_)) => !is_method,
        _ => false,
    })
}

/// The comparison as its author can have meant it, for a value of a type.
fn written(access: &str, own: &str, comparison: &Comparison) -> Option<String> {
    let constants = comparison.constants.iter().map(|constant| constant_of(own, constant));
    let constants: Vec<String> = constants.collect::<Option<_>>()?;
    let operator = comparison.operator.text();
    match (constants.as_slice(), own) {
        ([one], QUANTITY | SEMVER) => Some(format!("{access}.compareTo({one}) {operator} 0")),
        ([one], _) => Some(format!("{access} {operator} {one}")),
        (several, _) => Some(format!("{access} in [{}]", several.join(", "))),
    }
}

/// A constant as one of another type.
fn constant_of(own: &str, constant: &Constant) -> Option<String> {
    let text = constant.text();
    match own {
        QUANTITY => {
            let amount = Quantity::parse(&text).is_ok().then(|| text.clone());
            let amount = amount.or_else(|| amount_meant(&text).pop())?;
            Some(format!("quantity(\"{amount}\")"))
        }
        SEMVER => Some(format!("semver(\"{}\")", version_meant(&text)?)),
        "int" => text.parse::<i64>().ok().map(|number| number.to_string()),
        "bool" => text.to_ascii_lowercase().parse::<bool>().ok().map(|value| value.to_string()),
        _ => (!text.contains(['"', '\\'])).then(|| format!("\"{text}\"")),
    }
}

fn version_remedy(text: &str) -> String {
    match version_meant(text) {
        Some(version) => format!("write `{version}`"),
        None => "a version has three numbers, such as `1.2.3`".to_owned(),
    }
}

/// The version that a text stands for, if it says one: `v1`, `1.2` and leading zeros are understood.
fn version_meant(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches(['v', 'V']);
    Semver::parse_normalized(text).ok().map(|version| version.to_string())
}

/// What to write instead where the text is no CEL, or names something that there is not. `offset` is where the message points, in bytes.
pub(super) fn of_message(source: &str, message: &str, offset: usize) -> Option<String> {
    let (before, after) = source.split_at_checked(offset)?;
    let first = message.lines().next()?;
    if first.contains("Syntax error") {
        return of_syntax(before, after).map(|(word, meant)| format!("write `{meant}` instead of `{word}`"));
    }
    let named = |start: &str| first.split_once(start)?.1.split('\'').next();
    if let Some(name) = named("undeclared reference to '") {
        let meant = match name {
            "True" | "TRUE" => "true",
            "False" | "FALSE" => "false",
            "None" | "nil" | "NULL" => "null",
            name if DEVICE_FIELDS.contains(&name) => return Some(format!("write `device.{name}`")),
            name => decls::nearest_function(name).or_else(|| nearest(name, ["device"]))?,
        };
        return Some(format!("did you mean `{meant}`?"));
    }
    let name = named("undefined field '")?;
    match nearest(name, DEVICE_FIELDS) {
        Some(meant) => Some(format!("did you mean `device.{meant}`?")),
        None => Some(format!("a device has {}", DEVICE_FIELDS.map(|field| format!("`{field}`")).join(", "))),
    }
}

/// The operator of another language at the place of an error, and the one of CEL.
fn of_syntax(before: &str, after: &str) -> Option<(String, &'static str)> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let here = after.split(|letter| !is_word(letter)).next().unwrap_or_default();
    let last = before.trim_end().rsplit(|letter| !is_word(letter)).next().unwrap_or_default();
    let is = |word: &str, meant: &str| word.eq_ignore_ascii_case(meant);
    match (here, last) {
        (here, _) if is(here, "and") => return Some((here.to_owned(), "&&")),
        (here, _) if is(here, "or") => return Some((here.to_owned(), "||")),
        (_, last) if is(last, "not") => return Some((last.to_owned(), "!")),
        _ => {}
    }
    let (operator, meant) = match after.chars().next()? {
        '=' if before.ends_with("==") => ("===", "=="),
        '=' => ("=", "=="),
        '&' => ("&", "&&"),
        '|' => ("|", "||"),
        '>' if before.ends_with('<') => ("<>", "!="),
        _ => return None,
    };
    Some((operator.to_owned(), meant))
}
