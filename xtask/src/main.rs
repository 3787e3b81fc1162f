//! `cargo xtask`: one command for everything that cargo alone cannot build.

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::{
    Workspace, alerts, bench, bump, check, component, dist, docs, e2e, fuzz, jobs, module, npm, python, record,
    requirements, sbom, site, size, suites, web,
};

/// Builds, tests and installs Apportion. Every command builds what it needs and skips what is up to date.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the program and show what it does with examples/gpu-sharing
    Demo,
    /// Run every test of every language; the last line is `N passed, N failed`
    Test,
    /// Install the program `apportion` where cargo puts programs
    Install,
    /// Run the conformance cases, the recorded ones or those under the given paths
    #[command(after_help = "Example: cargo xtask conformance --engine component tests/conformance/allocator")]
    Conformance {
        /// Ask only this engine, or these, compared with the first; by default all, without `go` where Go is missing
        #[arg(long, value_parser = ["native", "component", "npm", "go"])]
        engine: Vec<String>,
        /// Files or folders with cases
        paths: Vec<String>,
    },
    /// Compare the native core with the reference on generated cases; needs Go
    #[command(after_help = "Example: cargo xtask differential --cases 5000 --seed 1000")]
    Differential {
        /// What the comparing program understands: --cases N, --seed S, --release 1.36, --only scenarios, --resume; or
        /// --only histories first, --cases N, --seed S, --release 1.36, which compares with real control planes; or
        /// --only places first, which compares where Pods are placed with kube-scheduler's own plugins
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Record what the reference, real API servers and real control planes answer; needs Go
    #[command(after_help = "Example: cargo xtask record scenarios --release 1.36")]
    Record {
        /// What the recording program understands: scenarios, selectors or units, --release R, --seeds N; or validation or histories,
        /// --version 1.36
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure the engine on all workloads and write docs/benchmarks.md; `--quick` takes seconds and writes nothing
    #[command(after_help = "Example: cargo xtask bench --only nodes-5000")]
    Bench {
        /// What the measuring program understands: --quick, --only TEXT, --no-reference, --date DAY, --output FILE
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Fuzz the readers, selectors and validation; needs a C++ compiler
    #[command(after_help = "Example: cargo xtask fuzz yaml --seconds 900")]
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Which targets; all without any
        #[arg(value_parser = fuzz::TARGETS)]
        targets: Vec<String>,
    },
    /// Test the controller in a cluster with a real control plane; needs Go, and minutes for the first build
    #[command(after_help = "Example: cargo xtask e2e templates")]
    E2e {
        /// Parts of the names of tests; all without any
        names: Vec<String>,
    },
    /// Test the alert rules and the dashboard with promtool; needs Go, and minutes for the first build
    Alerts,
    /// Build the component: target/wasm/apportion.wasm
    Component,
    /// Build the plain module and put it into the packages for Go and Python
    Module,
    /// Build the Python package: target/python/wheel
    Wheel,
    /// Build the npm package: npm/dist
    Npm,
    /// Build the web page: web/dist
    Web,
    /// Build the site with pages, reference and playground: target/site
    Site,
    /// Build the web page and serve it on localhost
    Serve {
        /// Serve the whole site, with the pages and the reference
        #[arg(long)]
        site: bool,
    },
    /// Check format, lints and documentation, with warnings as errors
    Check,
    /// Check links, anchors and samples of all pages, or of those under the given paths
    #[command(after_help = "Example: cargo xtask docs README.md docs/operations.md")]
    Docs {
        /// Pages or folders whose samples are run; links are checked everywhere
        paths: Vec<String>,
    },
    /// Write docs/requirements.md: which tests show which requirement
    Requirements,
    /// Make the archive of a release for one platform, try it, and write checksums, krew manifest and Homebrew formula: target/dist
    #[command(after_help = "Example: cargo xtask dist --address https://example.com/releases/v0.1.0")]
    Dist {
        /// The platform, for instance x86_64-unknown-linux-musl; by default this one
        #[arg(long)]
        target: Option<String>,
        /// Pack this program instead of building one
        #[arg(long)]
        program: Option<PathBuf>,
        /// Where the archives will be; by default target/dist, so that what is written can be tried here
        #[arg(long)]
        address: Option<String>,
        /// Make no archive, but checksums and manifests of those in target/dist
        #[arg(long)]
        manifests_only: bool,
    },
    /// Write a new version into every file that has it
    #[command(after_help = "Example: cargo xtask bump 0.2.0")]
    Bump {
        /// Three numbers
        version: String,
    },
    /// Write what the program is made of, in the format of CycloneDX: target/sbom/apportion.cdx.json
    Sbom,
    /// Print the sizes of the component and of the npm package's module, raw and after gzip
    Size,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(task: Task) -> Result<ExitCode> {
    let workspace = &Workspace::find()?;
    match task {
        Task::Demo => jobs::demo(workspace)?,
        Task::Test => return Ok(if suites::run(workspace)? { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
        Task::Install => jobs::install(workspace)?,
        Task::Conformance { engine, paths } => {
            return Ok(code(jobs::conformance(workspace, &engine, &paths)?));
        }
        Task::Differential { arguments } if arguments.starts_with(&["--only", "histories"].map(str::to_owned)) => {
            return Ok(code(record::compare_histories(workspace, arguments.get(2..).unwrap_or_default())?));
        }
        Task::Differential { arguments } if arguments.starts_with(&["--only", "places"].map(str::to_owned)) => {
            return Ok(code(record::compare_places(workspace, arguments.get(2..).unwrap_or_default())?));
        }
        Task::Differential { arguments } => return Ok(code(jobs::differential(workspace, &arguments)?)),
        Task::Record { arguments } if arguments.first().is_some_and(|what| what == "validation") => {
            record::validation(workspace, arguments.get(1..).unwrap_or_default())?;
        }
        Task::Record { arguments } if arguments.first().is_some_and(|what| what == "histories") => {
            record::histories(workspace, arguments.get(1..).unwrap_or_default())?;
        }
        Task::Record { arguments } => return Ok(code(jobs::record(workspace, &arguments)?)),
        Task::Bench { arguments } => return Ok(code(bench::bench(workspace, &arguments)?)),
        Task::Fuzz { seconds, targets } => fuzz::fuzz(workspace, &targets, seconds)?,
        Task::E2e { names } => e2e::e2e(workspace, &names)?,
        Task::Alerts => alerts::check(workspace)?,
        Task::Component => println!("{}", component::build(workspace)?.path.display()),
        Task::Module => println!("{}", module::build(workspace)?.display()),
        Task::Wheel => println!("{}", python::wheel(workspace)?.display()),
        Task::Npm => println!("{}", npm::publishable(workspace)?.display()),
        Task::Web => println!("{}", web::build(workspace)?.display()),
        Task::Site => println!("{}", site::build(workspace)?.display()),
        Task::Serve { site } => web::serve(workspace, site)?,
        Task::Check => check::run_all(workspace)?,
        Task::Docs { paths } => {
            docs::check(workspace)?;
            return Ok(if jobs::samples(workspace, &paths)? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Task::Requirements => println!("{}", requirements::write(workspace)?),
        Task::Dist { target, program, address, manifests_only } => {
            let wish = dist::Wish { target, program, address, manifests_only };
            println!("{}", dist::dist(workspace, &wish)?.display());
        }
        Task::Bump { version } => bump::bump(workspace, &version)?,
        Task::Sbom => println!("{}", sbom::write(workspace)?.display()),
        Task::Size => print!("{}", size::report(workspace)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// The exit code of a program that ran, as ours.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
