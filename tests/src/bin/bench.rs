//! `bench [--quick]`: measures the engine, prints the tables, and after a full run writes them to `docs/benchmarks.md`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use apportion::Runner;
use apportion_tests::bench::go;
use apportion_tests::bench::growth;
use apportion_tests::bench::life::{self, Life};
use apportion_tests::bench::reference::Reference;
use apportion_tests::bench::report::{Page, Row, markdown};
use apportion_tests::bench::scale::{self, Size};
use apportion_tests::bench::side::{Component, Native, Side, verify};
use apportion_tests::bench::timing::{self, Effort, Stopwatch, Timing};
use apportion_tests::bench::workload::{Source, Workload, sources};
use clap::Parser;

/// The one that the runner uses.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the engine on all workloads: the native core, the component, and the reference where Go is installed.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Seconds instead of minutes, without the reference, and nothing is written.
    #[arg(long)]
    quick: bool,
    /// Only workloads whose name contains this; nothing is written.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Leave the reference out.
    #[arg(long)]
    no_reference: bool,
    /// The day that the page bears, for instance 2026-11-21; today when left out.
    #[arg(long)]
    date: Option<String>,
    /// Where the page goes.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Measure the workloads in this process and write the rows to a file as JSON.
    #[arg(long, value_name = "FILE", hide = true)]
    rows: Option<PathBuf>,
    /// Measure a large cluster in this process and print the numbers as JSON.
    #[arg(long, value_name = "ENGINE", hide = true)]
    scale: Option<String>,
    /// Nodes of the large cluster.
    #[arg(long, default_value_t = 5_000, hide = true)]
    nodes: u64,
    /// Claims on the large cluster.
    #[arg(long, default_value_t = 20_000, hide = true)]
    claims: u64,
    /// Write the YAML of a large cluster (gangs, trace or batch), which any version of the program can be given, to a file.
    #[arg(long, value_name = "CLUSTER", requires = "output")]
    write: Option<String>,
    /// Play a large cluster in this process and print the numbers as JSON.
    #[arg(long, value_name = "ENGINE", hide = true)]
    life: Option<String>,
    /// Which one.
    #[arg(long, default_value = "gangs", hide = true)]
    world: String,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(engine) = &arguments.scale {
        let measured = scale::measure(engine, Size { nodes: arguments.nodes, claims: arguments.claims })?;
        println!("{}", serde_json::to_string(&measured)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(engine) = &arguments.life {
        println!("{}", serde_json::to_string(&life::measure(engine, &arguments.world)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(world), Some(file)) = (&arguments.write, &arguments.output) {
        fs::write(file, life::yaml(world)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let effort = Effort { is_quick: arguments.quick };
    if let Some(file) = &arguments.rows {
        fs::write(file, serde_json::to_string(&rows(root, &arguments, effort)?)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page {
        date: arguments.date.clone().map_or_else(today, Ok)?,
        machine: machine(),
        is_quick: arguments.quick,
        rows: Vec::new(),
        scales: Vec::new(),
        lives: Vec::new(),
        go: None,
        curves: Vec::new(),
    };
    page.rows = rows_in_child(root)?;
    let is_partial = arguments.only.is_some();
    if !is_partial {
        page.scales = scales(effort)?;
        page.lives = lives()?;
        let has_go = !effort.is_quick && apportion_tests::reference::is_available();
        page.go = has_go.then(|| go::measure(root, !arguments.no_reference)).transpose()?;
        page.curves = growth::measure(effort)?;
    }

    let text = markdown(&page);
    let default = (!effort.is_quick && !is_partial).then(|| root.join("docs/benchmarks.md"));
    if let Some(file) = arguments.output.or(default) {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
        eprintln!("written to {}", file.display());
    }
    std::io::stdout().write_all(text.as_bytes())?;
    let wrong: usize = page.rows.iter().map(|row| row.wrong.len()).sum();
    let wrong_sizes = page.curves.iter().flat_map(|curve| &curve.points).filter(|point| point.wrong.is_some()).count();
    eprintln!("{} workloads, {} wrong outcomes", page.rows.len(), wrong + wrong_sizes);
    Ok(if wrong + wrong_sizes == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Criterion speaks on stdout; in a process of its own that becomes stderr, and stdout is left to the tables.
fn rows_in_child(root: &Path) -> Result<Vec<Row>> {
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder)?;
    let file = folder.join("rows.json");
    let mut child = Command::new(std::env::current_exe()?);
    child.args(std::env::args_os().skip(1)).arg("--rows").arg(&file).stdin(Stdio::null()).stdout(std::io::stderr());
    ensure!(child.status()?.success(), "measuring the workloads failed: see above");
    Ok(serde_json::from_str(&fs::read_to_string(&file)?)?)
}

fn rows(root: &Path, arguments: &Arguments, effort: Effort) -> Result<Vec<Row>> {
    let mut stopwatch = Stopwatch::new(&root.join("target/bench"), effort);
    let (runner, limited) = (Runner::new()?, Runner::timed()?);
    let mut reference = None;
    if arguments.no_reference || effort.is_quick {
        eprintln!("the reference is left out");
    } else if apportion_tests::reference::is_available() {
        reference = Some(Reference::start(root, effort)?);
    } else {
        eprintln!("Go is not installed: the reference is left out");
    }
    let is_wanted = |source: &Source| arguments.only.as_ref().is_none_or(|only| source.id.contains(only.as_str()));
    let mut rows = Vec::new();
    for source in sources().iter().filter(|source| is_wanted(source)) {
        let workload = source.expand()?;
        let mut row = Row { id: source.id.clone(), ..Row::default() };
        let mut native = Native::new(&workload)?;
        row.native = Some(measure(&mut native, &workload, &mut stopwatch, &mut row)?);
        drop(native);
        let mut component = Component::new(&runner, &workload)?;
        row.component = Some(measure(&mut component, &workload, &mut stopwatch, &mut row)?);
        let once = verify(&mut component, &workload)?.0.asking;
        let mut limited = Component::new(&limited, &workload)?;
        verify(&mut limited, &workload)?.1.unwrap_or_else(|why| row.wrong.push(format!("limited component: {why}")));
        row.limited = Some(timing::ratio(&mut limited, &mut component, &workload, once, effort)?);
        drop((component, limited));
        row.reference = reference.as_mut().map(|reference| reference.measure(&workload)).transpose()?;
        rows.push(row);
    }
    Ok(rows)
}

fn measure(side: &mut dyn Side, workload: &Workload, stopwatch: &mut Stopwatch, row: &mut Row) -> Result<Timing> {
    // The first time is cold: selectors are compiled.
    let (_, verdict) = verify(side, workload)?;
    let (done, _) = verify(side, workload)?;
    if let Err(why) = verdict {
        row.wrong.push(format!("{}: {why}", side.name()));
    }
    if side.name() == "native" {
        row.steps = done.steps;
    } else if row.steps != done.steps {
        row.wrong.push(format!("{}: {} steps, the native core takes {}", side.name(), done.steps, row.steps));
    }
    let once = done.asking;
    stopwatch.time(side, workload, once)
}

fn scales(effort: Effort) -> Result<Vec<(String, scale::Scale)>> {
    let sizes: &[Size] = if effort.is_quick {
        &[Size { nodes: 500, claims: 2_000 }]
    } else {
        &[Size { nodes: 5_000, claims: 20_000 }, Size { nodes: 500, claims: 2_000 }, Size { nodes: 50, claims: 200 }]
    };
    let mut scales = Vec::new();
    for size in sizes {
        for engine in ["native", "component"] {
            eprintln!("{} nodes through {engine}", size.nodes);
            scales.push((engine.to_owned(), scale::in_child(engine, *size)?));
        }
    }
    Ok(scales)
}

fn lives() -> Result<Vec<(String, Life)>> {
    let mut lives = Vec::new();
    for (world, ..) in life::WORLDS {
        for engine in ["native", "component", "limited component"] {
            eprintln!("{world} through {engine}");
            lives.push((engine.to_owned(), life::in_child(engine, world)?));
        }
    }
    Ok(lives)
}

/// What the numbers were measured on.
fn machine() -> Vec<String> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name))?.to_owned();
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let memory = memory.map_or_else(String::new, |kibibytes| format!(", {} GiB of memory", kibibytes >> 20));
    let output = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let mut facts = vec![format!("{processor}, {cores} cores{memory}; load {load} at the start of the run")];
    facts.push(format!("{} {}", std::env::consts::OS, output("uname", "-r").unwrap_or_default()).trim().to_owned());
    facts.extend(output("rustc", "--version"));
    facts
}

/// The day, by the clock of this machine.
fn today() -> Result<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    // Days to a date of the Gregorian calendar, with years that start in March.
    let days = i64::try_from(seconds / 86_400)? + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Ok(format!("{year}-{month:02}-{day:02}"))
}
