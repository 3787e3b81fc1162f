//! Kinds of which a controller makes Pods: Deployments, Jobs and their like.
//!
//! Source: `pkg/apis/apps/validation`, `pkg/apis/batch/validation`; the webhooks of JobSet and LeaderWorkerSet.

use serde_json::Value;

use super::cron;
use super::given::differs;
use super::label_selector;
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::{Report, shown};
use crate::finding::{Code, ErrorKind};
use crate::profile::Version;

/// Pods of an Indexed Job at the same time.
const MOST_PARALLEL: i64 = 100_000;
/// Bytes of the name of who manages a Job.
const LONGEST_MANAGER: usize = 63;
/// Characters of the name of a CronJob.
const LONGEST_CRON: usize = 52;
const JOB_RESTART: [&str; 2] = ["OnFailure", "Never"];

/// The rules of an object, the Pods' specs apart. `old` is what is stored, for updates.
pub(super) fn check(out: &mut Report<'_>, kind: &str, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    let spec = object.field("spec");
    match kind {
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" => {
            meta::check_whole(out, object, old, Scope::AnyNamespace);
            replicated(out, kind, &spec);
        }
        "ReplicationController" => {
            meta::check_whole(out, object, old, Scope::AnyNamespace);
            non_negative(out, &spec, &["replicas", "minReadySeconds"]);
            restarts_always(out, kind, &spec);
        }
        "Job" => {
            meta::check_whole(out, object, old, Scope::AnyNamespace);
            generated_selector(out, object, &spec);
            job(out, &spec, true);
            pod_names(out, object, &spec);
        }
        "CronJob" => {
            meta::check_whole(out, object, old, Scope::AnyNamespace);
            scheduled(out, &spec);
            let meta = object.field("metadata");
            let name = meta.field("name");
            if old.is_none() && name.text().len() > LONGEST_CRON {
                out.invalid(name.at, format!("must be no more than {LONGEST_CRON} characters"));
                out.hint("the Jobs are named after it with 11 characters more");
            }
        }
        "PodTemplate" => meta::check_whole(out, object, old, Scope::AnyNamespace),
        "JobSet" => {
            for replicated in spec.field("replicatedJobs").items() {
                let (name, template) = (replicated.field("name"), replicated.field("template"));
                out.text(&name, names::label);
                non_negative(out, &replicated, &["replicas"]);
                // JobSet makes its Jobs Indexed and restarts their Pods on failure.
                job(out, &template.field("spec"), false);
            }
            out.unique_by(&spec.field("replicatedJobs"), "name");
        }
        "LeaderWorkerSet" => {
            non_negative(out, &spec, &["replicas"]);
            let parts = spec.field("leaderWorkerTemplate");
            let size = parts.field("size");
            if size.is_set() && size.int() < 1 {
                out.invalid(size.at, "must be greater than or equal to 1");
            }
        }
        _ => {}
    }
    if let Some(old) = old {
        unchanged(out, kind, &spec, &old.field("spec"));
    }
}

fn non_negative(out: &mut Report<'_>, of: &Node<'_, '_>, fields: &[&str]) {
    for name in fields {
        let field = of.field(name);
        if field.int() < 0 {
            out.invalid(field.at, "must be greater than or equal to 0");
        }
    }
}

