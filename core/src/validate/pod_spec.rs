//! The spec of a Pod or of a Pod template, as far as it says where and how Pods run.
//!
//! Volumes, probes, security contexts and the environment of containers are known by name only.
//!
//! Source: `ValidatePodSpec` and what it calls in `pkg/apis/core/validation`.

use std::collections::BTreeSet;

use super::names;
use super::node::Node;
use super::report::{Report, shown};
use super::resources;
use super::{label_selector, meta, node_selector, taints::EFFECTS_OF_NODES};
use crate::api::pod::NodeToleration;

const RESTART: [&str; 3] = ["Always", "OnFailure", "Never"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const MOST_SECONDS: i64 = i32::MAX as i64;

/// The rules of a spec. `is_pod` tells a Pod from a template.
pub(super) fn check(out: &mut Report<'_>, spec: &Node<'_, '_>, is_pod: bool) {
    containers(out, spec);
    resources::of_pod(out, spec);
    host_network(out, spec, is_pod);
    out.one_of(&spec.field("restartPolicy"), &RESTART);
    out.one_of(&spec.field("dnsPolicy"), &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    out.one_of(&spec.field("preemptionPolicy"), &["PreemptLowerPriority", "Never"]);
    let selector = spec.field("nodeSelector");
    meta::labels(out, &selector);
    affinity(out, &spec.field("affinity"));
    let gates = spec.field("schedulingGates");
    let mut seen = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.text_of("name");
        out.invalid_each(gate.at, name, &names::label_key(name));
        if !seen.insert(name) {
            out.duplicate(gate.at, name);
        }
    }
    spread(out, &spec.field("topologySpreadConstraints"));
    for name in ["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"] {
        out.some_text(&spec.field(name), names::subdomain);
    }
    for name in ["hostname", "subdomain"] {
        out.some_text(&spec.field(name), names::label);
    }
    let deadline = spec.field("activeDeadlineSeconds");
    if deadline.is_set() && !(1..=MOST_SECONDS).contains(&deadline.int()) {
        out.invalid(deadline.at, format!("must be between 1 and {MOST_SECONDS}, inclusive"));
    }
    for toleration in spec.field("tolerations").items() {
        check_toleration(out, &toleration);
    }
    resources::overhead(out, &spec.field("overhead"));
}

fn containers(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let (main, init) = (spec.field("containers"), spec.field("initContainers"));
    if main.len() == 0 {
        out.required(main.at, "a Pod needs at least one container");
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut ports = BTreeSet::new();
    for container in main.items() {
        check_container(out, &container);
        let name = container.field("name");
        if !names.insert(name.text()) {
            out.duplicate(name.at, name.text());
        }
        unique_ports(out, &container, &mut ports);
    }
    for container in init.items() {
        check_container(out, &container);
        let name = container.field("name");
        if names.contains(name.text()) {
            out.duplicate(name.at, name.text());
        } else if !name.text().is_empty() {
            names.insert(name.text());
        }
        // Init containers run one after another.
        unique_ports(out, &container, &mut BTreeSet::new());
        if container.text_of("restartPolicy") != "Always" {
            for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if container.has(field) {
                    let message = "may not be set for init containers without restartPolicy=Always";
                    out.forbidden(container.at.field(field), message);
                }
            }
        }
    }
}

fn check_container(out: &mut Report<'_>, container: &Node<'_, '_>) {
    let (name, image) = (container.field("name"), container.field("image"));
    out.needed_text(&name, "a container needs a name", names::label);
    if image.text().is_empty() {
        out.required(image.at, "a container needs an image");
    }
    out.one_of(&container.field("terminationMessagePolicy"), &["FallbackToLogsOnError", "File"]);
    out.one_of(&container.field("imagePullPolicy"), &["Always", "IfNotPresent", "Never"]);
    out.one_of(&container.field("restartPolicy"), &["Always", "Never", "OnFailure"]);
    ports(out, &container.field("ports"));
    resources::of_container(out, &container.field("resources"));
}

fn ports(out: &mut Report<'_>, ports: &Node<'_, '_>) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let (name, own, host) = (port.field("name"), port.field("containerPort"), port.field("hostPort"));
        if !name.text().is_empty() {
            let problems = names::port(name.text());
            if problems.is_empty() && !names.insert(name.text()) {
                out.duplicate(name.at, name.text());
            }
            out.invalid_each(name.at, name.text(), &problems);
        }
        let range = |out: &mut Report<'_>, port: &Node<'_, '_>| {
            if !(1..=65535).contains(&port.int()) {
                out.invalid(port.at, "must be between 1 and 65535, inclusive");
            }
        };
        if own.int() == 0 {
            out.required(own.at, "the port that the container listens on is needed");
        } else {
            range(out, &own);
        }
        if host.int() != 0 {
            range(out, &host);
        }
        out.one_of(&port.field("protocol"), &PROTOCOLS);
    }
}

/// A port of the node is used once.
fn unique_ports(out: &mut Report<'_>, container: &Node<'_, '_>, seen: &mut BTreeSet<String>) {
    for port in container.field("ports").items() {
        let host = port.field("hostPort");
        if host.int() == 0 {
            continue;
        }
        let protocol = if port.has("protocol") { port.text_of("protocol") } else { "TCP" };
        let key = format!("{protocol}/{}/{}", port.text_of("hostIP"), host.int());
        if seen.contains(&key) {
            out.duplicate(host.at, &key);
        }
        seen.insert(key);
    }
}

