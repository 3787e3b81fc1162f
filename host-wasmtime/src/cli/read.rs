//! From arguments to objects: files with as many threads as there are processors, and live clusters.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use anyhow::{Result, bail};
use apportion_yaml::{Limits, Part, join, parts, read_part};
use serde_json::Value;

use super::arguments::ClusterArguments;
use super::files::{self, Network, Source};
use super::input::{Document, Input};
use super::kustomize::mark_patches;
use super::live;
use super::note::Note;
use super::progress::Progress;
use super::stage;
use crate::api_server::Resource;

/// Bytes from which on a text is read in parts.
const PART: usize = 512 << 10;

/// Objects that are looked at together, by number and by bytes of text; more would only take room.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

/// Most threads that look at what one thread reads: reading takes about a third of the time of looking.
const MOST_LOOKS: usize = 3;

/// Reads these kinds of the cluster, where that is asked for, and then the files.
pub(crate) fn gather(files: &[String], cluster: &ClusterArguments, kinds: &[Resource]) -> Result<Input> {
    stage::read();
    let load =
        || cluster.held.as_ref().map_or_else(|| load(files, cluster.network()), |held| Ok(of_sources(held.clone())));
    let has_texts = cluster.held.as_ref().map_or(!files.is_empty(), |held| !held.is_empty());
    match (cluster.from_cluster, has_texts) {
        (false, false) => bail!("no manifests are given: name files or folders, or use `--from-cluster`"),
        (false, true) => load(),
        (true, false) => live::read(cluster, kinds),
        (true, true) => {
            let mut input = live::read(cluster, kinds)?;
            input.add(load()?);
            Ok(input)
        }
    }
}

/// Reads the files.
pub(crate) fn load(paths: &[String], network: Network) -> Result<Input> {
    Ok(of_sources(files::read(paths, network)?))
}

/// All that sources hold.
pub(crate) fn of_sources(sources: Vec<Source>) -> Input {
    read(sources, || |objects: Vec<Value>, _: &[String]| vec![(); objects.len()]).0
}

/// Some bytes of a source that can be read without the others.
struct Task {
    source: usize,
    bytes: Range<usize>,
}

/// What a task came to.
struct Done<T> {
    part: Part,
    refused: usize,
    taken: Taken<T>,
}

/// Usable documents, and what was said of each.
struct Taken<T> {
    documents: Vec<Document>,
    texts: Vec<String>,
    said: Vec<T>,
}

impl<T> Taken<T> {
    const fn nothing() -> Self {
        Self { documents: Vec::new(), texts: Vec::new(), said: Vec::new() }
    }

    fn add(&mut self, source: usize, batch: Vec<apportion_yaml::Document>, look: &mut impl Look<T>) {
        let mut objects = Vec::with_capacity(batch.len());
        let before = self.texts.len();
        for apportion_yaml::Document { value, positions, .. } in batch {
            self.documents.push(Document::of_object(source, &value, positions));
            self.texts.push(value.to_string());
            objects.push(value);
        }
        self.said.extend(look(objects, self.texts.get(before..).unwrap_or_default()));
    }

    /// What was taken of later documents comes behind.
    fn append(&mut self, later: Self) {
        self.documents.extend(later.documents);
        self.texts.extend(later.texts);
        self.said.extend(later.said);
    }
}

/// Who gets the objects of usable documents and their texts, some at a time, and says something of each.
pub(crate) trait Look<T>: FnMut(Vec<Value>, &[String]) -> Vec<T> + Send {}

impl<T, L: FnMut(Vec<Value>, &[String]) -> Vec<T> + Send> Look<T> for L {}

/// How far a source is.
#[derive(Default)]
struct State {
    open: AtomicUsize,
    documents: AtomicUsize,
}

