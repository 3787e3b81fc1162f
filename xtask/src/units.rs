//! That crates are compiled once: cargo's plans of the builds, compared.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::Workspace;
use crate::command::{cargo, output};

/// Builds that should share all that they have in common: this tool, the program, and its tests with those of the runner. A build script is
/// part of its program's plan.
const BUILDS: [&[&str]; 3] = [
    &["build", "--package", "xtask"],
    &["build", "--package", "apportion"],
    &["test", "--no-run", "--package", "apportion", "--package", "apportion-tests"],
];

/// Compares what cargo would compile for the builds. One feature more on one side, and cargo compiles that crate and all above it twice:
/// minutes, where wasmtime is among them.
///
/// # Errors
///
/// Names the crates that differ.
pub(crate) fn are_compiled_once(workspace: &Workspace) -> Result<()> {
    let mut found: BTreeMap<String, BTreeMap<u64, String>> = BTreeMap::new();
    for build in BUILDS {
        let units = units(workspace, build)?;
        let mut known = BTreeMap::new();
        for at in 0..units.len() {
            let identity = identity(&units, at, &mut known);
            let Some((package, features)) = units.get(at).and_then(library) else { continue };
            found.entry(package).or_default().insert(identity, features);
        }
    }
    let differing = differing(&found);
    if !differing.is_empty() {
        bail!(
            "crates are compiled more than once, since the program, its build script, its tests and `xtask` give them different \
             features: {}: add the missing ones in host-wasmtime/Cargo.toml or xtask/Cargo.toml, where a comment explains",
            differing.join(", ")
        );
    }
    Ok(())
}

/// Packages that are compiled in several ways, with the features on each side. Those that differ only because of what is below them are left
/// out, where others say why.
fn differing(found: &BTreeMap<String, BTreeMap<u64, String>>) -> Vec<String> {
    let several = || found.iter().filter(|(_, ways)| ways.len() > 1);
    let of = |(package, ways): (&String, &BTreeMap<u64, String>)| {
        let features: BTreeSet<&str> = ways.values().map(String::as_str).collect();
        (features.len(), format!("{package} ({})", features.into_iter().collect::<Vec<_>>().join(" / ")))
    };
    let causes: Vec<String> = several().map(of).filter(|(ways, _)| *ways > 1).map(|(_, said)| said).collect();
    if causes.is_empty() { several().map(of).map(|(_, said)| said).collect() } else { causes }
}

/// The plan of one build: a list of units, which name one another by their places in it.
fn units(workspace: &Workspace, build: &[&str]) -> Result<Vec<Value>> {
    let mut plan = cargo();
    plan.current_dir(workspace.root()).args(build).args([
        "--release",
        "--locked",
        "--unit-graph",
        "-Zunstable-options",
    ]);
    let text = output(plan.env("RUSTC_BOOTSTRAP", "1"))
        .context("`cargo build --unit-graph` failed: run it by hand to see why")?;
    let mut plan: Value = serde_json::from_str(&text).context("what `cargo build --unit-graph` prints is not JSON")?;
    match plan.get_mut("units").map(Value::take) {
        Some(Value::Array(units)) if !units.is_empty() => Ok(units),
        _ => bail!("`cargo build --unit-graph` prints no units: this cargo's format is another one"),
    }
}

/// Name and version of a library of others that is built, and its features; this workspace's own are few.
fn library(unit: &Value) -> Option<(String, String)> {
    let is_library = unit.pointer("/target/kind")?.as_array()?.iter().any(|kind| kind == "lib");
    let package = unit.get("pkg_id")?.as_str()?;
    if unit.get("mode")? != "build" || !is_library || package.starts_with("path+") {
        return None;
    }
    let features = unit.get("features")?.as_array()?.iter().filter_map(Value::as_str);
    Some((package.rsplit(['/', '#']).next()?.to_owned(), features.collect::<Vec<_>>().join(" ")))
}

/// The same for units that cargo would compile once: what a unit is, and all that is below it.
fn identity(units: &[Value], at: usize, known: &mut BTreeMap<usize, u64>) -> u64 {
    if let Some(identity) = known.get(&at) {
        return *identity;
    }
    let mut hasher = DefaultHasher::new();
    if let Some(unit) = units.get(at) {
        for part in ["pkg_id", "target", "mode", "platform", "features"] {
            unit.get(part).map(Value::to_string).hash(&mut hasher);
        }
        for part in ["opt_level", "codegen_units", "debuginfo", "debug_assertions", "overflow_checks", "panic", "lto"] {
            unit.pointer(&format!("/profile/{part}")).map(Value::to_string).hash(&mut hasher);
        }
        for below in unit.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
            let place = below.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
            place.map(|place| identity(units, place, known)).hash(&mut hasher);
        }
    }
    let identity = hasher.finish();
    known.insert(at, identity);
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(ways: &[(u64, &str)]) -> BTreeMap<u64, String> {
        ways.iter().map(|(identity, features)| (*identity, (*features).to_owned())).collect()
    }

    #[test]
    fn the_crate_whose_features_differ_is_named_and_not_what_stands_on_it() {
        let mut found = BTreeMap::from([("once@1".to_owned(), ways(&[(1, "std")]))]);
        assert!(differing(&found).is_empty());
        found.insert("above@1".to_owned(), ways(&[(2, "std"), (3, "std")]));
        assert_eq!(differing(&found), ["above@1 (std)"]);
        found.insert("below@1".to_owned(), ways(&[(4, ""), (5, "serde")]));
        assert_eq!(differing(&found), ["below@1 ( / serde)"]);
    }

    #[test]
    fn a_unit_differs_from_one_that_differs_below_it() {
        let unit = |name: &str, features: &[&str], below: &[usize]| {
            let below: Vec<Value> = below.iter().map(|index| serde_json::json!({ "index": index })).collect();
            serde_json::json!({
                "pkg_id": format!("registry+index#{name}"), "mode": "build", "target": { "kind": ["lib"] }, "features": features,
                "dependencies": below,
            })
        };
        let units = [
            unit("below@1", &[], &[]),
            unit("below@1", &["serde"], &[]),
            unit("above@1", &[], &[0]),
            unit("above@1", &[], &[1]),
            unit("above@1", &[], &[0]),
        ];
        let mut known = BTreeMap::new();
        let identities: Vec<u64> = (0..units.len()).map(|at| identity(&units, at, &mut known)).collect();
        assert_ne!(identities[2], identities[3]);
        assert_eq!(identities[2], identities[4]);
        assert_eq!(library(&units[1]), Some(("below@1".to_owned(), "serde".to_owned())));
    }
}
