//! Format, lints, documentation, links of the pages, and that crates are compiled once.

use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::Workspace;
use crate::command::{cargo, output, run};
use crate::node::Node;
use crate::suites::WITH_WASMTIME;
use crate::{alerts, component, docs, npm, requirements, rooms, units, web};

/// Runs every check; stops at the first that fails.
///
/// # Errors
///
/// One sentence that names the check and the way out.
pub fn run_all(workspace: &Workspace) -> Result<()> {
    require_components(workspace)?;
    run(&mut in_root(workspace, &["fmt", "--all", "--check"]), "the format check", "run `cargo fmt --all`")?;
    units::are_compiled_once(workspace)?;
    requirements::check(workspace)?;
    rooms::check(workspace)?;
    docs::check(workspace)?;
    dependencies_are_allowed(workspace)?;
    alerts::check_with_what_is_there(workspace)?;

    thread::scope(|scope| {
        // Linking a module uses one processor. An error here is not reported: the step that needs the module builds again and reports it.
        scope.spawn(|| component::build(workspace).and_then(|_| npm::build(workspace)));
        lints_and_documentation(workspace)
    })?;
    if web::exists(workspace) {
        npm::build(workspace)?;
        let node = Node::find(workspace)?;
        node.install(workspace, "web")?;
        for script in ["check", "lint"] {
            if node.has_script(workspace, "web", script) {
                let mut npm = node.npm(&workspace.path("web"), &["run", "--silent", script]);
                run(&mut npm, &format!("the web page's `{script}`"), "the findings are above")?;
            }
        }
    }
    Ok(())
}

fn in_root(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root()).args(arguments);
    command
}

/// Lints and documentation of every crate: those that link wasmtime in the profile in which they are tested.
fn lints_and_documentation(workspace: &Workspace) -> Result<()> {
    let members = members(workspace)?;
    let of = |choose: &dyn Fn(&str) -> bool| -> Vec<&str> {
        members.iter().map(String::as_str).filter(|name| choose(name)).collect()
    };
    let is_heavy = |name: &str| WITH_WASMTIME.contains(&name);
    // Apart from one another, as they are built and tested: together they would have other features, and wasmtime would be compiled twice.
    for (profile, names) in [
        ("dev", of(&|name| !is_heavy(name) && name != "xtask")),
        ("release", of(&is_heavy)),
        ("release", of(&|name| name == "xtask")),
    ] {
        let packages: Vec<&str> = names.iter().flat_map(|name| ["--package", *name]).collect();
        let mut clippy = in_root(workspace, &["clippy", "--locked", "--all-targets", "--profile", profile]);
        clippy.args(&packages).args(["--", "-D", "warnings"]);
        run(&mut clippy, "the lint check", "the findings are above; `cargo clippy --fix` repairs some")?;
        let mut docs =
            in_root(workspace, &["doc", "--locked", "--no-deps", "--document-private-items", "--profile", profile]);
        docs.args(&packages).env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private-intra-doc-links");
        run(&mut docs, "building the documentation", "the findings are above")?;
    }
    Ok(())
}

/// Licenses, bans and sources of all dependencies, by `deny.toml`; and what is known against one of them, where the network allows to
/// fetch that.
fn dependencies_are_allowed(workspace: &Workspace) -> Result<()> {
    if output(cargo().args(["deny", "--version"])).is_none() {
        eprintln!(
            "skipped: licenses and advisories of dependencies: `cargo install --locked cargo-deny` brings what is needed"
        );
        return Ok(());
    }
    let has_advisories = output(cargo().current_dir(workspace.root()).args(["deny", "fetch", "db"])).is_some();
    if !has_advisories {
        eprintln!("skipped: advisories of dependencies: the database cannot be fetched");
    }
    // Fuzzing is a workspace of its own, which needs only some of the licenses.
    let manifests: [(&str, &[&str]); 2] =
        [("Cargo.toml", &[]), ("fuzz/Cargo.toml", &["--allow", "license-not-encountered"])];
    for (manifest, more) in manifests {
        let mut deny = cargo();
        deny.current_dir(workspace.root()).args(["deny", "--locked", "--manifest-path", manifest, "check"]);
        deny.args(more).args(["bans", "licenses", "sources"]);
        if has_advisories {
            deny.args(["--disable-fetch", "advisories"]);
        }
        run(&mut deny, "the check of dependencies", "the findings are above; `deny.toml` has the rules")?;
    }
    Ok(())
}

/// rustfmt and clippy, from rustup where they are missing.
fn require_components(workspace: &Workspace) -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let works = || output(cargo().args([tool, "--version"])).is_some();
        if works() {
            continue;
        }
        let _ = output(Command::new("rustup").args(["component", "add", component]).current_dir(workspace.root()));
        if !works() {
            bail!("`cargo {tool}` is missing: run `rustup component add {component}`, then try again");
        }
    }
    Ok(())
}

fn members(workspace: &Workspace) -> Result<Vec<String>> {
    let mut tree = cargo();
    tree.current_dir(workspace.root()).args(["tree", "--locked", "--workspace", "--depth", "0", "--prefix", "none"]);
    let text = output(tree.args(["-f", "{p}"])).context("`cargo tree` failed: run it by hand to see why")?;
    Ok(text.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect())
}
