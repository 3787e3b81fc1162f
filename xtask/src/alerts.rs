//! Alert rules and the dashboard's questions, as Prometheus understands them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::Workspace;
use crate::command::{output, run};
use crate::fingerprint::Fingerprint;

/// Which promtool is built where there is none.
const SOURCE: &str = "tests/promtool";

/// The package of promtool.
const PACKAGE: &str = "github.com/prometheus/prometheus/cmd/promtool";

/// The rules and the dashboard.
const MONITORING: &str = "deploy/monitoring";

/// Checks with promtool, which is built from its Go module where that has changed. Without Go that is skipped, and a line says so.
///
/// # Errors
///
/// When the build fails or a check does.
pub fn check(workspace: &Workspace) -> Result<()> {
    match output(Command::new("go").arg("version")) {
        Some(_) => hold(workspace, built(workspace)?),
        None => check_with_what_is_there(workspace),
    }
}

/// The same without building anything.
///
/// # Errors
///
/// When a check fails.
pub fn check_with_what_is_there(workspace: &Workspace) -> Result<()> {
    let (program, print) = (program(workspace), Fingerprint::of(workspace, &[SOURCE])?);
    if print.is_of(&program) {
        return hold(workspace, program);
    }
    if output(Command::new("promtool").arg("--version")).is_some() {
        return hold(workspace, "promtool".into());
    }
    eprintln!("alert rules are not tested: promtool is missing; `cargo xtask alerts` builds it where there is Go");
    Ok(())
}

fn program(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("promtool").join("promtool")
}

/// Builds promtool without what finds targets, which is most of it. That takes two minutes.
fn built(workspace: &Workspace) -> Result<PathBuf> {
    let program = program(workspace);
    let print = Fingerprint::of(workspace, &[SOURCE])?;
    if print.is_of(&program) {
        return Ok(program);
    }
    let mut build = Command::new("go");
    build.current_dir(workspace.path(SOURCE)).args([
        "build",
        "-trimpath",
        "-tags",
        "remove_all_sd",
        "-ldflags",
        "-s -w",
    ]);
    build.arg("-o").arg(&program).arg(PACKAGE).env("CGO_ENABLED", "0");
    run(&mut build, "building promtool", "the message is above")?;
    print.note(&program)?;
    Ok(program)
}

fn hold(workspace: &Workspace, program: PathBuf) -> Result<()> {
    let folder = workspace.path(MONITORING);
    let promtool = |arguments: &[&str]| {
        let mut promtool = Command::new(&program);
        promtool.current_dir(&folder).args(arguments);
        run(&mut promtool, "the check of alert rules", "the findings are above")
    };
    promtool(&["check", "rules", "alerts.yaml"])?;
    promtool(&["test", "rules", "alerts-test.yaml"])?;
    let dashboard = folder.join("dashboard.json");
    let text = fs::read_to_string(&dashboard).with_context(|| format!("`{}` cannot be read", dashboard.display()))?;
    let rules = workspace.target_dir().join("promtool").join("dashboard.yaml");
    if let Some(folder) = rules.parent() {
        fs::create_dir_all(folder)?;
    }
    let as_rules = as_rules(&serde_json::from_str(&text).context("the dashboard is not JSON")?);
    fs::write(&rules, as_rules.to_string()).with_context(|| format!("`{}` cannot be written", rules.display()))?;
    promtool(&["check", "rules", &rules.display().to_string()])
}

/// The dashboard's questions as rules, which is what promtool reads.
fn as_rules(dashboard: &Value) -> Value {
    let mut rules = Vec::new();
    let mut open = vec![dashboard];
    while let Some(value) = open.pop() {
        if let Some(question) = value.get("expr").and_then(Value::as_str) {
            let question = question.replace("$__rate_interval", "5m");
            rules.push(json!({ "record": format!("dashboard:{}", rules.len()), "expr": question }));
        }
        open.extend(value.as_array().into_iter().flatten());
        open.extend(value.as_object().into_iter().flat_map(|fields| fields.values()));
    }
    json!({ "groups": [{ "name": "dashboard", "rules": rules }] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_of_a_dashboard_becomes_a_rule() {
        let dashboard = json!({ "panels": [
            { "targets": [{ "expr": "sum(a)" }, { "expr": "rate(b_total[$__rate_interval])" }] },
            { "panels": [{ "targets": [{ "expr": "c" }] }] },
        ] });
        let rules = as_rules(&dashboard);
        let rules = rules["groups"][0]["rules"].as_array().unwrap();
        let mut questions: Vec<&str> = rules.iter().map(|rule| rule["expr"].as_str().unwrap()).collect();
        questions.sort_unstable();
        assert_eq!(questions, ["c", "rate(b_total[5m])", "sum(a)"]);
        assert_eq!(rules[2]["record"], "dashboard:2");
    }
}
