//! PodGroups: what is said of the group is said of its Pods.

use apportion_core::explain::State;
use serde_json::Value;

use crate::Contradiction;
use crate::ask;
use crate::generate::Case;

/// Names of the Pods that say they are of a group.
fn members(case: &Case, namespace: &str, group: &str) -> Vec<String> {
    let is_member = |object: &&Value| {
        let named = |field: &str| object["spec"][field]["podGroupName"] == group;
        object["kind"] == "Pod"
            && ask::meta(object, "namespace") == namespace
            && (named("schedulingGroup") || named("workloadRef"))
    };
    case.objects.iter().filter(is_member).map(|object| ask::meta(object, "name").to_owned()).collect()
}

/// A group is placed where none of its Pods is Pending, in `explain` and in its own condition; a gang is never placed in part.
pub(super) fn explain(case: &Case) -> Result<(), Contradiction> {
    let (engine, _) = ask::engine(case);
    let (_, report) = ask::run(case);
    let (simulation, later) = ask::until(case, None);
    let groups: Vec<(String, String)> = engine.cluster().pod_groups().keys().cloned().collect();
    for (namespace, name) in groups {
        let members = members(case, &namespace, &name);
        let subject = ask::reference("PodGroup", &namespace, &name);
        let placed = |report: &crate::ask::Report| {
            let of_group = report.pods.iter().filter(|pod| pod.namespace == namespace && members.contains(&pod.name));
            let with_node = of_group.filter(|pod| pod.node.is_some());
            with_node.count()
        };
        let (now, then) = (placed(&report), placed(&later));
        let explained = ask::explain(&engine, Some(&subject), false)
            .map_err(|text| format!("a PodGroup that is there cannot be explained | {subject}: {text}"))?;
        let known = report.pods.iter().filter(|pod| pod.namespace == namespace && members.contains(&pod.name)).count();
        let state = explained[0].state;
        if known > 0 && (state == State::Placed) != (now == known) {
            let headline = &explained[0].headline;
            return Err(format!(
                "whether a PodGroup is placed | {subject}: run {now} of {known}, explain {state:?} {headline:?}"
            ));
        }
        let Some(stored) = simulation.server().get(&subject) else { continue };
        let conditions = stored["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let says = |condition: &&Value| condition["type"] == "PodGroupScheduled" && condition["status"] == "True";
        let is_gang = engine.cluster().profile().features.gang_scheduling;
        let least = ["policy", "schedulingPolicy"]
            .iter()
            .find_map(|field| stored["spec"][field]["gang"]["minCount"].as_u64())
            .filter(|_| is_gang)
            .unwrap_or(0);
        // Pods of a gang that was scheduled have no node yet while their drivers prepare the devices, and none any more once a taint
        // has evicted them.
        let waits = ["bindingConditions", "NoExecute"].iter().any(|text| super::agreement::says(case, text));
        if !waits && conditions.iter().find(says).is_some() && (then as u64) < least {
            return Err(format!(
                "the condition of a PodGroup | {subject}: scheduled, and {then} of at least {least} Pods have a node"
            ));
        }
    }
    Ok(())
}
