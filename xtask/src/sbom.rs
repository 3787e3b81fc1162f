//! What the program is made of, as a software bill of materials in the format of CycloneDX.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::Workspace;
use crate::command::{cargo, output};

/// The package of the program.
const PROGRAM: &str = "apportion";

/// Packages of this workspace that end up in the program: itself, the component in it, and the module of the page in it.
const ROOTS: [&str; 3] = [PROGRAM, "apportion-guest", "apportion-npm"];

/// Something that the program is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) version: String,
    /// As its authors write it; empty where they say nothing.
    pub(crate) license: String,
    url: String,
    /// URLs of what it uses.
    uses: BTreeSet<String>,
    /// Where its sources lie.
    pub(crate) folder: Option<PathBuf>,
}

impl Part {
    /// Whether it is of this workspace.
    pub(crate) fn is_ours(&self) -> bool {
        self.url.starts_with("pkg:cargo/apportion")
    }
}

/// Writes the list to `target/sbom/apportion.cdx.json`: crates that are linked, and npm packages of the page. Tools that build
/// them are left out. The same sources give the same bytes.
///
/// # Errors
///
/// When a list of dependencies cannot be had, or something in it has no license.
pub fn write(workspace: &Workspace) -> Result<PathBuf> {
    let parts = linked(workspace)?;
    let file = workspace.target_dir().join("sbom").join("apportion.cdx.json");
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&file, json(&parts)?).with_context(|| format!("`{}` cannot be written", file.display()))?;
    Ok(file)
}

/// What the program is made of, itself included.
///
/// # Errors
///
/// When a list of dependencies cannot be had.
pub(crate) fn linked(workspace: &Workspace) -> Result<Vec<Part>> {
    let mut metadata = cargo();
    metadata.current_dir(workspace.root()).args(["metadata", "--locked", "--format-version", "1"]);
    let text = output(&mut metadata).context("`cargo metadata` failed: run it by hand to see why")?;
    let mut parts = crates(&serde_json::from_str(&text)?, &ROOTS);
    let lock = workspace.path("web/package-lock.json");
    let text = fs::read_to_string(&lock).with_context(|| format!("`{}` cannot be read", lock.display()))?;
    parts.extend(npm_packages(&serde_json::from_str(&text)?, &workspace.path("web")));
    Ok(parts)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Crates that these packages link, and the packages themselves, by the graph that cargo resolved.
fn crates(metadata: &Value, roots: &[&str]) -> Vec<Part> {
    let packages: BTreeMap<&str, &Value> =
        list(metadata, "/packages").map(|package| (text(package, "id"), package)).collect();
    let linked = |node: &Value| -> Vec<String> {
        let is_normal = |dependency: &&Value| list(dependency, "/dep_kinds").any(|kind| text(kind, "kind").is_empty());
        let used = list(node, "/deps").filter(is_normal).map(|dependency| text(dependency, "pkg"));
        used.filter(|id| !packages.get(id).is_some_and(|package| is_macro(package))).map(str::to_owned).collect()
    };
    let graph: BTreeMap<&str, Vec<String>> =
        list(metadata, "/resolve/nodes").map(|node| (text(node, "id"), linked(node))).collect();
    let is_root = |package: &&&Value| roots.contains(&text(package, "name"));
    let mut waiting: Vec<&str> = packages.values().filter(is_root).map(|package| text(package, "id")).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if found.insert(id) {
            waiting.extend(graph.get(id).into_iter().flatten().map(String::as_str));
        }
    }
    let url = |id: &str| packages.get(id).map(|package| crate_url(package));
    let part = |(id, package): (&str, &Value)| Part {
        name: text(package, "name").to_owned(),
        version: text(package, "version").to_owned(),
        license: text(package, "license").to_owned(),
        url: crate_url(package),
        uses: graph.get(id).into_iter().flatten().filter_map(|used| url(used)).collect(),
        folder: Path::new(text(package, "manifest_path")).parent().map(Path::to_owned),
    };
    found.into_iter().filter_map(|id| Some(part((id, packages.get(id)?)))).collect()
}

/// Whether a package runs in the compiler, and is linked to nothing.
fn is_macro(package: &Value) -> bool {
    list(package, "/targets").any(|target| list(target, "/kind").any(|kind| kind == "proc-macro"))
}

fn crate_url(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"))
}

