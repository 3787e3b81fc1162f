//! A JSON parser that keeps byte positions. Not recursive.

use std::borrow::Cow;

use crate::build::{Budget, Builder};
use crate::problem::{Problem, ProblemCode};
use crate::tree::{Kind, Span, Style, Tree};

/// Parses one JSON value at byte `from`; returns it with the offset behind it.
///
/// # Errors
///
/// A problem of code [`ProblemCode::Syntax`], [`ProblemCode::Encoding`] or [`ProblemCode::Limit`].
pub(crate) fn parse<'t>(text: &'t [u8], from: usize, budget: &mut Budget) -> Result<(Tree<'t>, usize), Problem> {
    let mut parser = Parser { text, at: from, builder: Builder::new(budget), closers: Vec::new() };
    parser.run()?;
    let end = parser.at;
    match parser.builder.finish() {
        Some(tree) => Ok((tree, end)),
        None => Err(syntax(from, "a JSON value was expected here")),
    }
}

/// The offset of the first byte at or after `from` that is no JSON space.
pub(crate) fn skip_space(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

struct Parser<'t, 'b> {
    text: &'t [u8],
    at: usize,
    builder: Builder<'t, 'b>,
    /// The bracket that closes each open collection.
    closers: Vec<u8>,
}

impl<'t> Parser<'t, '_> {
    fn run(&mut self) -> Result<(), Problem> {
        loop {
            // A value, or the end of an empty collection that was just opened.
            let opened = self.value()?;
            self.skip();
            if opened && self.peek() == self.closers.last().copied() {
                self.close();
            } else if opened {
                self.key_if_object()?;
                continue;
            }
            loop {
                let Some(closer) = self.closers.last().copied() else { return Ok(()) };
                self.skip();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.key_if_object()?;
                        break;
                    }
                    Some(found) if found == closer => self.close(),
                    Some(_) if closer == b'}' => return Err(syntax(self.at, "`,` or `}` was expected here")),
                    Some(_) => return Err(syntax(self.at, "`,` or `]` was expected here")),
                    None if closer == b'}' => return Err(syntax(self.at, "the text ends inside `{ ... }`")),
                    None => return Err(syntax(self.at, "the text ends inside `[ ... ]`")),
                }
            }
        }
    }

    /// Reads a scalar or opens a collection; true when one was opened.
    fn value(&mut self) -> Result<bool, Problem> {
        self.skip();
        let start = self.at;
        let (kind, closer) = match self.peek() {
            Some(b'{') => (Kind::Mapping(Vec::new()), b'}'),
            Some(b'[') => (Kind::List(Vec::new()), b']'),
            Some(b'"') => {
                self.string()?;
                return Ok(false);
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                return Ok(false);
            }
            Some(b'a'..=b'z') => {
                self.word()?;
                return Ok(false);
            }
            Some(_) | None => return Err(syntax(start, "a JSON value was expected here")),
        };
        self.at += 1;
        self.builder.open(kind, Span::new(start, self.at))?;
        self.closers.push(closer);
        Ok(true)
    }

    fn key_if_object(&mut self) -> Result<(), Problem> {
        if self.closers.last() != Some(&b'}') {
            return Ok(());
        }
        self.skip();
        if self.peek() != Some(b'"') {
            return Err(syntax(self.at, "a key in double quotes was expected here"));
        }
        self.string()?;
        self.skip();
        if self.peek() != Some(b':') {
            return Err(syntax(self.at, "`:` was expected here"));
        }
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.at += 1;
        self.closers.pop();
        self.builder.close(Some(Span::new(self.at, self.at).end));
    }

    fn word(&mut self) -> Result<(), Problem> {
        let start = self.at;
        for word in ["true", "false", "null"] {
            if self.rest().starts_with(word.as_bytes()) {
                self.at += word.len();
                return self.leaf(Cow::Borrowed(word), Style::Json, start);
            }
        }
        Err(syntax(start, "a JSON value was expected here"))
    }

    fn number(&mut self) -> Result<(), Problem> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let has_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        let mut is_valid = whole > 0 && !(has_zero && whole > 1);
        if self.peek() == Some(b'.') {
            self.at += 1;
            is_valid &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            is_valid &= self.digits() > 0;
        }
        if !is_valid {
            return Err(syntax(start, "this is no JSON number"));
        }
        let text = self.slice(start, self.at)?;
        self.leaf(Cow::Borrowed(text), Style::Json, start)
    }

    fn digits(&mut self) -> usize {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn string(&mut self) -> Result<(), Problem> {
        let start = self.at;
        self.at += 1;
        let mut decoded: Option<String> = None;
        loop {
            let run = self.at;
            self.at += self.rest().iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)).count();
            let piece = self.slice(run, self.at)?;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    let text = match decoded {
                        None => Cow::Borrowed(piece),
                        Some(text) => Cow::Owned(text + piece),
                    };
                    return self.leaf(text, Style::Text, start);
                }
                Some(b'\\') => {
                    let text = decoded.get_or_insert_default();
                    text.push_str(piece);
                    let character = self.escape()?;
                    decoded.get_or_insert_default().push(character);
                }
                Some(_) => return Err(syntax(self.at, "a control character stands inside a JSON text")),
                None => return Err(syntax(start, "a quoted text is not closed")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Problem> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some(unit) = self.hex4() else { return Err(syntax(start, "`\\u` needs four hexadecimal digits")) };
                self.surrogates(unit)
            }
            Some(_) | None => return Err(syntax(start, "unknown escape in a JSON text")),
        })
    }

    /// The character of a UTF-16 unit and, where it is the first half of a pair, of the unit behind it.
    fn surrogates(&mut self, unit: u16) -> char {
        let behind = self.at;
        if (0xD800..0xDC00).contains(&unit) && self.rest().starts_with(b"\\u") {
            self.at += 2;
            if let Some(second) = self.hex4()
                && let Some(Ok(character)) = char::decode_utf16([unit, second]).next()
            {
                return character;
            }
            self.at = behind;
        }
        char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        self.at += 4;
        Some(unit)
    }

    fn leaf(&mut self, text: Cow<'t, str>, style: Style, start: usize) -> Result<(), Problem> {
        let kind = Kind::Scalar { text, style, tag: None };
        self.builder.leaf(kind, Span::new(start, self.at)).map(drop)
    }

    fn slice(&self, start: usize, end: usize) -> Result<&'t str, Problem> {
        let bytes = self.text.get(start..end).unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|error| {
            let at = start + error.valid_up_to();
            Problem::new(ProblemCode::Encoding, at..at + 1, "the text is not UTF-8 here")
        })
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self) {
        self.at = skip_space(self.text, self.at);
    }
}

fn syntax(at: usize, message: &str) -> Problem {
    Problem::new(ProblemCode::Syntax, at..at + 1, message)
}
