//! From texts to objects, with as many threads as there are processors.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use apportion_yaml::{Limits, Part, join, parts, read_part};
use serde_json::Value;

use super::files::Source;
use super::input::{Document, Input};
use super::note::Note;
use super::progress::Progress;

/// Bytes from which on a text is read in parts.
const PART: usize = 512 << 10;

/// Objects that are looked at together, by number and by bytes of text; more would only take room.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

/// Batches that wait between reading and looking.
const WAITING: usize = 1;

/// Some bytes of a source that can be read without the others.
struct Task {
    source: usize,
    bytes: Range<usize>,
}

/// What a task came to.
struct Done<T> {
    part: Part,
    documents: Vec<Document>,
    texts: Vec<String>,
    refused: usize,
    said: Vec<T>,
}

/// How far a source is.
#[derive(Default)]
struct State {
    open: AtomicUsize,
    documents: AtomicUsize,
}

/// Reads all sources. Each thread makes itself a `look`, which gets the objects of the usable documents and their texts, some at
/// a time, and says something of each; what it says comes in the order of the documents.
pub(crate) fn read<T: Send, L: FnMut(Vec<Value>, &[String]) -> Vec<T> + Send>(
    sources: Vec<Source>,
    make: impl Fn() -> L + Sync,
) -> (Input, Vec<T>) {
    let limits = Limits::default();
    let tasks: Vec<Task> = sources
        .iter()
        .enumerate()
        .flat_map(|(source, text)| {
            parts(&text.text, &limits, PART).into_iter().map(move |bytes| Task { source, bytes })
        })
        .collect();
    let done = work(&sources, &tasks, &limits, &make);
    let nothing =
        Input { sources: Vec::new(), documents: Vec::new(), texts: Vec::new(), problems: Vec::new(), refused: 0 };
    let mut all = (nothing, Vec::new());
    let mut done = tasks.iter().zip(done).peekable();
    for (index, source) in sources.iter().enumerate() {
        let mut of_source = Vec::new();
        while let Some((_, done)) = done.next_if(|(task, _)| task.source == index) {
            of_source.push(done);
        }
        if !add(&mut all, index, source, &limits, of_source) {
            // Beyond a limit: what is still within it, only reading from the start tells.
            let whole = task(index, &source.text, &(0..source.text.len()), &limits, &mut make());
            add(&mut all, index, source, &limits, vec![Some(whole)]);
        }
    }
    all.0.sources = sources;
    all
}

/// Takes over what was read of a source; false when its parts together go beyond a limit.
fn add<T>(
    (input, said): &mut (Input, Vec<T>),
    index: usize,
    source: &Source,
    limits: &Limits,
    done: Vec<Option<Done<T>>>,
) -> bool {
    let Some(done) = done.into_iter().collect::<Option<Vec<Done<T>>>>() else { return false };
    let (parts, rest): (Vec<Part>, Vec<_>) =
        done.into_iter().map(|done| (done.part, (done.documents, done.texts, done.refused, done.said))).unzip();
    let Some(problems) = join(&source.text, limits, parts) else { return false };
    input.problems.extend(problems.into_iter().map(|problem| Note::of_problem(index, problem)));
    for (documents, texts, refused, more) in rest {
        input.documents.extend(documents);
        input.texts.extend(texts);
        input.refused = input.refused.saturating_add(refused);
        said.extend(more);
    }
    true
}

/// Does the tasks; what is `None` belongs to a source with more documents than allowed.
fn work<T: Send, L: FnMut(Vec<Value>, &[String]) -> Vec<T> + Send>(
    sources: &[Source],
    tasks: &[Task],
    limits: &Limits,
    make: &(impl Fn() -> L + Sync),
) -> Vec<Option<Done<T>>> {
    let states: Vec<State> = sources.iter().map(|_| State::default()).collect();
    for state in tasks.iter().filter_map(|task| states.get(task.source)) {
        state.open.fetch_add(1, Ordering::Relaxed);
    }
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Done<T>>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let progress = Progress::new(sources.len(), "files");
    let workers = thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut look = make();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(work), Some(slot)) = (tasks.get(index), done.get(index)) else { return };
                    let (Some(source), Some(state)) = (sources.get(work.source), states.get(work.source)) else {
                        return;
                    };
                    if state.documents.load(Ordering::Relaxed) <= limits.max_documents {
                        let done = task(work.source, &source.text, &work.bytes, limits, &mut look);
                        state.documents.fetch_add(done.part.documents(), Ordering::Relaxed);
                        if let Ok(mut slot) = slot.lock() {
                            *slot = Some(done);
                        }
                    }
                    if state.open.fetch_sub(1, Ordering::Relaxed) == 1 {
                        progress.step();
                    }
                }
            });
        }
    });
    done.into_iter().map(|slot| slot.into_inner().unwrap_or_default()).collect()
}

/// Reads some bytes; what is large and cannot be cut is read and looked at by two threads.
fn task<T: Send>(
    source: usize,
    text: &[u8],
    bytes: &Range<usize>,
    limits: &Limits,
    look: &mut (impl FnMut(Vec<Value>, &[String]) -> Vec<T> + Send),
) -> Done<T> {
    let (mut documents, mut texts, mut said) = (Vec::new(), Vec::new(), Vec::new());
    let mut take_in = |batch: Vec<apportion_yaml::Document>| {
        let mut objects = Vec::with_capacity(batch.len());
        let before = texts.len();
        for apportion_yaml::Document { value, positions, .. } in batch {
            documents.push(Document::of_object(source, &value, positions));
            texts.push(value.to_string());
            objects.push(value);
        }
        said.extend(look(objects, texts.get(before..).unwrap_or_default()));
    };
    let (part, refused) = if bytes.len() < PART.saturating_mul(2) {
        in_batches(text, bytes, limits, take_in)
    } else {
        let (give, take) = mpsc::sync_channel(WAITING);
        thread::scope(|scope| {
            scope.spawn(move || take.into_iter().for_each(&mut take_in));
            // The other side takes until this one has no more to give.
            in_batches(text, bytes, limits, move |batch| drop(give.send(batch)))
        })
    };
    Done { part, documents, texts, refused, said }
}

/// Reads some bytes; returns how many documents are unusable.
fn in_batches(
    text: &[u8],
    bytes: &Range<usize>,
    limits: &Limits,
    mut emit: impl FnMut(Vec<apportion_yaml::Document>),
) -> (Part, usize) {
    let (mut batch, mut size, mut refused) = (Vec::new(), 0_usize, 0_usize);
    let part = read_part(text, bytes, limits, |document| {
        if document.is_refused {
            refused = refused.saturating_add(1);
            return;
        }
        size = size.saturating_add(document.span.len());
        batch.push(document);
        if batch.len() >= BATCH || size >= BATCH_BYTES {
            emit(std::mem::take(&mut batch));
            size = 0;
        }
    });
    emit(batch);
    (part, refused)
}