/// Packages that a page is bundled from, by the lock file of npm.
fn npm_packages(lock: &Value, page: &Path) -> Vec<Part> {
    let mut parts = Vec::new();
    for (place, package) in lock.pointer("/packages").and_then(Value::as_object).into_iter().flatten() {
        let Some((_, name)) = place.rsplit_once("node_modules/") else { continue };
        let is = |field: &str| package.get(field) == Some(&Value::Bool(true));
        if is("dev") || is("link") {
            continue;
        }
        let version = text(package, "version").to_owned();
        let url = format!("pkg:npm/{}@{version}", name.replace('@', "%40"));
        let license = text(package, "license").to_owned();
        parts.push(Part {
            name: name.to_owned(),
            version,
            license,
            url,
            uses: BTreeSet::new(),
            folder: Some(page.join(place)),
        });
    }
    parts
}

/// The list as text. Source: CycloneDX 1.5, `bom-1.5.schema.json`.
fn json(parts: &[Part]) -> Result<String> {
    if let Some(unclear) = parts.iter().find(|part| part.license.is_empty()) {
        bail!("{} {} does not say its license", unclear.name, unclear.version);
    }
    let is_program = |part: &&Part| part.name == PROGRAM;
    let program = parts.iter().find(is_program).context("the program is not among what is listed")?;
    let libraries = parts.iter().filter(|part| part.url != program.url).map(|part| component(part, "library"));
    let dependency = |part: &Part| json!({ "ref": part.url, "dependsOn": part.uses });
    let bom = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(program, "application") },
        "components": libraries.collect::<Vec<_>>(),
        "dependencies": parts.iter().map(dependency).collect::<Vec<_>>(),
    });
    Ok(format!("{bom:#}\n"))
}

fn component(part: &Part, kind: &str) -> Value {
    // Some authors still write a slash where SPDX has `OR`.
    let choices: Vec<&str> = part.license.split('/').map(str::trim).collect();
    json!({
        "type": kind,
        "bom-ref": part.url,
        "name": part.name,
        "version": part.version,
        "licenses": [{ "expression": choices.join(" OR ") }],
        "purl": part.url,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]
mod tests {
    use super::*;

    fn package(name: &str) -> Value {
        json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0" })
    }

    fn edge(name: &str, kind: Option<&str>) -> Value {
        json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] })
    }

    fn metadata() -> Value {
        let names = ["apportion", "linked", "below", "builds", "tests", "derives"];
        let mut packages = names.map(package);
        packages[5]["targets"] = json!([{ "kind": ["proc-macro"] }]);
        json!({
            "packages": packages,
            "resolve": { "nodes": [
                { "id": "apportion", "deps": [edge("linked", None), edge("builds", Some("build")), edge("tests", Some("dev"))] },
                { "id": "linked", "deps": [edge("below", None), edge("derives", None)] },
                { "id": "builds", "deps": [edge("below", None)] },
            ] },
        })
    }

    #[test]
    fn what_is_linked_is_listed_and_what_builds_or_tests_is_not() {
        let parts = crates(&metadata(), &["apportion"]);
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["apportion", "below", "linked"]);
        let text = super::json(&parts).unwrap();
        let bom: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&json!("CycloneDX"), &json!("1.5")));
        assert_eq!(bom["metadata"]["component"]["purl"], "pkg:cargo/apportion@1.0.0");
        assert_eq!(bom["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bom["dependencies"][0]["dependsOn"], json!(["pkg:cargo/linked@1.0.0"]));
        let refs = |pointer: &str, field: &str| -> BTreeSet<String> {
            list(&bom, pointer).map(|one| one[field].as_str().unwrap().to_owned()).collect()
        };
        let mut known = refs("/components", "bom-ref");
        known.insert("pkg:cargo/apportion@1.0.0".to_owned());
        assert_eq!(refs("/dependencies", "ref"), known, "each part says what it uses");
    }

    #[test]
    fn packages_of_the_page_are_listed_without_its_tools() {
        let lock = json!({ "packages": {
            "": { "version": "0.1.0" },
            "../npm": { "version": "0.1.0" },
            "node_modules/apportion": { "link": true },
            "node_modules/@scope/name": { "version": "2.0.0", "license": "MIT" },
            "node_modules/vite": { "version": "8.0.0", "license": "MIT", "dev": true },
        } });
        let urls: Vec<String> = npm_packages(&lock, Path::new("web")).into_iter().map(|part| part.url).collect();
        assert_eq!(urls, ["pkg:npm/%40scope/name@2.0.0"]);
    }

    #[test]
    fn something_without_a_license_is_refused() {
        let mut unclear = crates(&metadata(), &["apportion"]);
        unclear.iter_mut().for_each(|part| part.license.clear());
        assert!(super::json(&unclear).unwrap_err().to_string().contains("license"));
    }
}
