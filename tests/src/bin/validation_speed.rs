//! `validation_speed [--rounds N]`: how many manifests a second are validated, natively and through the component.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use apportion::{HostLimits, NativeValidator, Runner, Validate};
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::Submission;
use apportion_tests::corpus;
use clap::Parser;
use serde_json::Value;

/// Validates the objects of the recorded cases again and again.
#[derive(Parser)]
struct Arguments {
    /// How often each object is validated.
    #[arg(long, default_value_t = 10)]
    rounds: usize,
}

/// Manifests in one call.
const BATCH: usize = 256;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/validation");
    let cases = corpus::read(&root)?;
    let objects: Vec<Value> =
        cases.into_iter().filter_map(|mut case| Some(case.content.get_mut("object")?.take())).collect();
    let bytes: usize = objects.iter().map(|object| object.to_string().len()).sum();
    println!("{} manifests of {} bytes on average", objects.len(), bytes / objects.len().max(1));
    let profile = Profile::of(Version::V1_36);
    let component = Runner::new()?.validator(&profile, HostLimits::default());
    let engines: [(&str, Box<dyn Validate>); 2] =
        [("native", Box::new(NativeValidator(profile))), ("component", Box::new(component))];
    for (name, mut engine) in engines {
        let mut rates = Vec::new();
        for _ in 0..arguments.rounds.saturating_add(1) {
            let start = Instant::now();
            let mut findings = 0;
            for batch in objects.chunks(BATCH) {
                let submissions = batch.iter().cloned().map(Submission::create).map(Into::into).collect();
                findings += engine.validate(submissions)?.iter().map(Vec::len).sum::<usize>();
            }
            rates.push((objects.len() as f64 / start.elapsed().as_secs_f64(), findings));
        }
        // The first round warms up.
        let mut warm: Vec<f64> = rates.iter().skip(1).map(|(rate, _)| *rate).collect();
        warm.sort_by(f64::total_cmp);
        let median = warm.get(warm.len() / 2).copied().unwrap_or_default();
        let best = warm.last().copied().unwrap_or_default();
        let findings = rates.first().map_or(0, |(_, findings)| *findings);
        println!("{name}: {median:.0} manifests/s median, {best:.0} best, {findings} findings a round");
    }
    Ok(())
}
