//! A changed document in its old text: what did not change stands as it stood, comments included.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::documents::{Document, Limits, Reading, read, start};
use crate::order::in_order;
use crate::positions::{Positions, Shape};
use crate::tree::NodeId;
use crate::write::{scalar, write};

/// A text with changed documents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// The whole text.
    pub text: Vec<u8>,
    /// Indices of documents that had to be written anew: their comments and layout are lost.
    pub anew: Vec<usize>,
}

/// Writes changed documents into the text that they were read from. `values` has one value per document of the
/// reading, in order; equal ones are left alone.
///
/// Fields that keep their value, move into a new field of the same object, move out of a removed one, or only change
/// their name keep their lines and the comments above and behind them. Where the text does not allow that (flow style,
/// JSON, anchors), the document is written anew. Reading the result gives the values: this is checked, and `None` is
/// the answer where it cannot be had.
pub fn rewrite(text: &[u8], reading: &Reading, values: &[Value]) -> Option<Rewritten> {
    let changed: Vec<(usize, &Document, &Value)> = reading
        .documents
        .iter()
        .zip(values)
        .enumerate()
        .filter(|(_, (document, value))| document.value != **value)
        .map(|(index, (document, value))| (index, document, value))
        .collect();
    if changed.is_empty() {
        return Some(Rewritten { text: text.to_vec(), anew: Vec::new() });
    }
    let in_place =
        |document: &Document, value: &Value| Rewriter::new(text, &document.positions)?.document(document, value);
    let mut edits = Vec::new();
    let mut anew = Vec::new();
    for (index, document, value) in &changed {
        edits.push(in_place(document, value).unwrap_or_else(|| {
            anew.push(*index);
            written_anew(text, document, value)
        }));
    }
    let result = apply(text, edits)?;
    if gives(&result, values) {
        return Some(Rewritten { text: result, anew });
    }
    let edits = changed.iter().map(|(_, document, value)| written_anew(text, document, value)).collect();
    let result = apply(text, edits)?;
    let anew = changed.iter().map(|(index, _, _)| *index).collect();
    gives(&result, values).then_some(Rewritten { text: result, anew })
}

fn gives(text: &[u8], values: &[Value]) -> bool {
    let reading = read(text, &Limits::default());
    reading.documents.len() == values.len()
        && reading.documents.iter().zip(values).all(|(document, value)| document.value == *value)
}

type Edit = (Range<usize>, String);

/// The text with ranges replaced that do not overlap.
fn apply(text: &[u8], edits: Vec<Edit>) -> Option<Vec<u8>> {
    let mut result = Vec::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in in_order(edits, |(range, _)| range.start) {
        result.extend_from_slice(text.get(at..range.start)?);
        result.extend_from_slice(new.as_bytes());
        at = range.end;
    }
    result.extend_from_slice(text.get(at..)?);
    Some(result)
}

/// A document of its own as YAML; one in a list, in JSON or in flow style as JSON.
fn written_anew(text: &[u8], document: &Document, value: &Value) -> Edit {
    let span = document.span.clone();
    let line_start = text.get(..span.start).and_then(|before| before.iter().rposition(|byte| *byte == b'\n'));
    let is_at_margin = line_start.map_or(start(text), |newline| newline + 1) == span.start;
    let is_flow = matches!(text.get(span.start), Some(b'{' | b'['));
    if is_at_margin && !is_flow {
        let written = write(value);
        let ends_line = text.get(..span.end).is_some_and(|before| before.ends_with(b"\n"));
        return (span, if ends_line { written } else { written.trim_end().to_owned() });
    }
    let mut bytes = text.get(start(text)..).unwrap_or_default().iter();
    let is_json = bytes.find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b'{' | b'['));
    (span, if is_json { format!("{value:#}") } else { scalar(value) })
}

struct Rewriter<'t> {
    text: &'t str,
    /// Offsets of the lines' first bytes, and one behind the last line.
    lines: Vec<usize>,
    positions: &'t Positions,
}

