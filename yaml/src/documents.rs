//! All documents of a file: JSON streams, YAML documents, lists taken apart.

use std::ops::Range;

use serde_json::Value;

use crate::build::Budget;
use crate::event;
use crate::json;
use crate::list;
use crate::positions::Positions;
use crate::problem::{Problem, ProblemCode, Problems};
use crate::resolve::{self, Names};
use crate::split;
use crate::tree::Tree;

/// What a reading may cost. The counts are of the whole input, not of one document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Size of the input in bytes. Above 4 GiB it counts as 4 GiB.
    pub max_bytes: usize,
    /// Values of all documents together; keys count too.
    pub max_nodes: usize,
    /// Levels of nested mappings and lists in one document.
    pub max_depth: usize,
    /// Documents, where the items of a list are documents.
    pub max_documents: usize,
    /// Size of one document in bytes, unless it is a list. The API server takes 3 MiB as JSON without spaces.
    pub max_object_bytes: usize,
    /// Values that aliases and merge keys may unfold to, all documents together.
    pub max_alias_nodes: usize,
    /// Problems that are kept. Of further ones only the number is told.
    pub max_problems: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 256 << 20,
            max_nodes: 20_000_000,
            max_depth: 100,
            max_documents: 100_000,
            max_object_bytes: 6 << 20,
            max_alias_nodes: 100_000,
            max_problems: 1_000,
        }
    }
}

/// Bytes of text that a value takes at least, on average.
const MIN_NODE_BYTES: usize = 3;

/// Values that any input may have, however densely they are packed.
const ALWAYS_ALLOWED_NODES: usize = 100_000;

/// Text that aliases may repeat, in bytes.
const MAX_ALIAS_BYTES: usize = 16 << 20;

/// What was read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The documents that could be read, in their order. Empty documents are left out, and a list (a kind that ends
    /// with `List` and has `items`) is replaced by its items.
    pub documents: Vec<Document>,
    /// What is worth telling, in the order of the text.
    pub problems: Vec<Problem>,
}

/// One object of the input.
#[derive(Clone, Debug)]
pub struct Document {
    /// The document as the JSON that `kubectl` makes of it. Not necessarily an object.
    pub value: Value,
    /// Where its fields stand.
    pub positions: Positions,
    /// The bytes from its first value to the end of its last.
    pub span: Range<usize>,
    /// Whether `kubectl` refuses it: it holds a problem of severity error, and what could not be read is null
    /// or left out.
    pub is_refused: bool,
}

/// Reads all documents of a file, YAML or JSON, as `kubectl apply -f` would.
///
/// Never fails: what cannot be read is a problem, and everything else is returned.
pub fn read(text: &[u8], limits: &Limits) -> Reading {
    let mut documents = Vec::new();
    let problems = read_each(text, limits, |document| documents.push(document));
    Reading { documents, problems }
}

/// [`read`]s documents one at a time: what has been handled need not be kept until all are read. Returns the problems.
///
/// The positions of a document answer when this function has returned, not before.
pub fn read_each(text: &[u8], limits: &Limits, emit: impl FnMut(Document)) -> Vec<Problem> {
    read_whole(text, limits, emit).problems.finish(text.len())
}

/// What a reading has found and cost besides its documents.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) problems: Problems,
    pub(crate) documents: usize,
    /// What is left.
    pub(crate) budget: Budget,
}

/// Reads all of a text.
pub(crate) fn read_whole(text: &[u8], limits: &Limits, mut emit: impl FnMut(Document)) -> Outcome {
    let mut reader = Reader::new(text, text.len(), limits, &mut emit);
    reader.read();
    reader.finish()
}

/// Reads the YAML documents in some bytes of a text that begin and end at separators, within the limits of the whole.
pub(crate) fn read_between(
    text: &[u8],
    bytes: &Range<usize>,
    limits: &Limits,
    mut emit: impl FnMut(Document),
) -> Outcome {
    let all = text.len();
    let mut reader = Reader::new(text.get(..bytes.end).unwrap_or(text), all, limits, &mut emit);
    let from = if bytes.start == 0 { start(text) } else { bytes.start };
    reader.read_yaml(from, None);
    reader.finish()
}

/// What all documents of a text of so many bytes may cost together.
pub(crate) fn budget(bytes: usize, limits: &Limits) -> Budget {
    // A manifest has some ten bytes a value. Text that is packed more densely is none, and takes the most room.
    let max_nodes = limits.max_nodes.min((bytes / MIN_NODE_BYTES).max(ALWAYS_ALLOWED_NODES));
    Budget {
        nodes: max_nodes,
        max_nodes,
        max_depth: limits.max_depth,
        alias_nodes: limits.max_alias_nodes,
        max_alias_nodes: limits.max_alias_nodes,
        alias_bytes: MAX_ALIAS_BYTES,
        has_run_out: false,
    }
}

/// Where documents go.
struct Sink<'e> {
    emit: &'e mut dyn FnMut(Document),
    count: usize,
    max: usize,
    is_full: bool,
}

