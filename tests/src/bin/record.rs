//! `record scenarios|selectors|units [--release R] [--seeds N]`: asks the reference about seeds and writes `tests/conformance/seeds`, or about
//! its building blocks and writes `tests/conformance/units` and `tests/objects`.

use std::fs;
use std::path::Path;

use anyhow::Result;
use apportion_tests::reference::{self, Release};
use apportion_tests::seeds::{Kind, Recording};
use clap::Parser;

/// Records what the reference answers to the cases that seeds make.
#[derive(Parser)]
struct Arguments {
    /// What the seeds make, or the building blocks, of the newest release alone; all three where it is left out.
    #[arg(value_parser = ["scenarios", "selectors", "units"])]
    only: Option<String>,
    /// Only this release: 1.36, 1.37 (the newest patch) or a patch such as 1.36.2.
    #[arg(long)]
    release: Option<String>,
    /// How many seeds, from 1 on.
    #[arg(long, default_value_t = 11_000)]
    seeds: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let folder = root.join("tests/conformance/seeds");
    fs::create_dir_all(&folder)?;
    let given = arguments.release.as_deref().map(|text| {
        Release::parse(text).ok_or_else(|| anyhow::anyhow!("there is no release `{text}`: known are 1.36 and 1.37"))
    });
    let releases = given.transpose()?.map_or_else(|| vec![Release::V1_36, Release::V1_37], |release| vec![release]);
    if arguments.only.as_deref().is_none_or(|only| only == "units") {
        reference::units(root, Release::V1_37)?;
    }
    for release in releases {
        for kind in Kind::ALL {
            if arguments.only.as_deref().is_none_or(|only| only == kind.name()) {
                let recording = Recording::record(root, kind, release, 1..=arguments.seeds)?;
                let file = folder.join(recording.file_name());
                fs::write(&file, recording.to_string())?;
                println!("{}: {} of {} seeds", file.display(), recording.lines.len(), arguments.seeds);
            }
        }
    }
    Ok(())
}
