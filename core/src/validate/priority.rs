//! The priority of a new Pod, as the API server's admission gives it: from its PriorityClass.
//!
//! Source: `plugin/pkg/admission/priority`.

use crate::api::others::SYSTEM_PRIORITIES;
use crate::finding::{Code, Finding};
use crate::near::nearest_name;

/// Where a Pod names its PriorityClass.
pub(crate) const PRIORITY_CLASS: &str = "spec.priorityClassName";

/// What a PriorityClass that says nothing about it means.
const PREEMPTS: &str = "PreemptLowerPriority";

/// A PriorityClass, as far as admission looks at it.
#[derive(Clone, Copy)]
pub(crate) struct Class<'c> {
    /// Its name; empty for what a Pod gets without any class.
    pub(crate) name: &'c str,
    /// The priority.
    pub(crate) value: i64,
    /// Whether Pods preempt; empty where the class does not say it.
    pub(crate) policy: &'c str,
    /// Whether it is for Pods that name none.
    pub(crate) is_default: bool,
}

/// What a Pod says about its priority; empty where it says nothing.
pub(crate) struct Asked<'p> {
    /// Its class.
    pub(crate) class: &'p str,
    /// The number.
    pub(crate) priority: Option<i64>,
    /// Whether it preempts.
    pub(crate) policy: &'p str,
}

/// The class that a Pod gets. Without any class it is not known which ones there are: then a Pod gets none, other than those that every
/// cluster has.
///
/// # Errors
///
/// What the API server says to a Pod whose class does not exist, or that contradicts its class.
pub(crate) fn admit<'c>(classes: &[Class<'c>], asked: &Asked<'_>) -> Result<Option<Class<'c>>, String> {
    let class = match asked.class {
        "" if classes.is_empty() => None,
        // Of several the one with the lowest value.
        "" => classes.iter().filter(|class| class.is_default).min_by_key(|class| class.value).copied().or(Some(NONE)),
        name => named(classes, name),
    };
    let Some(mut class) = class else {
        let is_missing = !classes.is_empty() && !asked.class.is_empty();
        return if is_missing { Err(no_class(asked.class)) } else { Ok(None) };
    };
    if class.policy.is_empty() {
        class.policy = PREEMPTS;
    }
    if let Some(own) = asked.priority.filter(|own| *own != class.value) {
        return Err(format!(
            "the integer value of priority ({own}) must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name",
            class.value
        ));
    }
    if !asked.policy.is_empty() && asked.policy != class.policy {
        return Err(format!(
            "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name",
            asked.policy, class.policy
        ));
    }
    Ok(Some(class))
}

/// What a Pod without a class gets where none is the default.
const NONE: Class<'static> = Class { name: "", value: 0, policy: "", is_default: false };

/// The class of a name, among these or those of every cluster.
pub(crate) fn named<'c>(classes: &[Class<'c>], name: &str) -> Option<Class<'c>> {
    let system = || SYSTEM_PRIORITIES.into_iter().find(|(known, _)| *known == name);
    let given = classes.iter().find(|class| class.name == name).copied();
    given.or_else(|| system().map(|(name, value)| Class { name, value, ..NONE }))
}

/// That a class does not exist.
pub(super) fn no_class(name: &str) -> String {
    format!("no PriorityClass with name {name} was found")
}

/// What the API server says to a Pod because of its class.
pub(crate) fn refusal(pod: &str, problem: &str) -> Finding {
    Finding::new(Code::RunRefused, PRIORITY_CLASS, format!("refused: pods \"{pod}\" is forbidden: {problem}"))
}

/// The same with the class that may be meant.
pub(crate) fn with_near_class(classes: &[Class<'_>], class: &str, finding: Finding) -> Finding {
    match nearest_name(class, classes.iter().map(|known| known.name)) {
        Some(near) if near != class => finding.with_hint(format!("did you mean `{near}`?")),
        _ => finding,
    }
}
