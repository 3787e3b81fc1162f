//! Pattern text to a tree.

use std::sync::Arc;

use super::{RegexError, unicode};
use crate::arrange::Arrange;

/// A node of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Node {
    Empty,
    /// One character out of ranges, which are sorted and apart.
    Class(Arc<[(char, char)]>),
    Assert(Assert),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        is_greedy: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Assert {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordBoundary,
    NotWordBoundary,
}

#[derive(Clone, Copy)]
struct Flags {
    ignores_case: bool,
    is_multi_line: bool,
    dot_matches_newline: bool,
    is_ungreedy: bool,
}

/// How deep groups may nest; Go allows 1000.
const MOST_NESTED: usize = 250;
const MOST_REPEATED: u32 = 1000;

pub(super) fn parse(pattern: &str) -> Result<Node, RegexError> {
    let flags = Flags { ignores_case: false, is_multi_line: false, dot_matches_newline: false, is_ungreedy: false };
    let mut parser = Parser { pattern, rest: pattern, flags, depth: 0 };
    let node = parser.alternation()?;
    if parser.rest.is_empty() { Ok(node) } else { parser.error("unexpected )", pattern) }
}

struct Parser<'p> {
    pattern: &'p str,
    rest: &'p str,
    flags: Flags,
    depth: usize,
}

type Parsed<T = Node> = Result<T, RegexError>;