/// On the node's network a container's ports are the node's. A Pod that leaves them out gets them, a template does not.
fn host_network(out: &mut Report<'_>, spec: &Node<'_, '_>, is_pod: bool) {
    if !spec.field("hostNetwork").is_true() {
        return;
    }
    for container in spec.field("containers").items() {
        for port in container.field("ports").items() {
            let (host, own) = (port.field("hostPort"), port.peek("containerPort").as_i64().unwrap_or_default());
            if (is_pod || host.int() != 0) && host.int() != own {
                out.invalid(host.at, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn affinity(out: &mut Report<'_>, affinity: &Node<'_, '_>) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    if !affinity.is_set() {
        return;
    }
    let nodes = affinity.field("nodeAffinity");
    let required = nodes.field(REQUIRED);
    if required.is_set() {
        node_selector::check(out, &required);
    }
    for preferred in nodes.field(PREFERRED).items() {
        weight(out, &preferred);
        node_selector::term(out, &preferred.field("preference"), true);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.field(name);
        for term in pods.field(REQUIRED).items() {
            pod_term(out, &term);
        }
        for preferred in pods.field(PREFERRED).items() {
            weight(out, &preferred);
            pod_term(out, &preferred.field("podAffinityTerm"));
        }
    }
}

fn weight(out: &mut Report<'_>, preferred: &Node<'_, '_>) {
    let weight = preferred.field("weight");
    if !(1..=100).contains(&weight.int()) {
        out.invalid(weight.at, "must be in the range 1-100");
    }
}

fn pod_term(out: &mut Report<'_>, term: &Node<'_, '_>) {
    label_selector::check(out, &term.field("labelSelector"));
    label_selector::check(out, &term.field("namespaceSelector"));
    for namespace in term.field("namespaces").list() {
        let namespace = namespace.as_str().unwrap_or_default();
        out.invalid_each(term.at.field("namespace"), namespace, &names::label(namespace));
    }
    let key = term.field("topologyKey");
    if key.text().is_empty() {
        out.required(key.at, "can not be empty");
        out.hint("name a label of nodes, for instance `kubernetes.io/hostname`");
    }
    out.text(&key, names::label_key);
}

fn spread(out: &mut Report<'_>, constraints: &Node<'_, '_>) {
    let key = |value: &serde_json::Value| ["topologyKey", "whenUnsatisfiable"].map(|name| value.get(name).cloned());
    for (index, constraint) in constraints.items().enumerate() {
        let (skew, topology) = (constraint.field("maxSkew"), constraint.field("topologyKey"));
        let when = constraint.field("whenUnsatisfiable");
        if skew.int() <= 0 {
            out.invalid(skew.at, "must be greater than zero");
        }
        if topology.text().is_empty() {
            out.required(topology.at, "can not be empty");
        }
        out.known(&when, &["DoNotSchedule", "ScheduleAnyway"]);
        if constraints.list().iter().skip(index.saturating_add(1)).any(|other| key(other) == key(constraint.value)) {
            let at = constraint.at.field("{topologyKey, whenUnsatisfiable}");
            out.duplicate(at, &format!("{{{}, {}}}", topology.text(), when.text()));
        }
        let domains = constraint.field("minDomains");
        if domains.is_set() {
            if domains.int() <= 0 {
                out.invalid(domains.at, "must be greater than zero");
            }
            if when.text() != "DoNotSchedule" {
                out.invalid(domains.at, "can only use minDomains if whenUnsatisfiable=DoNotSchedule");
            }
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            out.one_of(&constraint.field(policy), &["Honor", "Ignore"]);
        }
        label_selector::check(out, &constraint.field("labelSelector"));
    }
}

fn check_toleration(out: &mut Report<'_>, toleration: &Node<'_, '_>) {
    let (key, operator) = (toleration.field("key"), toleration.field("operator"));
    let (value, effect) = (toleration.field("value"), toleration.field("effect"));
    if !key.text().is_empty() {
        out.text(&key, names::label_key);
    } else if operator.text() != "Exists" {
        let message = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        out.invalid(operator.at, message);
    }
    if toleration.has("tolerationSeconds") && effect.text() != "NoExecute" {
        out.invalid(effect.at, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    match operator.text() {
        "" | "Equal" => {
            let problems = names::label_value(value.text());
            if !problems.is_empty() {
                out.invalid(operator.at, format!("`{}` {}", shown(value.text()), problems.join("; ")));
            }
        }
        "Exists" if !value.text().is_empty() => {
            out.invalid(operator.at, "value must be empty when `operator` is 'Exists'");
            out.hint("leave `value` out, or write `operator: Equal`");
        }
        "Exists" => {}
        "Lt" | "Gt" if out.profile.features.toleration_comparison => {
            if NodeToleration::number(value.text()).is_none() {
                let message = format!("`{}` is no whole number without leading zeros", shown(value.text()));
                out.invalid(value.at, message);
            }
        }
        other => out.not_supported(operator.at, other, &["Equal", "Exists"]),
    }
    out.one_of(&effect, &EFFECTS_OF_NODES);
}
