//! A trace as its files have it: nodes, and Pods with the times at which they come and end.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;

use anyhow::{Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::cli::files;

/// Most devices of a ResourceSlice, and so of a node.
const MOST_GPUS: u64 = 128;

/// Amounts beyond this are taken for a mistake; all below are exact.
const MOST_AMOUNT: f64 = 9e15;

/// Times beyond this many seconds, 300 years, are taken for a mistake.
const LATEST: f64 = 1e10;

/// A node. Columns are those of `cluster-trace-gpu-v2023`; `name` and `gpus` are ours.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(super) struct Node {
    #[serde(alias = "sn")]
    pub(super) name: String,
    #[serde(deserialize_with = "whole")]
    pub(super) cpu_milli: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) memory_mib: u64,
    #[serde(alias = "gpu", default, deserialize_with = "whole_or_none")]
    pub(super) gpus: u64,
    #[serde(default)]
    pub(super) model: String,
}

/// A row of Pods. Columns are those of `cluster-trace-gpu-v2023`; `arrival`, `duration`, `gpus` and `models` are ours.
#[derive(Deserialize)]
struct PodRow {
    name: String,
    #[serde(deserialize_with = "whole")]
    cpu_milli: u64,
    #[serde(deserialize_with = "whole")]
    memory_mib: u64,
    #[serde(alias = "num_gpu", default, deserialize_with = "whole_or_none")]
    gpus: u64,
    #[serde(default)]
    gpu_milli: Option<f64>,
    #[serde(alias = "gpu_spec", default)]
    models: Option<String>,
    #[serde(alias = "creation_time")]
    arrival: f64,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    scheduled_time: Option<f64>,
    #[serde(default)]
    deletion_time: Option<f64>,
}

/// Columns that are read, and such of the published trace that are not needed.
const NODE_COLUMNS: [&str; 7] = ["name", "sn", "cpu_milli", "memory_mib", "gpus", "gpu", "model"];
const POD_COLUMNS: [&str; 15] = [
    "name",
    "cpu_milli",
    "memory_mib",
    "gpus",
    "num_gpu",
    "gpu_milli",
    "models",
    "gpu_spec",
    "arrival",
    "creation_time",
    "duration",
    "scheduled_time",
    "deletion_time",
    "qos",
    "pod_phase",
];

/// A whole number, also one that was written as `1000.0`.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    whole_of(f64::deserialize(from)?)
}

/// The same; 0 where there is none.
fn whole_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Option::<f64>::deserialize(from)?.map_or(Ok(0), whole_of)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range that is looked at")]
fn whole_of<E: serde::de::Error>(number: f64) -> Result<u64, E> {
    match number.fract() == 0.0 && (0.0..=MOST_AMOUNT).contains(&number) {
        true => Ok(number as u64),
        false => Err(E::custom(format!("{number} is no whole number from 0 to {MOST_AMOUNT}"))),
    }
}

/// What a Pod asks for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Shape {
    pub(super) cpu_milli: u64,
    pub(super) memory_mib: u64,
    pub(super) gpus: u64,
    /// Of each GPU, in thousandths.
    pub(super) gpu_milli: u64,
    /// Models that will do; empty for any.
    pub(super) models: Vec<String>,
}

/// A Pod that comes and ends.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// Milliseconds since the trace begins.
    pub(super) arrival: u64,
    /// Milliseconds that it runs once it is placed; `None` where it does not end.
    pub(super) duration: Option<u64>,
}

/// A trace, and what could not be read of it.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) nodes: Vec<Node>,
    /// In the order of their arrival, then in that of the file.
    pub(super) pods: Vec<Pod>,
    /// Rows that are left out, with file, line and why.
    pub(super) problems: Vec<String>,
}

impl Trace {
    /// Reads the two files, CSV with a head or lines of JSON.
    pub(super) fn read(nodes: &str, pods: &str) -> Result<Self> {
        let mut trace = Self::default();
        let rows = rows::<Node>(nodes, &NODE_COLUMNS, &mut trace.problems)?;
        let mut names: BTreeSet<String> = BTreeSet::new();
        for (place, node) in rows {
            let is_new = names.insert(node.name.clone());
            match check_node(&node).or_else(|| (!is_new).then(|| format!("there is a node `{}` already", node.name))) {
                None => trace.nodes.push(node),
                Some(problem) => trace.problems.push(format!("{place}: {problem}")),
            }
        }
        let rows = self::rows(pods, &POD_COLUMNS, &mut trace.problems)?;
        for (place, row) in rows {
            match pod(row) {
                Ok(pod) => trace.pods.push(pod),
                Err(problem) => trace.problems.push(format!("{place}: {problem}")),
            }
        }
        if trace.nodes.is_empty() {
            bail!("`{nodes}` holds no node{}", first(&trace.problems));
        }
        if trace.pods.is_empty() {
            bail!("`{pods}` holds no Pod{}", first(&trace.problems));
        }
        trace.pods.sort_by_key(|pod| pod.arrival);
        // The trace begins with its first Pod, whatever its times count from.
        let first = trace.pods.first().map_or(0, |pod| pod.arrival);
        trace.pods.iter_mut().for_each(|pod| pod.arrival = pod.arrival.saturating_sub(first));
        Ok(trace)
    }
}