/// Reads all sources. Each thread makes itself a `look`; what is said comes in the order of the documents.
pub(crate) fn read<T: Send, L: Look<T>>(mut sources: Vec<Source>, make: impl Fn() -> L + Sync) -> (Input, Vec<T>) {
    mark_patches(&mut sources);
    let limits = Limits::default();
    let tasks: Vec<Task> = sources
        .iter()
        .enumerate()
        .flat_map(|(source, text)| {
            parts(&text.text, &limits, PART).into_iter().map(move |bytes| Task { source, bytes })
        })
        .collect();
    let done = work(&sources, &tasks, &limits, &make);
    let nothing = Input {
        sources: Vec::new(),
        documents: Vec::new(),
        texts: Vec::new(),
        problems: Vec::new(),
        refused: 0,
        skipped: Vec::new(),
        is_cut: false,
    };
    let mut all = (nothing, Vec::new());
    let mut done = tasks.iter().zip(done).peekable();
    for (index, source) in sources.iter().enumerate() {
        let mut of_source = Vec::new();
        while let Some((_, done)) = done.next_if(|(task, _)| task.source == index) {
            of_source.push(done);
        }
        if stage::is_interrupted() {
            let read = of_source.iter().take_while(|done| done.is_some()).count();
            all.0.is_cut |= read < of_source.len();
            of_source.truncate(read);
            add(&mut all, index, source, &limits, of_source);
        } else if !add(&mut all, index, source, &limits, of_source) {
            // Beyond a limit: what is still within it, only reading from the start tells.
            let whole = Task { source: index, bytes: 0..source.text.len() };
            let whole = do_task(&whole, &source.text, &limits, &mut [make()]);
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
        done.into_iter().map(|done| (done.part, (done.refused, done.taken))).unzip();
    let Some(problems) = join(&source.text, limits, parts) else { return false };
    let all = || rest.iter().flat_map(|(_, taken)| &taken.documents);
    let has_refused = rest.iter().any(|(refused, _)| *refused > 0);
    let has_none = || !has_refused && all().next().is_some() && !all().any(Document::is_manifest);
    if source.is_patch || (source.is_found && has_none()) {
        input.skipped.push(source.name.clone());
        return true;
    }
    input.problems.extend(problems.into_iter().map(|problem| Note::of_problem(index, problem)));
    for (refused, taken) in rest {
        input.documents.extend(taken.documents);
        input.texts.extend(taken.texts);
        input.refused = input.refused.saturating_add(refused);
        said.extend(taken.said);
    }
    true
}

/// Does the tasks; what is `None` belongs to a source with more documents than allowed.
fn work<T: Send, L: Look<T>>(
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
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let workers = processors.min(tasks.len());
    let looks_each = processors.checked_div(workers).unwrap_or(1).min(MOST_LOOKS);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut looks: Vec<L> = (0..looks_each).map(|_| make()).collect();
                while !stage::is_interrupted() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(work), Some(slot)) = (tasks.get(index), done.get(index)) else { return };
                    let (Some(source), Some(state)) = (sources.get(work.source), states.get(work.source)) else {
                        return;
                    };
                    if state.documents.load(Ordering::Relaxed) <= limits.max_documents {
                        let done = do_task(work, &source.text, limits, &mut looks);
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

/// Reads some bytes; what is large and cannot be cut is read by one thread and looked at by others.
fn do_task<T: Send>(task: &Task, text: &[u8], limits: &Limits, looks: &mut [impl Look<T>]) -> Done<T> {
    let Task { source, bytes } = task;
    let mut taken = Taken::nothing();
    let (part, refused) = match looks {
        [look, ..] if bytes.len() < PART.saturating_mul(2) => {
            in_batches(text, bytes, limits, |batch| taken.add(*source, batch, look))
        }
        looks => {
            let (read, batches) = side_by_side(task, text, limits, looks);
            batches.into_iter().for_each(|batch| taken.append(batch));
            read
        }
    };
    Done { part, refused, taken }
}

/// Reads some bytes in one thread while each of the `looks` has another; returns how many documents are unusable, and the batches.
fn side_by_side<T: Send>(
    task: &Task,
    text: &[u8],
    limits: &Limits,
    looks: &mut [impl Look<T>],
) -> ((Part, usize), Vec<Taken<T>>) {
    let (give, take) = mpsc::sync_channel(looks.len());
    // It goes with the last of those who take, so that nobody is left who gives and waits.
    let take = Arc::new(Mutex::new(take));
    let mut number = 0_usize;
    let (read, mut batches) = thread::scope(|scope| {
        let takers: Vec<_> = looks
            .iter_mut()
            .map(|look| {
                let take = Arc::clone(&take);
                scope.spawn(move || {
                    let next = || take.lock().ok()?.recv().ok();
                    let mut batches: Vec<(usize, Taken<T>)> = Vec::new();
                    while let Some((number, batch)) = next() {
                        let mut taken = Taken::nothing();
                        taken.add(task.source, batch, look);
                        batches.push((number, taken));
                    }
                    batches
                })
            })
            .collect();
        drop(take);
        let read = in_batches(text, &task.bytes, limits, move |batch| {
            drop(give.send((number, batch)));
            number = number.saturating_add(1);
        });
        let join = |taker: thread::ScopedJoinHandle<'_, _>| taker.join().unwrap_or_else(|panic| resume_unwind(panic));
        (read, takers.into_iter().flat_map(join).collect::<Vec<_>>())
    });
    batches.sort_unstable_by_key(|(number, _)| *number);
    (read, batches.into_iter().map(|(_, taken)| taken).collect())
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
