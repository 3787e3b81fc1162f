//! The stuck situations of `core/tests/explain/cases`, asked by tools alone: does the short answer have the cause, and a remedy that the
//! simulated control plane confirms? `APPORTION_RECORD=1` writes the table of `docs/agent-cases.md` anew.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::client::{Session, in_session, root};

/// Situations that must be solved by what the answer offers.
const ENOUGH: usize = 60;

/// Situations in which the API server drops a field or refuses an object: the command line says that, where the core explains what is stored.
const SAID_OTHERWISE: usize = 8;

/// A repair that an answer names in words (`help:`) and does not write.
struct Repair {
    case: &'static str,
    /// What the answer says.
    says: &'static str,
    /// What is replaced in the manifests.
    from: &'static str,
    to: &'static str,
    /// What is added.
    added: &'static str,
}

const REPAIRS: [Repair; 8] = [
    Repair {
        case: "admin-namespace",
        says: "label the namespace `resource.kubernetes.io/admin-access: \"true\"`",
        from: "",
        to: "",
        added: "{ apiVersion: v1, kind: Namespace, metadata: { name: ml, labels: { resource.kubernetes.io/admin-access: 'true' } } }",
    },
    Repair {
        case: "claim-missing",
        says: "create the ResourceClaim",
        from: "",
        to: "",
        added: "{ apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: { namespace: ml, name: gone }, spec: { devices: \
                { requests: [{ name: gpu, exactly: { deviceClassName: gpu } }] } } }",
    },
    Repair {
        case: "claim-is-template",
        says: "use `resourceClaimTemplateName`",
        from: "resourceClaimName: tpl",
        to: "resourceClaimTemplateName: tpl",
        added: "",
    },
    Repair {
        case: "class-missing",
        says: "did you mean `gpu`?",
        from: "deviceClassName: gpus",
        to: "deviceClassName: gpu",
        added: "",
    },
    Repair {
        case: "class-none",
        says: "no DeviceClass is given",
        from: "",
        to: "",
        added: "{ apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: { name: gpu } }",
    },
    Repair {
        case: "template-missing",
        says: "did you mean `tpl`?",
        from: "resourceClaimTemplateName: tpls",
        to: "resourceClaimTemplateName: tpl",
        added: "",
    },
    Repair {
        case: "template-other-namespace",
        says: "there is one in namespace `tools`",
        from: "namespace: tools",
        to: "namespace: ml",
        added: "",
    },
    Repair {
        case: "gang-claim-template-missing",
        says: "create the ResourceClaimTemplate",
        from: "",
        to: "",
        added: "{ apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: { namespace: ml, name: fabric }, spec: { spec: \
                { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu } }] } } } }",
    },
];

const HEAD: &str = "\
<!-- Made by host-wasmtime/tests/mcp/cases.rs with APPORTION_RECORD=1. Do not edit. -->

# Stuck situations, asked by tools

Each situation is a file of `core/tests/explain/cases`, given to `explain` as text. The short answer must have the cause. Then the first
remedy of the answer that tools can carry out is carried out, and a tool is asked again. Where none is confirmed, a driver has to publish
devices, hardware has to be added, or somebody has to decide.

";

const COLUMNS: &str = "\
| situation | cause, as answered | remedy, as answered | confirmed by | bytes |
|---|---|---|---|---|
";

struct Case {
    name: String,
    text: String,
    ask: Value,
    settings: Value,
    /// What was recorded and found right.
    recorded: String,
}

/// All cases in which one subject is stuck, by name.
fn cases() -> Vec<Case> {
    let folder = root().join("core/tests/explain/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let line = |name: &str| {
            let start = format!("# {name}: ");
            let line = text.lines().take(6).find_map(|line| line.strip_prefix(&start));
            line.map_or(json!({}), |line| serde_json::from_str(line).unwrap())
        };
        let (ask, settings) = (line("ask"), line("settings"));
        let recorded = fs::read_to_string(path.with_extension("txt")).unwrap();
        Case { name: path.file_stem().unwrap().to_str().unwrap().to_owned(), text, ask, settings, recorded }
    };
    let is_stuck = |case: &Case| {
        let state = case.recorded.lines().next().and_then(|line| line.rsplit(": ").next());
        case.ask["subject"].is_object() && matches!(state, Some("Blocked" | "NoDevices"))
    };
    paths.into_iter().map(read).filter(is_stuck).collect()
}