fn first(problems: &[String]) -> String {
    problems.first().map(|problem| format!(": {problem}")).unwrap_or_default()
}

/// Rows with their places; those that cannot be read are problems, and columns that nobody reads.
fn rows<T: DeserializeOwned>(path: &str, columns: &[&str], problems: &mut Vec<String>) -> Result<Vec<(String, T)>> {
    let sources = files::read(&[path.to_owned()], files::Network::Refused)?;
    let Some(source) = sources.first() else { bail!("`{path}` cannot be read") };
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    let is_json =
        matches!(ending, Some("ndjson" | "jsonl" | "json")) || source.text.trim_ascii_start().starts_with(b"{");
    let text: &[u8] = source.text.as_ref();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for unread in head(text, is_json).into_iter().filter(|column| !columns.contains(&column.as_str())) {
        problems.push(format!("{}: column `{unread}` is not read; columns are {}", source.name, columns.join(", ")));
    }
    let read = if is_json { json_rows(text) } else { csv_rows(text) };
    let mut rows = Vec::new();
    for (line, row) in read {
        let place = format!("{}:{line}", source.name);
        match row {
            Ok(row) => rows.push((place, row)),
            Err(problem) => problems.push(format!("{place}: {problem}")),
        }
    }
    Ok(rows)
}

/// Names of the columns; of lines of JSON those of the first line.
fn head(text: &[u8], is_json: bool) -> Vec<String> {
    if is_json {
        let first = text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        let row: Option<Map<String, Value>> = serde_json::from_slice(first).ok();
        return row.into_iter().flatten().map(|(name, _)| name).collect();
    }
    let mut reader = csv::ReaderBuilder::new().delimiter(separator(text)).trim(csv::Trim::All).from_reader(text);
    reader.headers().map(|head| head.iter().map(str::to_owned).collect()).unwrap_or_default()
}

/// A row, or why there is none.
type Row<T> = (u64, Result<T, String>);

fn csv_rows<T: DeserializeOwned>(text: &[u8]) -> Vec<Row<T>> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator(text)).trim(csv::Trim::All).from_reader(text);
    let head = match reader.headers() {
        Ok(head) => head.clone(),
        Err(error) => return vec![(1, Err(error.to_string()))],
    };
    let mut record = csv::StringRecord::new();
    let mut rows = Vec::new();
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(false) => return rows,
            Ok(true) => {
                let line = record.position().map_or(line, csv::Position::line);
                rows.push((line, record.deserialize(Some(&head)).map_err(|error| words(&error, &head))));
            }
            Err(error) => {
                let is_over = matches!(error.kind(), csv::ErrorKind::Io(_));
                rows.push((line, Err(words(&error, &head))));
                if is_over {
                    return rows;
                }
            }
        }
    }
}

/// What stands between the columns: that which the head has most of, as spreadsheets of some countries write `;`.
fn separator(text: &[u8]) -> u8 {
    let head = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| head.iter().filter(|byte| **byte == separator).count();
    // The last one of equals is taken.
    [b'\t', b';', b','].into_iter().max_by_key(|separator| count(*separator)).unwrap_or(b',')
}

/// What is wrong with a row, with the name of the column.
fn words(error: &csv::Error, head: &csv::StringRecord) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| head.get(usize::try_from(field).ok()?));
            let problem = match err.kind() {
                csv::DeserializeErrorKind::ParseFloat(_) => "this is no number".to_owned(),
                kind => kind.to_string(),
            };
            column.map_or_else(|| problem.clone(), |column| format!("`{column}`: {problem}"))
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} values, the head has {expected_len} columns")
        }
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

fn json_rows<T: DeserializeOwned>(text: impl BufRead) -> Vec<Row<T>> {
    let lines = (1_u64..).zip(text.split(b'\n').map_while(Result::ok));
    let is_written = |(_, line): &(u64, Vec<u8>)| !line.trim_ascii().is_empty();
    lines
        .filter(is_written)
        .map(|(number, line)| (number, serde_json::from_slice(&line).map_err(|error| error.to_string())))
        .collect()
}

fn check_node(node: &Node) -> Option<String> {
    (node.gpus > MOST_GPUS).then(|| format!("the node has {} GPUs, a ResourceSlice holds {MOST_GPUS}", node.gpus))
}