/// An entry of a block mapping.
struct Entry<'t> {
    name: &'t str,
    key: Range<usize>,
    value: NodeId,
    /// Lines above it that belong to it: comments and blanks.
    lead: Range<usize>,
    /// Its own lines.
    body: Range<usize>,
}

/// Where the value of a field of the new object comes from.
enum Origin<'o> {
    /// The field of this name, which kept it or had another name.
    Field(&'o str),
    /// Fields of the old object that stand in a new field now.
    Wrapped(Vec<&'o str>),
    /// A field of a removed field.
    Unwrapped(&'o str),
    Nowhere,
}

type Output = Vec<String>;

impl<'t> Rewriter<'t> {
    fn new(text: &'t [u8], positions: &'t Positions) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let mut lines: Vec<usize> = std::iter::once(start(text.as_bytes())).chain(newlines).collect();
        if !text.ends_with('\n') {
            lines.push(text.len());
        }
        Some(Self { text, lines, positions })
    }

    fn document(&self, document: &Document, new: &Value) -> Option<Edit> {
        let root = self.positions.root();
        let (Value::Object(old), Value::Object(new)) = (&document.value, new) else { return None };
        let first = self.line_of(self.positions.span(root)?.start);
        let mut out = Output::new();
        let last = self.mapping(root, first, old, new, 0, &mut out)?;
        let column = self.column(self.entries(root, first)?.first()?.key.start)?;
        self.put_prefix(first, column, 0, &mut out)?;
        let range = *self.lines.get(first)?..*self.lines.get(last)?;
        let mut text = out.join("\n");
        if self.text.get(range.clone())?.ends_with('\n') {
            text.push('\n');
        }
        Some((range, text))
    }

    /// Writes a block mapping, whose first lead may begin at `from`; returns the line behind it.
    fn mapping(
        &self,
        node: NodeId,
        from: usize,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        shift: isize,
        out: &mut Output,
    ) -> Option<usize> {
        let entries = self.entries(node, from)?;
        // Collecting would be compiled with a sort.
        let mut origins: BTreeMap<&str, Origin<'_>> = BTreeMap::new();
        origins.extend(new.keys().map(|key| (key.as_str(), origin(key, old, new))));
        let by_name = |name: &str| entries.iter().find(|entry| entry.name == name);
        let column = self.column(entries.first()?.key.start)?;
        for entry in &entries {
            // What is written where this entry stood: itself, what it moved into, or what moved out of it.
            for (name, origin) in &origins {
                let value = new.get(*name)?;
                match origin {
                    Origin::Field(from) if *from == entry.name => {
                        self.field(entry, name, old.get(*from)?, value, shift, out)?;
                    }
                    Origin::Wrapped(names) if first_of(&entries, names) == Some(entry.name) => {
                        out.push(format!("{}{}:", spaces(column, shift)?, scalar(&Value::from(*name))));
                        for entry in entries.iter().filter(|entry| names.contains(&entry.name)) {
                            let (old, new) = (old.get(entry.name)?, value.get(entry.name)?);
                            self.field(entry, entry.name, old, new, shift + 2, out)?;
                        }
                    }
                    Origin::Field(_) | Origin::Wrapped(_) | Origin::Unwrapped(_) | Origin::Nowhere => {}
                }
            }
            if new.contains_key(entry.name) {
                continue;
            }
            let from_here =
                origins.iter().any(|(_, origin)| matches!(origin, Origin::Unwrapped(from) if *from == entry.name));
            let is_gone = !origins.values().any(|origin| match origin {
                Origin::Field(from) | Origin::Unwrapped(from) => *from == entry.name,
                Origin::Wrapped(names) => names.contains(&entry.name),
                Origin::Nowhere => false,
            });
            if is_gone {
                self.copy(&entry.lead, shift, out)?;
            }
            if from_here {
                self.unwrapped(entry, column, &origins, old.get(entry.name)?.as_object()?, new, shift, out)?;
            }
        }
        for (name, _) in origins.iter().filter(|(_, origin)| matches!(origin, Origin::Nowhere)) {
            let mut field = Map::new();
            field.insert((*name).to_owned(), new.get(*name)?.clone());
            let written = write(&Value::Object(field));
            for line in written.lines() {
                out.push(format!("{}{line}", spaces(column, shift)?));
            }
        }
        // INVARIANT: every field that has an origin was found among the entries.
        let is_whole = origins.values().all(|origin| match origin {
            Origin::Field(from) | Origin::Unwrapped(from) => by_name(from).is_some(),
            Origin::Wrapped(names) => names.iter().all(|name| by_name(name).is_some()),
            Origin::Nowhere => true,
        });
        is_whole.then_some(entries.last()?.body.end)
    }

    /// Writes the fields of a removed field's value at the place of the field.
    #[expect(clippy::too_many_arguments, reason = "one step of `mapping`, split off for its length")]
    fn unwrapped(
        &self,
        entry: &Entry<'_>,
        column: usize,
        origins: &BTreeMap<&str, Origin<'_>>,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        shift: isize,
        out: &mut Output,
    ) -> Option<()> {
        self.copy(&entry.lead, shift, out)?;
        let is_meant = |name: &str| matches!(origins.get(name), Some(Origin::Unwrapped(from)) if *from == entry.name);
        if entry.body.len() == 1 && self.is_flow(entry.value) {
            let behind = self.positions.span(entry.value)?.end..self.line_end(entry.body.start)?;
            let fields = new.iter().filter(|(name, _)| is_meant(name));
            let mut unwrapped = Map::new();
            unwrapped.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
            let written = write(&Value::Object(unwrapped));
            let mut lines = written.lines();
            out.push(format!("{}{}{}", spaces(column, shift)?, lines.next()?, self.text.get(behind)?));
            for line in lines {
                out.push(format!("{}{line}", spaces(column, shift)?));
            }
            return Some(());
        }
        let inner = self.entries(entry.value, entry.body.start + 1)?;
        let inner_column = self.column(inner.first()?.key.start)?;
        let remark = self.text.get(entry.key.end..self.line_end(entry.body.start)?)?.trim_start_matches([':', ' ']);
        if !remark.is_empty() {
            out.push(format!("{}{remark}", spaces(column, shift)?));
        }
        let shift = shift + isize::try_from(column).ok()? - isize::try_from(inner_column).ok()?;
        for field in &inner {
            if is_meant(field.name) {
                self.field(field, field.name, old.get(field.name)?, new.get(field.name)?, shift, out)?;
            }
        }
        Some(())
    }

    /// Writes one field under a name that may be new.
    fn field(
        &self,
        entry: &Entry<'_>,
        name: &str,
        old: &Value,
        new: &Value,
        shift: isize,
        out: &mut Output,
    ) -> Option<()> {
        self.copy(&entry.lead, shift, out)?;
        let at = out.len();
        let column = self.column(entry.key.start)?;
        let value = self.positions.span(entry.value)?;
        let key_line = entry.body.start;
        let is_below = self.line_of(value.start) > key_line;
        match (old, new) {
            _ if old == new => self.copy(&entry.body, shift, out)?,
            (Value::Object(old), Value::Object(new)) if is_below && !new.is_empty() => {
                self.copy(&(key_line..key_line + 1), shift, out)?;
                self.mapping(entry.value, key_line + 1, old, new, shift, out)?;
            }
            (Value::Array(old), Value::Array(new)) if is_below && old.len() == new.len() => {
                self.copy(&(key_line..key_line + 1), shift, out)?;
                self.list(entry.value, key_line + 1, old, new, shift, out)?;
            }
            _ if entry.body.len() != 1 => return None,
            // What stood on one line, in flow style or not, comes in lines of its own.
            (_, Value::Object(_) | Value::Array(_)) => {
                let before = self.text.get(*self.lines.get(key_line)?..value.start)?.trim_end();
                let behind = self.text.get(value.end..self.line_end(key_line)?)?;
                out.push(shifted(&blanked(&format!("{before}{behind}"), column), shift)?);
                for line in write(new).lines() {
                    out.push(format!("{}{line}", spaces(column + 2, shift)?));
                }
            }
            _ => {
                let line = *self.lines.get(key_line)?;
                let end = self.line_end(key_line)?;
                let changed =
                    format!("{}{}{}", self.text.get(line..value.start)?, scalar(new), self.text.get(value.end..end)?);
                out.push(shifted(&blanked(&changed, column), shift)?);
            }
        }
        // The key, where it is another one.
        if name != entry.name {
            let line = out.get_mut(at)?;
            let start = column.checked_add_signed(shift)?;
            let end = start + entry.key.len();
            line.replace_range(line.get(start..end).map(|_| start..end)?, &scalar(&Value::from(name)));
        }
        // Nothing but spaces stands before the key now.
        let line = out.get_mut(at)?;
        *line = blanked(line, column.checked_add_signed(shift)?);
        Some(())
    }

    /// Writes a block list with as many items as before.
    fn list(
        &self,
        node: NodeId,
        from: usize,
        old: &[Value],
        new: &[Value],
        shift: isize,
        out: &mut Output,
    ) -> Option<()> {
        let Shape::List(items) = self.positions.shape_of(node) else { return None };
        let mut from = from;
        for ((item, old), new) in items.iter().zip(old).zip(new) {
            let first = self.line_of(self.positions.span(*item)?.start);
            let last = self.last_line(*item)? + 1;
            if old == new {
                self.copy(&(from..last), shift, out)?;
            } else if first + 1 == last && (is_scalar(old) || self.is_flow(*item)) {
                self.copy(&(from..first), shift, out)?;
                self.item(*item, new, shift, out)?;
            } else {
                let (Value::Object(old), Value::Object(new)) = (old, new) else { return None };
                self.copy(&(from..first), shift, out)?;
                let mut lines = Output::new();
                self.mapping(*item, first, old, new, shift, &mut lines)?;
                let column = self.column(self.entries(*item, first)?.first()?.key.start)?;
                self.put_prefix(first, column, shift, &mut lines)?;
                out.append(&mut lines);
            }
            from = last;
        }
        Some(())
    }

    /// Writes another value in the place of a scalar on a line of its own.
    fn item(&self, node: NodeId, new: &Value, shift: isize, out: &mut Output) -> Option<()> {
        let span = self.positions.span(node)?;
        let line = self.line_of(span.start);
        let before = self.text.get(*self.lines.get(line)?..span.start)?;
        let behind = self.text.get(span.end..self.line_end(line)?)?;
        if before.trim() != "-" {
            return None;
        }
        let written = write(new);
        let (first, rest) = written.split_once('\n')?;
        out.push(shifted(&format!("{before}{first}{behind}"), shift)?);
        for line in rest.lines() {
            out.push(format!("{}{line}", spaces(before.len(), shift)?));
        }
        Some(())
    }

    /// Puts what stood before the first key of a mapping (`- `) before what is its first field now.
    fn put_prefix(&self, line: usize, column: usize, shift: isize, out: &mut Output) -> Option<()> {
        let start = *self.lines.get(line)?;
        let prefix = self.text.get(start..start + column)?;
        if !prefix.bytes().all(|byte| matches!(byte, b' ' | b'-')) || prefix.matches('-').count() > 1 {
            return None;
        }
        let prefix = shifted(prefix, shift)?;
        let first = out.iter_mut().find(|line| !is_comment(line))?;
        let rest = first.get(prefix.len()..)?.to_owned();
        *first = format!("{prefix}{rest}");
        Some(())
    }

    /// The entries of a block mapping.
    fn entries(&self, node: NodeId, from: usize) -> Option<Vec<Entry<'t>>> {
        let Shape::Mapping(fields) = self.positions.shape_of(node) else { return None };
        let fields = fields.in_written_order();
        let mut entries: Vec<Entry<'t>> = Vec::with_capacity(fields.len());
        let mut column = None;
        let mut from = from;
        for field in fields {
            let key = field.key.range();
            let line = self.line_of(key.start);
            let start = *self.lines.get(line)?;
            let before = self.text.get(start..key.start)?;
            let is_first = entries.is_empty();
            let is_block = before.bytes().all(|byte| byte == b' ' || (is_first && byte == b'-'));
            let is_aligned = *column.get_or_insert(key.start - start) == key.start - start;
            let is_new = entries.iter().all(|entry| entry.name != &*field.name);
            if !is_block || !is_aligned || !is_new || line < from {
                return None;
            }
            let last = self.last_line(field.value)?.max(line);
            entries.push(Entry { name: &field.name, key, value: field.value, lead: from..line, body: line..last + 1 });
            from = last + 1;
        }
        Some(entries)
    }

    /// The last line with a part of the value.
    fn last_line(&self, node: NodeId) -> Option<usize> {
        let mut last = 0;
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let span = self.positions.span(node)?;
            let children: Vec<NodeId> = match self.positions.shape_of(node) {
                Shape::List(items) => items.to_vec(),
                Shape::Mapping(fields) => fields.iter().map(|field| field.value).collect(),
                Shape::Leaf | Shape::Alias(_) => Vec::new(),
            };
            if children.is_empty() || self.is_flow(node) {
                let written = self.text.get(span.clone())?.trim_end();
                last = last.max(self.line_of((span.start + written.len()).saturating_sub(1).max(span.start)));
            }
            if let Shape::Mapping(fields) = self.positions.shape_of(node) {
                last = fields.iter().map(|field| self.line_of(field.key.range().start)).fold(last, usize::max);
            }
            open.extend(children);
        }
        Some(last)
    }

    fn is_flow(&self, node: NodeId) -> bool {
        let start = self.positions.span(node).and_then(|span| self.text.as_bytes().get(span.start));
        matches!(start, Some(b'{' | b'['))
    }

    fn copy(&self, lines: &Range<usize>, shift: isize, out: &mut Output) -> Option<()> {
        for line in lines.clone() {
            let text = self.text.get(*self.lines.get(line)?..self.line_end(line)?)?;
            out.push(shifted(text, shift)?);
        }
        Some(())
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    fn line_end(&self, line: usize) -> Option<usize> {
        let end = *self.lines.get(line + 1)?;
        let has_newline = self.text.get(..end)?.ends_with('\n');
        Some(if has_newline { end - 1 } else { end })
    }

    fn column(&self, offset: usize) -> Option<usize> {
        Some(offset - self.lines.get(self.line_of(offset))?)
    }
}