/// `spec` of the kinds of `apps`.
fn replicated(out: &mut Report<'_>, kind: &str, spec: &Node<'_, '_>) {
    non_negative(out, spec, &["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"]);
    let progress = spec.field("progressDeadlineSeconds");
    if progress.int() > 0 && progress.int() <= spec.field("minReadySeconds").int() {
        out.invalid(progress.at, "must be greater than minReadySeconds");
    }
    let template = spec.field("template");
    let meta = template.field("metadata");
    let labels = meta.field("labels");
    let selector = spec.field("selector");
    if selector.is_set() {
        let is_good = label_selector::check(out, &selector);
        if label_selector::is_empty(&selector) {
            let kind = if kind == "ReplicaSet" { "deployment".to_owned() } else { kind.to_ascii_lowercase() };
            out.invalid(selector.at, format!("empty selector is invalid for {kind}"));
        } else if is_good {
            matching(out, &selector, &labels);
        }
    } else {
        if kind != "DaemonSet" {
            out.required(selector.at, "the labels by which the Pods are found are needed");
            out.hint("write `selector.matchLabels` with labels of `template.metadata.labels`");
        }
        out.invalid(labels.at, "`selector` does not match template `labels`");
    }
    restarts_always(out, kind, spec);
    match kind {
        "StatefulSet" => {
            let policy = spec.field("podManagementPolicy");
            if !matches!(policy.text(), "" | "OrderedReady" | "Parallel") {
                out.invalid(policy.at, "must be 'OrderedReady' or 'Parallel'");
            }
            let update = spec.field("updateStrategy");
            if !matches!(update.text_of("type"), "" | "RollingUpdate" | "OnDelete") {
                out.invalid(update.at, "must be 'RollingUpdate' or 'OnDelete'");
            }
            out.some_text(&spec.field("serviceName"), names::label);
        }
        "DaemonSet" => strategy(out, &spec.field("updateStrategy"), &["RollingUpdate", "OnDelete"]),
        "Deployment" => {
            let strategy_field = spec.field("strategy");
            strategy(out, &strategy_field, &["Recreate", "RollingUpdate"]);
            rolling(out, &strategy_field.field("rollingUpdate"));
        }
        _ => {}
    }
}

fn strategy(out: &mut Report<'_>, strategy: &Node<'_, '_>, known: &[&str]) {
    let kind = strategy.field("type");
    out.one_of(&kind, known);
    if matches!(kind.text(), "Recreate") && strategy.has("rollingUpdate") {
        let message = "may not be specified when strategy `type` is 'Recreate'";
        out.forbidden(strategy.at.field("rollingUpdate"), message);
    }
}

/// How many Pods of a Deployment may be too many or missing while they are replaced.
fn rolling(out: &mut Report<'_>, rolling: &Node<'_, '_>) {
    let (missing, surplus) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
    number_or_percent(out, &missing);
    number_or_percent(out, &surplus);
    let is_zero = |field: &Node<'_, '_>| {
        field.is_set() && field.int() == 0 && field.text().bytes().all(|byte| matches!(byte, b'0' | b'%'))
    };
    if is_zero(&missing) && is_zero(&surplus) {
        out.invalid(missing.at, "may not be 0 when `maxSurge` is 0");
        out.hint("one of both must be at least 1, or no Pod can be replaced");
    }
    at_most_all(out, &missing);
}

/// A number of Pods, or a share of them in percent.
pub(super) fn number_or_percent(out: &mut Report<'_>, field: &Node<'_, '_>) {
    let is_percent = field
        .text()
        .strip_suffix('%')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    if field.value.is_string() && !is_percent {
        out.invalid(field.at, "a valid percent string must be a numeric followed by an ending '%'");
    } else if field.is_set() && !is_percent && field.value.as_i64().is_none() {
        out.invalid(field.at, "must be an integer or percentage (e.g '5%')");
    }
    out.not_negative(field);
}

/// A share of Pods that is not more than all.
pub(super) fn at_most_all(out: &mut Report<'_>, field: &Node<'_, '_>) {
    let percent = field.text().strip_suffix('%').and_then(|number| number.parse::<u32>().ok());
    if percent.is_some_and(|percent| percent > 100) {
        out.invalid(field.at, "must not be greater than 100%");
    }
}

fn matching(out: &mut Report<'_>, selector: &Node<'_, '_>, labels: &Node<'_, '_>) {
    if label_selector::matches(selector, labels.value) {
        return;
    }
    out.invalid(labels.at, "`selector` does not match template `labels`");
    let wanted: Vec<String> = selector
        .field("matchLabels")
        .entries()
        .filter(|(key, value)| labels.peek(key) != *value)
        .map(|(key, value)| format!("`{}: {}`", shown(key), shown(value.as_str().unwrap_or_default())))
        .collect();
    if !wanted.is_empty() {
        out.hint(format!("the template needs {}", wanted.join(", ")));
    }
}