fn pod(row: PodRow) -> Result<Pod, String> {
    let PodRow {
        name,
        cpu_milli,
        memory_mib,
        gpus,
        gpu_milli,
        models,
        arrival,
        duration,
        scheduled_time,
        deletion_time,
    } = row;
    let gpu_milli = gpu_milli.map_or(Ok(1000), whole_of::<serde_json::Error>).map_err(|error| error.to_string())?;
    if gpus > MOST_GPUS {
        return Err(format!("the Pod asks for {gpus} GPUs, a node has {MOST_GPUS} at most"));
    }
    if gpus > 0 && !(1..=1000).contains(&gpu_milli) {
        return Err(format!("`gpu_milli` is {gpu_milli}: it is between 1 and 1000"));
    }
    let models = models.unwrap_or_default();
    let models = models.split('|').map(str::trim).filter(|model| !model.is_empty() && gpus > 0);
    let shape = Shape {
        cpu_milli,
        memory_mib,
        gpus,
        gpu_milli: if gpus > 0 { gpu_milli } else { 0 },
        models: models.map(str::to_owned).collect(),
    };
    // A Pod that was never scheduled was there until it was deleted.
    let ran = deletion_time.map(|end| end - scheduled_time.unwrap_or(arrival));
    let duration = duration.or(ran).map(|seconds| millis("duration", seconds)).transpose()?;
    Ok(Pod { name, shape, arrival: millis("arrival", arrival)?, duration })
}

/// Seconds as milliseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range that is looked at")]
fn millis(what: &str, seconds: f64) -> Result<u64, String> {
    match (0.0..=LATEST).contains(&seconds) {
        true => Ok((seconds * 1000.0).round() as u64),
        false => Err(format!("the {what} is {seconds} s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PODS: &str = "\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-0000,12000,16384,1,1000,,LS,Running,0,12537496,0
openb-pod-0001,6000,12288,1,460,V100M16|V100M32,LS,Running,427061,12902960,427061.0
openb-pod-0002,6000,x,1,460,,LS,Running,1,2,1
openb-pod-0003,6000,12288,1
openb-pod-0004,6000,12288,1,0,,LS,Running,1,2,1
openb-pod-0005,6000,12288,0,0,,BE,Failed,5,7,
openb-pod-0006,6000,12288,0,0,,BE,Pending,-1,7,
";

    #[test]
    fn the_columns_of_the_published_trace_are_read() {
        let read: Vec<(u64, Result<Pod, String>)> =
            csv_rows::<PodRow>(PODS.as_bytes()).into_iter().map(|(line, row)| (line, row.and_then(pod))).collect();
        let lines: Vec<(u64, bool)> = read.iter().map(|(line, pod)| (*line, pod.is_ok())).collect();
        assert_eq!(lines, [(2, true), (3, true), (4, false), (5, false), (6, false), (7, true), (8, false)]);
        let shared = read[1].1.as_ref().unwrap();
        assert_eq!((shared.shape.gpus, shared.shape.gpu_milli, shared.arrival), (1, 460, 427_061_000));
        assert_eq!(shared.shape.models, ["V100M16", "V100M32"]);
        assert_eq!(shared.duration, Some((12_902_960 - 427_061) * 1000));
        assert_eq!(read[5].1.as_ref().unwrap().duration, Some(2000));
        let problem = |index: usize| read[index].1.as_ref().err().unwrap().as_str();
        assert_eq!(problem(2), "`memory_mib`: this is no number");
        assert_eq!(problem(3), "the row has 4 values, the head has 11 columns");
        assert_eq!(problem(4), "`gpu_milli` is 0: it is between 1 and 1000");
        assert_eq!(problem(6), "the arrival is -1 s");
    }

    #[test]
    fn our_own_form_is_csv_or_lines_of_json() {
        let csv = "name,arrival,duration,cpu_milli,memory_mib,gpus\na,1.5,,1000,1024,2\n";
        let json = "{\"name\":\"a\",\"arrival\":1.5,\"cpu_milli\":1000,\"memory_mib\":1024,\"gpus\":2}\n\n";
        let of = |rows: Vec<Row<PodRow>>| rows.into_iter().map(|(_, row)| row.and_then(pod)).collect::<Vec<_>>();
        let read = of(csv_rows(csv.as_bytes()));
        assert_eq!(read, of(json_rows(json.as_bytes())));
        assert_eq!(read, of(csv_rows(csv.replace(',', ";").as_bytes())));
        assert_eq!(read, of(csv_rows(csv.replace(',', "\t").as_bytes())));
        let only = read[0].as_ref().unwrap();
        assert_eq!((only.arrival, only.duration, only.shape.gpu_milli), (1500, None, 1000));
        let nodes = csv_rows::<Node>("sn,cpu_milli,memory_mib,gpu,model\nn,96000,393216,8,A100\nm,1,1,0,\n".as_bytes());
        assert_eq!(nodes[0].1.as_ref().map(|node| (node.gpus, node.model.as_str())), Ok((8, "A100")));
        assert_eq!(nodes[1].1.as_ref().map(|node| node.model.as_str()), Ok(""));
    }
}