fn origin<'o>(key: &'o str, old: &'o Map<String, Value>, new: &'o Map<String, Value>) -> Origin<'o> {
    if old.contains_key(key) {
        return Origin::Field(key);
    }
    let Some(value) = new.get(key) else { return Origin::Nowhere };
    let mut removed = old.iter().filter(|(name, _)| !new.contains_key(*name));
    if let Some((name, _)) = removed.clone().find(|(_, old)| *old == value) {
        return Origin::Field(name);
    }
    if let Some(fields) = value.as_object().filter(|fields| !fields.is_empty())
        && fields.keys().all(|name| old.contains_key(name) && !new.contains_key(name))
    {
        return Origin::Wrapped(fields.keys().map(String::as_str).collect());
    }
    match removed.find(|(_, old)| old.get(key).is_some()) {
        Some((name, _)) => Origin::Unwrapped(name),
        None => Origin::Nowhere,
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// The one of the names that is written first.
fn first_of<'t>(entries: &[Entry<'t>], names: &[&str]) -> Option<&'t str> {
    entries.iter().map(|entry| entry.name).find(|name| names.contains(name))
}

fn spaces(column: usize, shift: isize) -> Option<String> {
    Some(" ".repeat(column.checked_add_signed(shift)?))
}

/// A line moved to the right, or to the left as far as there are spaces.
fn shifted(line: &str, shift: isize) -> Option<String> {
    if line.trim().is_empty() {
        return Some(line.to_owned());
    }
    match usize::try_from(shift) {
        Ok(right) => Some(format!("{}{line}", " ".repeat(right))),
        Err(_) => {
            let left = shift.unsigned_abs().min(line.len() - line.trim_start_matches(' ').len());
            line.get(left..).map(str::to_owned)
        }
    }
}

/// The line with spaces in its first columns.
fn blanked(line: &str, columns: usize) -> String {
    format!("{}{}", " ".repeat(columns), line.get(columns..).unwrap_or_default())
}

fn is_comment(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests;