/// Pods that are replaced are restarted as well.
fn restarts_always(out: &mut Report<'_>, kind: &str, spec: &Node<'_, '_>) {
    let template = spec.field("template");
    let pod = template.field("spec");
    let restart = pod.field("restartPolicy");
    if !matches!(restart.text(), "" | "Always") {
        out.not_supported(restart.at, restart.text(), &["Always"]);
        out.hint("only a Job ends: leave `restartPolicy` out");
    }
    let deadline = pod.field("activeDeadlineSeconds");
    if deadline.is_set() {
        let kind = if kind == "Deployment" { "ReplicaSet" } else { kind };
        out.forbidden(deadline.at, format!("activeDeadlineSeconds in {kind} is not Supported"));
    }
}

/// `spec` of a CronJob.
fn scheduled(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    cron::check(out, spec);
    non_negative(out, spec, &["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]);
    out.one_of(&spec.field("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    let template = spec.field("jobTemplate");
    let job_spec = template.field("spec");
    let manual = job_spec.field("manualSelector");
    if manual.is_true() {
        let message = "a CronJob makes the selector itself";
        out.error(ErrorKind::NotSupported, Code::ValidateNotSupported, manual.at, message);
    }
    job(out, &job_spec, true);
}

/// `spec` of a Job. Where it `must_restart`, the template says how; elsewhere the controller does.
fn job(out: &mut Report<'_>, spec: &Node<'_, '_>, must_restart: bool) {
    non_negative(
        out,
        spec,
        &[
            "parallelism",
            "completions",
            "activeDeadlineSeconds",
            "backoffLimit",
            "ttlSecondsAfterFinished",
            "backoffLimitPerIndex",
            "maxFailedIndexes",
        ],
    );
    let (mode, completions) = (spec.field("completionMode"), spec.field("completions"));
    let (per_index, most_failed) = (spec.field("backoffLimitPerIndex"), spec.field("maxFailedIndexes"));
    if most_failed.is_set() && !per_index.is_set() {
        out.required(per_index.at, "when maxFailedIndexes is specified");
    }
    match mode.text() {
        "Indexed" => {
            if !completions.is_set() && must_restart {
                out.required(completions.at, "when completion mode is Indexed");
            }
            let parallelism = spec.field("parallelism");
            if parallelism.int() > MOST_PARALLEL {
                let message = format!("must be less than or equal to {MOST_PARALLEL} when completion mode is Indexed");
                out.invalid(parallelism.at, message);
            }
            if completions.is_set() && most_failed.int() > completions.int() {
                out.invalid(most_failed.at, "must be less than or equal to completions");
            }
        }
        "" if !must_restart => {}
        "" | "NonIndexed" => {
            for field in [&per_index, &most_failed, &spec.field("successPolicy")] {
                if field.is_set() {
                    out.invalid(field.at, "requires indexed completion mode");
                }
            }
        }
        other => out.not_supported(mode.at, other, &["Indexed", "NonIndexed"]),
    }
    policies(out, spec);
    let template = spec.field("template");
    let pod = template.field("spec");
    let restart = pod.field("restartPolicy");
    match restart.text() {
        "" | "Always" if must_restart => {
            out.required(restart.at, "valid values: \"OnFailure\", \"Never\"");
            out.hint("a Job ends: write `restartPolicy: Never` or `restartPolicy: OnFailure`");
        }
        "" | "Never" => {}
        "OnFailure" if spec.has("podFailurePolicy") => {
            out.invalid(restart.at, "only \"Never\" is supported when podFailurePolicy is specified");
        }
        "OnFailure" => {}
        other => out.not_supported(restart.at, other, &JOB_RESTART),
    }
}

/// When the Pods of a Job are replaced, what follows from a failure, and who manages the Job.
fn policies(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let (failure, replacement, manager) =
        (spec.field("podFailurePolicy"), spec.field("podReplacementPolicy"), spec.field("managedBy"));
    let known: &[&str] = if failure.is_set() { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
    if replacement.is_set() {
        out.known(&replacement, known);
    }
    for rule in failure.field("rules").items() {
        let action = rule.field("action");
        if action.text().is_empty() {
            out.required(action.at, "what follows from the failure is needed");
        }
        if action.text() == "FailIndex" && !spec.has("backoffLimitPerIndex") {
            out.invalid(action.at, "requires the backoffLimitPerIndex to be set");
        }
        out.one_of(&action, &["Count", "FailIndex", "FailJob", "Ignore"]);
    }
    if manager.is_set() {
        out.needed_text(&manager, "the name of a controller is needed", names::path_of_domain);
        out.longest(&manager, LONGEST_MANAGER);
    }
}

/// The server makes the selector of a Job, unless the Job says that it brings its own.
fn generated_selector(out: &mut Report<'_>, job: &Node<'_, '_>, spec: &Node<'_, '_>) {
    let selector = spec.field("selector");
    if spec.field("manualSelector").is_true() {
        let template = spec.field("template");
        let meta = template.field("metadata");
        if !selector.is_set() {
            out.required(selector.at, "`manualSelector` leaves it to you");
        } else if label_selector::check(out, &selector) {
            matching(out, &selector, &meta.field("labels"));
        }
    } else if selector.is_set() && !meta::is_found(job.value) {
        out.invalid(selector.at, "`selector` not auto-generated");
        out.hint("leave `selector` out: the API server makes it");
    }
}

/// Pods of an Indexed Job are named after it, so its name and number must make a host name.
fn pod_names(out: &mut Report<'_>, job: &Node<'_, '_>, spec: &Node<'_, '_>) {
    let completions = spec.field("completions").int();
    let meta = job.field("metadata");
    let name = meta.field("name");
    if spec.text_of("completionMode") != "Indexed" || completions <= 0 || name.text().is_empty() {
        return;
    }
    let last = format!("{}-{}", name.text(), completions.saturating_sub(1));
    if !names::label(&last).is_empty() {
        out.invalid(name.at, format!("will not able to create pod with invalid DNS label: {}", shown(&last)));
    }
}

/// The template of a suspended Job without what can be changed in it: where its Pods may run, since 1.36 also what its containers ask for.
fn without_directives(template: &Value, version: Version) -> Value {
    const DIRECTIVES: [(&str, &[&str]); 3] = [
        ("/metadata", &["labels", "annotations"]),
        ("/spec", &["nodeSelector", "tolerations", "schedulingGates"]),
        ("/spec/affinity", &["nodeAffinity"]),
    ];
    let mut template = template.clone();
    for (parent, names) in DIRECTIVES {
        if let Some(fields) = template.pointer_mut(parent).and_then(Value::as_object_mut) {
            fields.retain(|name, _| !names.contains(&name.as_str()));
        }
    }
    if version >= Version::V1_36 {
        for list in ["/spec/containers", "/spec/initContainers"] {
            let containers = template.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            containers.filter_map(Value::as_object_mut).for_each(|container| drop(container.remove("resources")));
        }
    }
    template
}

/// What an update cannot change. What it leaves out has been filled in by the server or by a controller.
fn unchanged(out: &mut Report<'_>, kind: &str, spec: &Node<'_, '_>, before: &Node<'_, '_>) {
    const CHANGEABLE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let immutable: &[&str] = match kind {
        "Deployment" | "ReplicaSet" | "DaemonSet" => &["selector"],
        "Job" => &[
            "selector",
            "completionMode",
            "podFailurePolicy",
            "backoffLimitPerIndex",
            "managedBy",
            "successPolicy",
            "template",
            "completions",
        ],
        "StatefulSet" => {
            let fields = spec.entries().filter(|(name, _)| !CHANGEABLE.contains(name));
            let changed: Vec<&str> =
                fields.filter(|(name, value)| differs(value, before.peek(name))).map(|(name, _)| name).collect();
            if !changed.is_empty() {
                let message = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
                out.error(ErrorKind::Forbidden, Code::ValidateImmutable, spec.at, message);
                out.hint(format!("`{}` differs; delete the StatefulSet and create it anew", changed.join("`, `")));
            }
            return;
        }
        _ => return,
    };
    for name in immutable {
        let field = spec.field(name);
        let allowed = match *name {
            "template" if before.field("suspend").is_true() => {
                let fixed = without_directives(field.value, out.profile.version);
                !differs(&fixed, before.peek(name))
            }
            // An Indexed Job is scaled by changing both.
            "completions" => spec.text_of("completionMode") == "Indexed" && spec.peek("parallelism") == field.value,
            _ => false,
        };
        if !allowed && field.is_set() && differs(field.value, before.peek(name)) {
            out.immutable(field.at);
            out.hint(format!("delete the {kind} and create it anew"));
        }
    }
}