impl Case {
    fn subject(&self) -> String {
        let of = |field: &str| self.ask["subject"][field].as_str().unwrap();
        format!("{}/{}/{}", of("kind").to_lowercase(), of("namespace"), of("name"))
    }

    /// A question about the case, with these fields on top.
    fn question(&self, text: &str, more: &Value) -> Value {
        let mut question = json!({ "manifests": text, "subject": self.subject() });
        let fields = question.as_object_mut().unwrap();
        if let Some(version) = self.settings.get("version") {
            fields.insert("kubernetes_version".to_owned(), version.clone());
        }
        if let Some(gates) = self.settings.get("featureGates").and_then(Value::as_object) {
            let gates: Vec<String> = gates.iter().map(|(name, on)| format!("{name}={on}")).collect();
            fields.insert("feature_gates".to_owned(), json!(gates));
        }
        if let Some(nodes) = self.ask.get("nodes") {
            fields.insert("node".to_owned(), nodes.clone());
        }
        fields.extend(more.as_object().unwrap().clone());
        question
    }

    /// The cause as it was recorded: the line in plain words, else the one behind the name.
    fn cause(&self) -> String {
        let mut lines = self.recorded.lines();
        lines.nth(1).unwrap_or_default().trim().to_owned()
    }
}

/// What became of a case.
struct Outcome {
    cause: String,
    /// Whether the short answer has it.
    is_said: bool,
    remedy: Option<String>,
    /// How the remedy was confirmed.
    confirmed: Option<&'static str>,
    bytes: usize,
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_solved(answer: &str) -> bool {
    !answer.contains(" is Pending") && !answer.contains(" does not fit") && !answer.contains("not known")
}

/// The remedies of an answer, in its order: the numbered ones, each in one line.
fn remedies(answer: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in answer.lines() {
        let is_next = line.trim_start().starts_with(&format!("{}. ", found.len() + 1));
        match (is_next, found.last_mut()) {
            (true, _) => found.push(line.trim_start().split_once(". ").unwrap().1.to_owned()),
            (false, Some(last)) if line.starts_with("     ") => *last = format!("{last} {}", line.trim()),
            _ => {}
        }
    }
    found
}

/// Carries out remedy `number` as the answer offers it, and asks again.
async fn confirm(session: &Session, case: &Case, number: usize, remedy: &str) -> Option<&'static str> {
    let (applied, is_error) = session.ask("explain", &case.question(&case.text, &json!({ "apply": number }))).await;
    if !is_error && !remedy.starts_with("free claim ") {
        let (gates, nodes): (Vec<&str>, Vec<&str>) = (
            applied
                .lines()
                .filter_map(|line| line.strip_prefix("--feature-gates="))
                .flat_map(|all| all.split(','))
                .collect(),
            applied.lines().filter_map(|line| line.strip_prefix("kubectl uncordon ")).collect(),
        );
        if !gates.is_empty() {
            let again = case.question(&case.text, &json!({ "feature_gates": gates }));
            return is_solved(&session.ask("explain", &again).await.0).then_some("explain, with the gate");
        }
        if !nodes.is_empty() {
            let text = case.text.replace("unschedulable: true", "unschedulable: false");
            return is_solved(&session.ask("explain", &case.question(&text, &json!({}))).await.0)
                .then_some("explain, with the node uncordoned");
        }
        let manifests = applied.split("\nStandard error:").next().unwrap();
        let text = format!("{}\n---\n{manifests}", case.text);
        return is_solved(&session.ask("explain", &case.question(&text, &json!({}))).await.0)
            .then_some("explain, with the manifests of `apply`");
    }
    // What is to be freed is named in backticks: the claim, then who uses it.
    let freed = remedy.strip_prefix("free claim ")?;
    let names: Vec<&str> = freed.split('`').skip(1).step_by(2).collect();
    let mut gone = vec![format!("resourceclaim/{}", names.first()?)];
    gone.extend(names.get(1).filter(|_| case.text.contains("kind: Pod")).map(|pod| format!("pod/{pod}")));
    for without in [gone.as_slice(), &gone[..1]] {
        let (kind, name) = (case.ask["subject"]["kind"].as_str()?, case.subject());
        let asked = match kind {
            "ResourceClaim" => {
                json!({ "claim": name.split_once('/')?.1, "without": without, "manifests": case.text, "files": [] })
            }
            _ => json!({ "without": without, "manifests": case.text, "files": [] }),
        };
        let tool = if kind == "ResourceClaim" { "fit" } else { "what-if" };
        let (answer, is_error) = session.ask(tool, &asked).await;
        let is_good = match tool {
            "fit" => !answer.starts_with("0 "),
            _ => {
                answer.contains(&format!("{}: Pending →", case.ask["subject"]["name"].as_str()?))
                    || answer.contains("Pending → node")
            }
        };
        if !is_error && is_good {
            return Some(if tool == "fit" { "fit, without the holder" } else { "what-if, without the holder" });
        }
    }
    None
}