impl Sink<'_> {
    /// Passes a document on. An empty one is nothing.
    fn add(&mut self, document: Document, problems: &mut Problems) {
        if document.value.is_null() || self.is_full {
            return;
        }
        if self.count >= self.max {
            self.is_full = true;
            let message = format!("the input has more than {} documents", self.max);
            problems.push(Problem::new(ProblemCode::Limit, document.span, message));
            return;
        }
        self.count += 1;
        (self.emit)(document);
    }
}

struct Reader<'t, 'l, 'e> {
    text: &'t [u8],
    limits: &'l Limits,
    budget: Budget,
    sink: Sink<'e>,
    problems: Problems,
    /// Field names of all documents, each kept once.
    names: Names,
    /// Whether a limit of the whole input was reached.
    is_full: bool,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Where a text begins.
pub(crate) fn start(text: &[u8]) -> usize {
    if text.starts_with(BOM) { BOM.len() } else { 0 }
}

impl<'t, 'l, 'e> Reader<'t, 'l, 'e> {
    /// A reader of `text`, which is all or the beginning of an input of `all` bytes.
    fn new(text: &'t [u8], all: usize, limits: &'l Limits, emit: &'e mut dyn FnMut(Document)) -> Self {
        Self {
            text,
            limits,
            budget: budget(all, limits),
            sink: Sink { emit, count: 0, max: limits.max_documents, is_full: false },
            problems: Problems::new(limits.max_problems),
            names: Names::default(),
            is_full: false,
        }
    }

    fn finish(self) -> Outcome {
        let mut budget = self.budget;
        budget.has_run_out |= self.sink.is_full;
        Outcome { problems: self.problems, documents: self.sink.count, budget }
    }

    fn read(&mut self) {
        // Offsets are kept in 32 bits.
        let max_bytes = self.limits.max_bytes.min(u32::MAX as usize);
        if self.text.len() > max_bytes {
            let message = format!("the input has {} bytes, the limit is {max_bytes}", self.text.len());
            self.add_problem(Problem::new(ProblemCode::Limit, 0..0, message));
            return;
        }
        if self.text.starts_with(b"\xFF\xFE") || self.text.starts_with(b"\xFE\xFF") {
            let problem = Problem::new(ProblemCode::Encoding, 0..2, "the input is UTF-16, not UTF-8");
            self.add_problem(problem.with_hint("save it as UTF-8"));
            return;
        }
        let from = start(self.text);
        let first = json::skip_space(self.text, from);
        match self.text.get(first) {
            Some(b'{') => self.read_json(first),
            _ => self.read_yaml(from, None),
        }
    }

    /// Reads JSON values one behind the other. At the first that is none, goes on as YAML, as kubectl does.
    fn read_json(&mut self, from: usize) {
        let mut at = from;
        let mut count = 0;
        while at < self.text.len() && !self.is_full {
            match json::parse(self.text, at, &mut self.budget) {
                Ok((tree, end)) => {
                    self.add_json_tree(&tree);
                    count += 1;
                    at = json::skip_space(self.text, end);
                }
                Err(problem) if problem.code == ProblemCode::Limit => {
                    self.add_problem(problem);
                    return self.read_yaml(split::next_separator(self.text, at), None);
                }
                // From the third value on kubectl takes the file for JSON for good. What is a YAML separator is
                // taken for one nevertheless: nothing else can be meant.
                Err(problem) if count > 1 && !self.text.get(at..).unwrap_or_default().starts_with(b"---") => {
                    self.add_problem(problem);
                    return self.read_yaml(split::next_separator(self.text, at), None);
                }
                Err(problem) => return self.read_yaml(at, Some(problem)),
            }
        }
    }

    /// Reads the documents between `---` lines. `json` says why the first is no JSON.
    fn read_yaml(&mut self, from: usize, json: Option<Problem>) {
        let mut json = json;
        let text = self.text;
        for chunk in split::chunks(text, from) {
            if self.is_full {
                return;
            }
            let has_problem = chunk.problem.is_some();
            if let Some(problem) = chunk.problem {
                self.add_problem(problem);
            }
            let mut bytes = chunk.bytes;
            if text.get(bytes.clone()).is_some_and(|chunk| chunk.starts_with(BOM)) {
                bytes.start += BOM.len();
            }
            let json = json.take();
            match utf8(text, &bytes) {
                Ok(chunk) => self.read_chunk(chunk, bytes.start, json, has_problem),
                Err(problem) => self.add_problem(problem),
            }
        }
    }

