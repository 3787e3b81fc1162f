//! Declarations of types in TypeScript, as far as this project writes them, read as JSON Schemas.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use serde_json::{Map, Value, json};

use crate::TYPES;

/// The types of some texts, by name.
///
/// # Errors
///
/// What cannot be read, or is declared twice.
pub(crate) fn types(texts: &[&str]) -> Result<BTreeMap<String, Value>, String> {
    let mut found = BTreeMap::new();
    for text in texts {
        let mut reader = Reader { tokens: tokens(text)?.into_iter().peekable() };
        while let Some((name, schema)) = reader.declaration()? {
            if found.insert(name.clone(), schema).is_some() {
                return Err(format!("`{name}` is declared twice"));
            }
        }
    }
    Ok(found)
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    /// What a comment of documentation says, in one line.
    Remark(String),
    /// A literal text.
    Text(String),
    /// A text with types in it.
    Pattern,
    Word(String),
    Mark(char),
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (token, after) = token(rest).ok_or_else(|| format!("a comment or text has no end: {rest:.40}"))?;
        found.extend(token);
        rest = after;
    }
    Ok(found)
}

/// The first token, if it is more than space or a comment for the file's readers, and the text after it.
fn token(text: &str) -> Option<(Option<Token>, &str)> {
    if let Some(comment) = text.strip_prefix("/**") {
        let (remark, rest) = comment.split_once("*/")?;
        let words = remark.lines().flat_map(|line| line.trim().trim_start_matches('*').split_whitespace());
        return Some((Some(Token::Remark(words.collect::<Vec<_>>().join(" "))), rest));
    }
    if let Some(comment) = text.strip_prefix("//") {
        return Some((None, comment.split_once('\n').map_or("", |(_, rest)| rest)));
    }
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let first = text.chars().next()?;
    let after = text.strip_prefix(first)?;
    match first {
        '"' => after.split_once('"').map(|(literal, rest)| (Some(Token::Text(literal.to_owned())), rest)),
        '`' => after.split_once('`').map(|(_, rest)| (Some(Token::Pattern), rest)),
        _ if is_of_word(first) => {
            let end = text.find(|letter| !is_of_word(letter)).unwrap_or(text.len());
            text.split_at_checked(end).map(|(word, rest)| (Some(Token::Word(word.to_owned())), rest))
        }
        _ => Some(((!first.is_whitespace()).then_some(Token::Mark(first)), after)),
    }
}

struct Reader {
    tokens: Peekable<IntoIter<Token>>,
}

impl Reader {
    /// The next type with its name; `None` at the end.
    fn declaration(&mut self) -> Result<Option<(String, Value)>, String> {
        let remark = self.remark();
        match self.tokens.next() {
            None => Ok(None),
            Some(Token::Word(word)) if word == "import" => {
                while !matches!(self.tokens.next(), None | Some(Token::Mark(';'))) {}
                self.declaration()
            }
            Some(Token::Word(word)) if word == "export" => {
                self.word("type")?;
                let name = self.name()?;
                self.mark('=')?;
                let schema = self.alternatives()?;
                self.mark(';')?;
                Ok(Some((name, described(schema, remark))))
            }
            other => Err(format!("{other:?} begins no declaration")),
        }
    }

    fn alternatives(&mut self) -> Result<Value, String> {
        let mut all = vec![self.together()?];
        while self.takes('|') {
            all.push(self.together()?);
        }
        let constants: Option<Vec<&Value>> = all.iter().map(|one| one.get("const")).collect();
        Ok(match (constants, all.len()) {
            (_, 1) => all.remove(0),
            (Some(constants), _) => json!({ "enum": constants }),
            (None, _) => json!({ "anyOf": all }),
        })
    }