async fn outcome(session: &Session, case: &Case) -> Outcome {
    let (answer, _) = session.ask("explain", &case.question(&case.text, &json!({}))).await;
    let cause = case.cause();
    let is_said = spaced(&answer).contains(&spaced(&cause));
    let mut outcome = Outcome { cause, is_said, remedy: None, confirmed: None, bytes: answer.len() };
    for (index, remedy) in remedies(&answer).into_iter().enumerate() {
        let confirmed = confirm(session, case, index + 1, &remedy).await;
        if confirmed.is_some() || outcome.remedy.is_none() {
            outcome.remedy = Some(remedy);
            outcome.confirmed = confirmed;
        }
        if confirmed.is_some() {
            return outcome;
        }
    }
    if let Some(Repair { says, from, to, added, .. }) = REPAIRS.iter().find(|repair| repair.case == case.name) {
        assert!(spaced(&answer).contains(says), "{}: `{says}` is missing in\n{answer}", case.name);
        let text = if from.is_empty() { case.text.clone() } else { case.text.replace(from, to) };
        let (again, _) = session.ask("explain", &case.question(&format!("{text}\n---\n{added}\n"), &json!({}))).await;
        outcome.remedy = answer.lines().find_map(|line| line.trim().strip_prefix("help: ")).map(str::to_owned);
        outcome.confirmed = is_solved(&again).then_some("explain, repaired as `help:` says");
        assert!(outcome.confirmed.is_some(), "{}: still\n{again}", case.name);
    }
    outcome
}

#[test]
fn stuck_situations_are_solved_by_what_tools_answer() {
    let mut rows = Vec::new();
    in_session(&[], async |session| {
        for case in cases() {
            rows.push((case.name.clone(), outcome(session, &case).await));
        }
    });
    let silent: Vec<&str> = rows.iter().filter(|(_, one)| !one.is_said).map(|(name, _)| name.as_str()).collect();
    assert!(silent.len() <= SAID_OTHERWISE, "the cause is missing: {silent:?}");
    let counts = |one: &Outcome| one.is_said && one.confirmed.is_some();
    let confirmed = rows.iter().filter(|(_, outcome)| counts(outcome)).count();
    let unsolved: Vec<&str> = rows.iter().filter(|(_, one)| !counts(one)).map(|(name, _)| name.as_str()).collect();
    assert!(confirmed >= ENOUGH, "only {confirmed} are solved; not: {unsolved:?}");
    let cell = |text: &str| text.replace('|', "\\|");
    let said = rows.len() - silent.len();
    let mut table =
        format!("{HEAD}Cause in the answer: {said} of {}. Remedy confirmed: {confirmed}.\n\n{COLUMNS}", rows.len());
    for (name, Outcome { cause, is_said, remedy, confirmed, bytes }) in &rows {
        let cause = if *is_said {
            cell(cause)
        } else {
            "other words: the API server drops a field or refuses an object".to_owned()
        };
        let remedy = remedy.as_deref().unwrap_or("none");
        let confirmed = confirmed.unwrap_or("-");
        table.push_str(&format!("| {name} | {cause} | {} | {confirmed} | {bytes} |\n", cell(remedy)));
    }
    let path = root().join("docs/agent-cases.md");
    if std::env::var_os("APPORTION_RECORD").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    let changed = table.lines().find(|line| !recorded.lines().any(|known| known == *line));
    assert!(changed.is_none(), "docs/agent-cases.md says otherwise: {}", changed.unwrap_or_default());
}