    fn read_chunk(&mut self, chunk: &str, base: usize, json: Option<Problem>, is_behind_bad_separator: bool) {
        if let Some((at, character)) = chunk.char_indices().find(|(_, character)| is_forbidden(*character)) {
            let message = format!("the control character U+{:04X} cannot stand in YAML", u32::from(character));
            let start = base + at;
            self.add_problem(Problem::new(ProblemCode::Encoding, start..start + character.len_utf8(), message));
            return;
        }
        let mut parsed = event::parse(chunk, base, &mut self.budget, self.limits.max_problems);
        if parsed.tree.is_none() {
            // What begins like JSON is better explained by the JSON parser.
            let looks_like_json = chunk.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'));
            if let Some(json) = json
                && looks_like_json
                && let Some(last) = parsed.problems.kept.last_mut()
                && last.code == ProblemCode::Syntax
            {
                *last = json;
            }
            // The bad separator explains what follows it.
            if is_behind_bad_separator {
                parsed.problems.kept.retain(|problem| problem.code != ProblemCode::Syntax);
            }
        }
        match parsed.tree {
            Some(tree) => self.add_tree(&tree, parsed.problems),
            None => self.add_problems(parsed.problems),
        }
    }

    /// Adds the document that a JSON tree is. Of a list, as `kubectl get -o json` writes it, item by item.
    fn add_json_tree(&mut self, tree: &Tree<'_>) {
        let mut problems = Problems::new(self.limits.max_problems);
        let Some(list) = list::of_json(tree) else { return self.add_tree(tree, problems) };
        let (sink, mut more) = (&mut self.sink, Problems::new(self.limits.max_problems));
        resolve::resolve_items(
            tree,
            &list,
            &mut self.names,
            &mut self.budget,
            &mut problems,
            |mut value, positions, span| {
                list.complete(&mut value);
                sink.add(Document { value, positions, span: span.range(), is_refused: false }, &mut more);
            },
        );
        self.is_full |= self.sink.is_full;
        self.add_problems(problems);
        self.add_problems(more);
    }

    /// Adds the document that a tree is, with the problems met in parsing it.
    fn add_tree(&mut self, tree: &Tree<'_>, mut problems: Problems) {
        if let Some(problem) = self.too_large(tree) {
            problems.push(problem);
            return self.add_problems(problems);
        }
        let resolved = resolve::resolve(tree, &mut self.names, &mut self.budget, &mut problems);
        let is_refused = problems.errors > 0;
        self.add_problems(problems);
        if let Some((value, positions)) = resolved {
            self.add_document(value, positions, is_refused);
        }
    }

    /// What is said of a document that is too large for an object and no list either.
    fn too_large(&self, tree: &Tree<'_>) -> Option<Problem> {
        let span = tree.node(tree.root)?.span.range();
        let most = self.limits.max_object_bytes;
        if span.len() <= most || list::has_items(tree, tree.root) {
            return None;
        }
        let message = format!("the document has {} bytes, the limit for one object is {most}", span.len());
        let problem = Problem::new(ProblemCode::Limit, span.start..span.start, message);
        Some(problem.with_hint("the API server takes 3 MiB; split it"))
    }

    /// Adds a document, or the items of a list. kubectl takes lists inside lists apart too.
    fn add_document(&mut self, value: Value, positions: Positions, is_refused: bool) {
        let mut waiting = vec![(value, positions)];
        while let Some((mut value, positions)) = waiting.pop() {
            if let Some(items) = take_items(&mut value) {
                let nodes = positions.list_under("items");
                let items = items.into_iter().zip(nodes).map(|(item, node)| (item, positions.at(node)));
                let behind = waiting.len();
                waiting.extend(items);
                if let Some(items) = waiting.get_mut(behind..) {
                    items.reverse();
                }
                continue;
            }
            let span = positions.find("").map_or(0..0, |root| root.value);
            self.sink.add(Document { value, positions, span, is_refused }, &mut self.problems);
            self.is_full |= self.sink.is_full;
        }
    }

    fn add_problems(&mut self, problems: Problems) {
        // A limit of the whole input, not of one document.
        self.is_full |= self.budget.nodes == 0 && problems.errors > 0;
        self.problems.absorb(problems);
    }

    fn add_problem(&mut self, problem: Problem) {
        if problem.code == ProblemCode::Limit && self.budget.nodes == 0 {
            self.is_full = true;
        }
        self.problems.push(problem);
    }
}

fn utf8<'t>(text: &'t [u8], bytes: &Range<usize>) -> Result<&'t str, Problem> {
    std::str::from_utf8(text.get(bytes.clone()).unwrap_or_default()).map_err(|error| {
        let start = bytes.start + error.valid_up_to();
        let end = start + error.error_len().unwrap_or(1);
        let problem = Problem::new(ProblemCode::Encoding, start..end, "the text is not UTF-8 here");
        problem.with_hint("save the file as UTF-8")
    })
}

/// Characters that kubectl's YAML reader refuses anywhere.
fn is_forbidden(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}'
        | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// The items of a list, each with the list's version and kind where it has none of its own.
fn take_items(value: &mut Value) -> Option<Vec<Value>> {
    let list = value.as_object_mut()?;
    let kind = list.get("kind")?.as_str()?.strip_suffix("List")?.to_owned();
    let version = list.get("apiVersion").cloned();
    let mut items = match list.get_mut("items")? {
        Value::Array(items) => std::mem::take(items),
        Value::Null => Vec::new(),
        _ => return None,
    };
    for item in &mut items {
        list::complete(item, &kind, version.as_ref());
    }
    Some(items)
}