    fn together(&mut self) -> Result<Value, String> {
        let mut all = vec![self.single()?];
        while self.takes('&') {
            all.push(self.single()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { json!({ "allOf": all }) })
    }

    fn single(&mut self) -> Result<Value, String> {
        Ok(match self.tokens.next() {
            Some(Token::Text(text)) => json!({ "const": text }),
            Some(Token::Pattern) => json!({ "type": "string" }),
            Some(Token::Mark('{')) => self.object()?,
            Some(Token::Mark('[')) => {
                return Err("a list has a meaning by position: make it a type with fields".to_owned());
            }
            Some(Token::Word(word)) => match word.as_str() {
                "string" | "boolean" | "null" => json!({ "type": word }),
                // The core has no other numbers than integers.
                "Integer" | "number" => json!({ "type": "integer" }),
                "Decimal" => json!({ "type": "number" }),
                "Json" | "unknown" => json!({}),
                "Array" => {
                    self.mark('<')?;
                    let items = self.alternatives()?;
                    self.mark('>')?;
                    json!({ "type": "array", "items": items })
                }
                _ => json!({ "$ref": format!("{TYPES}{word}") }),
            },
            other => return Err(format!("{other:?} is no type")),
        })
    }

    /// Fields, behind the opening brace.
    fn object(&mut self) -> Result<Value, String> {
        let (mut fields, mut required, mut others) = (Map::new(), Vec::new(), None);
        loop {
            let remark = self.remark();
            match self.tokens.next() {
                Some(Token::Mark('}')) => break,
                // `[name: string]: T` or `[key in string]: T`.
                Some(Token::Mark('[')) => {
                    while !matches!(self.tokens.next(), None | Some(Token::Mark(']'))) {}
                    self.mark(':')?;
                    others = Some(described(self.alternatives()?, remark));
                }
                Some(Token::Word(name) | Token::Text(name)) => {
                    if !self.takes('?') {
                        required.push(name.clone());
                    }
                    self.mark(':')?;
                    fields.insert(name, described(self.alternatives()?, remark));
                }
                other => return Err(format!("{other:?} is no field")),
            }
            let _ = self.takes(',') || self.takes(';');
        }
        let mut object = Map::from_iter([("type".to_owned(), json!("object"))]);
        object.extend((!fields.is_empty()).then(|| ("properties".to_owned(), Value::Object(fields))));
        object.extend((!required.is_empty()).then(|| ("required".to_owned(), json!(required))));
        object.extend(others.map(|others| ("additionalProperties".to_owned(), others)));
        Ok(Value::Object(object))
    }

    /// The last of the remarks that come next.
    fn remark(&mut self) -> Option<String> {
        let mut last = None;
        while let Some(Token::Remark(remark)) = self.tokens.next_if(|token| matches!(token, Token::Remark(_))) {
            last = Some(remark);
        }
        last
    }

    fn name(&mut self) -> Result<String, String> {
        match self.tokens.next() {
            Some(Token::Word(word)) => Ok(word),
            other => Err(format!("{other:?} is no name")),
        }
    }

    fn word(&mut self, wanted: &str) -> Result<(), String> {
        let name = self.name()?;
        if name == wanted { Ok(()) } else { Err(format!("`{name}` stands where `{wanted}` should")) }
    }

    fn takes(&mut self, mark: char) -> bool {
        self.tokens.next_if_eq(&Token::Mark(mark)).is_some()
    }

    fn mark(&mut self, wanted: char) -> Result<(), String> {
        if self.takes(wanted) {
            Ok(())
        } else {
            Err(format!("{:?} stands where `{wanted}` should", self.tokens.peek()))
        }
    }
}

fn described(mut schema: Value, remark: Option<String>) -> Value {
    if let (Some(parts), Some(remark)) = (schema.as_object_mut(), remark) {
        parts.insert("description".to_owned(), json!(remark));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_becomes_a_schema() {
        let text = r#"
            import type { Integer } from "./types.d.ts";
            /** What
             *  it is. */
            export type A = {
              "kind": "a" | "b",
              /** How many. */
              many?: Integer | null,
              by: { [name: string]: Array<B> };
            } & B;
            // For readers of the file.
            export type B = `${"x"}` | unknown;
        "#;
        let a = json!({
            "description": "What it is.",
            "allOf": [{
                "type": "object",
                "properties": {
                    "kind": { "enum": ["a", "b"] },
                    "many": { "anyOf": [{ "type": "integer" }, { "type": "null" }], "description": "How many." },
                    "by": { "type": "object", "additionalProperties": { "type": "array", "items": { "$ref": "#/$defs/B" } } },
                },
                "required": ["kind", "by"],
            }, { "$ref": "#/$defs/B" }],
        });
        let b = json!({ "anyOf": [{ "type": "string" }, {}] });
        assert_eq!(types(&[text]), Ok(BTreeMap::from([("A".to_owned(), a), ("B".to_owned(), b)])));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, said) in [
            ("export type A = { a: string };export type A = null;", "`A` is declared twice"),
            ("export type A = (string);", "Some(Mark('(')) is no type"),
            ("export type A = Record<string, A>;", "Some(Mark('<')) stands where `;` should"),
            ("export type A = \"a;", "a comment or text has no end: \"a;"),
            ("export interface A {}", "`interface` stands where `type` should"),
            ("export type A = { a", "None stands where `:` should"),
            ("export type A = [string];", "a list has a meaning by position: make it a type with fields"),
        ] {
            assert_eq!(types(&[text]), Err(said.to_owned()), "{text}");
        }
    }
}