impl<'p> Parser<'p> {
    fn error<T>(&self, what: &'static str, at: &str) -> Parsed<T> {
        Err(RegexError::Syntax { what, at: at.to_owned() })
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// What was read since `before`.
    fn since(&self, before: &'p str) -> &'p str {
        before.get(..before.len().saturating_sub(self.rest.len())).unwrap_or_default()
    }

    fn alternation(&mut self) -> Parsed {
        let mut branches = vec![self.concatenation()?];
        while self.take("|") {
            branches.push(self.concatenation()?);
        }
        Ok(if branches.len() == 1 { branches.pop().unwrap_or(Node::Empty) } else { Node::Alternate(branches) })
    }

    fn concatenation(&mut self) -> Parsed {
        let mut nodes: Vec<Node> = Vec::new();
        let mut before_repeat: Option<&'p str> = None;
        while let Some(c) = self.rest.chars().next() {
            let before = self.rest;
            match c {
                '|' | ')' => break,
                '*' | '+' | '?' | '{' => {
                    if let Some((min, max)) = self.repetition()? {
                        let is_lazy = self.take("?");
                        let written = self.since(before);
                        if let Some(earlier) = before_repeat {
                            return self.error("invalid nested repetition operator", self.since(earlier));
                        }
                        before_repeat = Some(before);
                        let Some(node) = nodes.pop() else {
                            return self.error("missing argument to repetition operator", written);
                        };
                        let is_greedy = is_lazy == self.flags.is_ungreedy;
                        let node = Node::Repeat { node: Box::new(node), min, max, is_greedy };
                        if min.max(max.unwrap_or(0)) >= 2 && repeats(&node) > u64::from(MOST_REPEATED) {
                            return self.error("invalid repeat count", written);
                        }
                        nodes.push(node);
                        continue;
                    }
                    self.next();
                    nodes.push(self.literal('{'));
                }
                '(' => nodes.extend(self.group()?),
                '[' => nodes.push(self.class()?),
                '.' => {
                    self.next();
                    nodes.push(Node::Class(if self.flags.dot_matches_newline {
                        [('\0', char::MAX)].into()
                    } else {
                        [('\0', '\u{9}'), ('\u{b}', char::MAX)].into()
                    }));
                }
                '^' => {
                    self.next();
                    let is_line = self.flags.is_multi_line;
                    nodes.push(Node::Assert(if is_line { Assert::LineStart } else { Assert::TextStart }));
                }
                '$' => {
                    self.next();
                    let is_line = self.flags.is_multi_line;
                    nodes.push(Node::Assert(if is_line { Assert::LineEnd } else { Assert::TextEnd }));
                }
                '\\' => self.escape(&mut nodes)?,
                c => {
                    self.next();
                    nodes.push(self.literal(c));
                }
            }
            before_repeat = None;
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Concat(nodes),
        })
    }

    /// `*`, `+`, `?` or `{n,m}`. `None` if the brace is an ordinary character; nothing is read then.
    fn repetition(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        for (sign, range) in [("*", (0, None)), ("+", (1, None)), ("?", (0, Some(1)))] {
            if self.take(sign) {
                return Ok(Some(range));
            }
        }
        let before = self.rest;
        let Some((body, after)) = before.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
            return Ok(None);
        };
        let (low, high) = body.split_once(',').map_or((body, None), |(low, high)| (low, Some(high)));
        let is_number = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_digit())
                && (text.len() == 1 || !text.starts_with('0'))
        };
        let is_range = is_number(low) && high.is_none_or(|high| high.is_empty() || is_number(high));
        if !is_range {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        let min = number(low);
        let max = match high {
            None => Some(min),
            Some("") => None,
            Some(high) => Some(number(high)),
        };
        self.rest = after;
        if min > MOST_REPEATED || max.is_some_and(|max| max > MOST_REPEATED || max < min) {
            return self.error("invalid repeat count", self.since(before));
        }
        Ok(Some((min, max)))
    }

    /// A group; `None` if it only sets flags.
    fn group(&mut self) -> Parsed<Option<Node>> {
        let before = self.rest;
        self.next();
        self.depth += 1;
        if self.depth > MOST_NESTED {
            return Err(RegexError::Unsupported("a pattern with more than 250 nested groups".to_owned()));
        }
        let outer = self.flags;
        if self.rest.starts_with('?') {
            self.next();
            if self.take("P<") || self.take("<") {
                let Some((name, rest)) = self.rest.split_once('>') else {
                    return self.error("invalid named capture", before);
                };
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.rest = rest;
                    return self.error("invalid named capture", self.since(before));
                }
                self.rest = rest;
            } else if !self.group_flags(before)? {
                self.depth -= 1;
                return Ok(None);
            }
        }
        let node = self.alternation()?;
        if !self.take(")") {
            return self.error("missing closing )", self.pattern);
        }
        self.flags = outer;
        self.depth -= 1;
        Ok(Some(node))
    }

    /// Flags after `(?`: true if a group follows, false if they hold for the rest of the enclosing one.
    fn group_flags(&mut self, before: &'p str) -> Parsed<bool> {
        let (mut is_on, mut has_flag, mut has_minus) = (true, false, false);
        loop {
            let Some(c) = self.next() else {
                return self.error("missing argument to repetition operator", before);
            };
            match c {
                'i' => self.flags.ignores_case = is_on,
                'm' => self.flags.is_multi_line = is_on,
                's' => self.flags.dot_matches_newline = is_on,
                'U' => self.flags.is_ungreedy = is_on,
                '-' if !has_minus => {
                    (has_minus, is_on, has_flag) = (true, false, false);
                    continue;
                }
                ':' | ')' if !has_minus || has_flag => return Ok(c == ':'),
                _ => return self.error("invalid or unsupported Perl syntax", self.since(before)),
            }
            has_flag = true;
        }
    }

    fn literal(&self, c: char) -> Node {
        let mut ranges = vec![(c, c)];
        if self.flags.ignores_case {
            fold(&mut ranges);
        }
        Node::Class(normalize(ranges).into())
    }

    /// An escape outside a class.
    fn escape(&mut self, nodes: &mut Vec<Node>) -> Parsed<()> {
        let before = self.rest;
        if self.take("\\Q") {
            let (text, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
            nodes.extend(text.chars().map(|c| self.literal(c)));
            self.rest = rest;
            return Ok(());
        }
        for (sign, assert) in [
            ("\\A", Assert::TextStart),
            ("\\z", Assert::TextEnd),
            ("\\b", Assert::WordBoundary),
            ("\\B", Assert::NotWordBoundary),
        ] {
            if self.take(sign) {
                nodes.push(Node::Assert(assert));
                return Ok(());
            }
        }
        if self.take("\\C") {
            return self.error("invalid escape sequence", self.since(before));
        }
        if let Some(ranges) = self.perl_class()? {
            nodes.push(Node::Class(ranges.into()));
            return Ok(());
        }
        let c = self.escaped_char()?;
        nodes.push(self.literal(c));
        Ok(())
    }

    /// `\d` and the like, which mean ASCII.
    fn perl_class(&mut self) -> Parsed<Option<Vec<(char, char)>>> {
        let before = self.rest;
        for (sign, ranges) in [
            ('d', &[('0', '9')][..]),
            ('s', &[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')]),
            ('w', &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        ] {
            if self.take(&format!("\\{sign}")) {
                return Ok(Some(self.with_other_cases(ranges.to_vec())));
            }
            if self.take(&format!("\\{}", sign.to_ascii_uppercase())) {
                return Ok(Some(negate(&self.with_other_cases(ranges.to_vec()))));
            }
        }
        if before.starts_with("\\p") || before.starts_with("\\P") {
            return self.unicode_class().map(Some);
        }
        Ok(None)
    }

    /// `\pL`, `\p{Greek}`; `\P` and a leading `^` negate.
    fn unicode_class(&mut self) -> Parsed<Vec<(char, char)>> {
        let before = self.rest;
        let mut is_negated = before.starts_with("\\P");
        self.rest = before.get(2..).unwrap_or_default();
        let name = if self.take("{") {
            let Some((name, rest)) = self.rest.split_once('}') else {
                return self.error("invalid character class range", before);
            };
            self.rest = rest;
            name
        } else {
            let from = self.rest;
            self.next();
            self.since(from)
        };
        let plain = name.strip_prefix('^').inspect(|_| is_negated = !is_negated).unwrap_or(name);
        let Some(ranges) = unicode::class(plain) else {
            return self.error("invalid character class range", self.since(before));
        };
        let ranges = self.with_other_cases(ranges);
        Ok(if is_negated { negate(&ranges) } else { ranges })
    }

    /// With the other cases of all characters, where case does not count.
    fn with_other_cases(&self, mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
        if self.flags.ignores_case {
            fold(&mut ranges);
        }
        normalize(ranges)
    }

    fn escaped_char(&mut self) -> Parsed<char> {
        let before = self.rest;
        self.next();
        let Some(c) = self.next() else {
            return self.error("trailing backslash at end of expression", "");
        };
        let code = match c {
            'a' => return Ok('\u{7}'),
            'f' => return Ok('\u{c}'),
            't' => return Ok('\t'),
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            'v' => return Ok('\u{b}'),
            '0' => self.octal(2),
            '1'..='7' if matches!(self.rest.bytes().next(), Some(b'0'..=b'7')) => {
                let first = c.to_digit(8).unwrap_or(0);
                let digits = self.rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                self.octal(2).map(|rest| first.saturating_mul(if digits == 2 { 64 } else { 8 }).saturating_add(rest))
            }
            'x' => self.hexadecimal(),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c),
            _ => None,
        };
        match code.and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => self.error("invalid escape sequence", self.since(before)),
        }
    }

    fn octal(&mut self, most: usize) -> Option<u32> {
        let length = self.rest.bytes().take(most).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        let (digits, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        if digits.is_empty() { Some(0) } else { u32::from_str_radix(digits, 8).ok() }
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = match self.rest.strip_prefix('{') {
            Some(rest) => {
                let (digits, rest) = rest.split_once('}')?;
                self.rest = rest;
                digits
            }
            None => {
                let (digits, rest) = self.rest.split_at_checked(2)?;
                self.rest = rest;
                digits
            }
        };
        let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    }

    /// `[...]`.
    fn class(&mut self) -> Parsed {
        let before = self.rest;
        self.next();
        let is_negated = self.take("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut is_first = true;
        while is_first || !self.rest.starts_with(']') {
            if self.rest.is_empty() {
                return self.error("missing closing ]", before);
            }
            // A hyphen is itself only at the ends.
            let is_middle_hyphen =
                self.rest.starts_with('-') && !is_first && self.rest.chars().nth(1).is_some_and(|next| next != ']');
            if is_middle_hyphen {
                let bad: String = self.rest.chars().take(2).collect();
                return self.error("invalid character class range", &bad);
            }
            is_first = false;
            if self.rest.starts_with("[:")
                && let Some(named) = self.named_class()?
            {
                ranges.extend(named);
                continue;
            }
            if let Some(perl) = self.perl_class()? {
                ranges.extend(perl);
                continue;
            }
            let range_start = self.rest;
            let low = self.class_char(before)?;
            let mut high = low;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1 {
                self.next();
                high = self.class_char(before)?;
                if high < low {
                    return self.error("invalid character class range", self.since(range_start));
                }
            }
            ranges.push((low, high));
        }
        self.next();
        if self.flags.ignores_case {
            fold(&mut ranges);
        }
        let ranges = normalize(ranges);
        Ok(Node::Class(if is_negated { negate(&ranges) } else { ranges }.into()))
    }

    fn class_char(&mut self, class: &str) -> Parsed<char> {
        if self.rest.starts_with('\\') {
            return self.escaped_char();
        }
        match self.next() {
            Some(c) => Ok(c),
            None => self.error("missing closing ]", class),
        }
    }

    /// `[:alpha:]`.
    fn named_class(&mut self) -> Parsed<Option<Vec<(char, char)>>> {
        let Some((name, rest)) = self.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
            return Ok(None);
        };
        let (is_negated, plain) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
        let ranges: &[(char, char)] = match plain {
            "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
            "alpha" => &[('A', 'Z'), ('a', 'z')],
            "ascii" => &[('\0', '\u{7f}')],
            "blank" => &[('\t', '\t'), (' ', ' ')],
            "cntrl" => &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
            "digit" => &[('0', '9')],
            "graph" => &[('!', '~')],
            "lower" => &[('a', 'z')],
            "print" => &[(' ', '~')],
            "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
            "space" => &[('\t', '\r'), (' ', ' ')],
            "upper" => &[('A', 'Z')],
            "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
            "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
            _ => return self.error("invalid character class range", &format!("[:{name}:]")),
        };
        self.rest = rest;
        let ranges = self.with_other_cases(ranges.to_vec());
        Ok(Some(if is_negated { negate(&ranges) } else { ranges }))
    }
}

/// The product of nested counts, which Go limits.
fn repeats(node: &Node) -> u64 {
    match node {
        Node::Repeat { node, min, max, .. } => {
            let count = u64::from(max.unwrap_or(*min).max(*min)).max(1);
            count.saturating_mul(repeats(node))
        }
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().map(repeats).max().unwrap_or(1),
        Node::Empty | Node::Class(_) | Node::Assert(_) => 1,
    }
}

/// Adds the other cases of all characters.
fn fold(ranges: &mut Vec<(char, char)>) {
    let mut folded = Vec::new();
    for (low, high) in ranges.iter() {
        // Beyond these no letters have cases.
        for c in (*low..=*high).take_while(|c| *c <= '\u{1e943}').filter(|c| has_cases(*c)) {
            for other in case_variants(c) {
                folded.push((other, other));
            }
        }
    }
    ranges.extend(folded);
}

fn has_cases(c: char) -> bool {
    c.to_lowercase().next() != Some(c) || c.to_uppercase().next() != Some(c)
}

/// Letters with more than two forms, beside those that upper and lower case give.
const THIRD_FORMS: [(char, char); 13] = [
    ('k', '\u{212a}'),
    ('s', '\u{17f}'),
    ('å', '\u{212b}'),
    ('ß', 'ẞ'),
    ('μ', 'µ'),
    ('β', 'ϐ'),
    ('ε', 'ϵ'),
    ('θ', 'ϑ'),
    ('κ', 'ϰ'),
    ('π', 'ϖ'),
    ('ρ', 'ϱ'),
    ('σ', 'ς'),
    ('φ', 'ϕ'),
];

/// Characters that differ from this one only by case.
fn case_variants(c: char) -> Vec<char> {
    let lower = |c: char| single(c.to_lowercase()).unwrap_or(c);
    let upper = |c: char| single(c.to_uppercase()).unwrap_or(c);
    let mut variants = vec![lower(c), upper(c), upper(lower(c)), lower(upper(c))];
    for (letter, third) in THIRD_FORMS {
        if variants.contains(&letter) || c == third {
            variants.extend([letter, upper(letter), third]);
        }
    }
    variants
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    first.filter(|_| chars.next().is_none())
}

pub(super) fn normalize(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.arrange();
    let mut merged: Vec<(char, char)> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match merged.last_mut() {
            Some(last) if low <= last.1 || after(last.1) == Some(low) => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

fn after(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

fn before(c: char) -> Option<char> {
    ('\0'..=c).nth_back(1)
}

pub(super) fn negate(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut negated = Vec::new();
    let mut next = Some('\0');
    for (low, high) in normalize(ranges.to_vec()) {
        if let (Some(start), Some(end)) = (next, before(low))
            && start <= end
        {
            negated.push((start, end));
        }
        next = after(high);
    }
    if let Some(start) = next {
        negated.push((start, char::MAX));
    }
    negated
}
