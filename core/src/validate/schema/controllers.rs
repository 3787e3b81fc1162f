//! Kinds of which a controller makes Pods. Their Pod templates are held against their own schema.

use super::meta::{LABEL_SELECTOR, META};
use super::{Field, Type, field};
use Type::{Any, Flag, Int32, Int64, List, Map, Object, Open, Opt, Text};

/// The shape of a kind that the API server knows, and of the parts of custom kinds that have rules.
pub(in crate::validate) fn of_controller(kind: &str) -> Option<&'static Type> {
    static DEPLOYMENT_TYPE: Type = Object(DEPLOYMENT);
    static REPLICA_SET_TYPE: Type = Object(REPLICA_SET);
    static STATEFUL_SET_TYPE: Type = Object(STATEFUL_SET);
    static DAEMON_SET_TYPE: Type = Object(DAEMON_SET);
    static CONTROLLER_TYPE: Type = Object(REPLICATION_CONTROLLER);
    static JOB_TYPE: Type = Object(JOB);
    static CRON_JOB_TYPE: Type = Object(CRON_JOB);
    static JOB_SET_TYPE: Type = Open(JOB_SET);
    static LEADER_WORKER_SET_TYPE: Type = Open(LEADER_WORKER_SET);
    Some(match kind {
        "Deployment" => &DEPLOYMENT_TYPE,
        "ReplicaSet" => &REPLICA_SET_TYPE,
        "StatefulSet" => &STATEFUL_SET_TYPE,
        "DaemonSet" => &DAEMON_SET_TYPE,
        "ReplicationController" => &CONTROLLER_TYPE,
        "Job" => &JOB_TYPE,
        "CronJob" => &CRON_JOB_TYPE,
        "JobSet" => &JOB_SET_TYPE,
        "LeaderWorkerSet" => &LEADER_WORKER_SET_TYPE,
        _ => return None,
    })
}

macro_rules! kind {
    ($spec:expr) => {
        &[
            field("apiVersion", Text),
            field("kind", Text),
            field("metadata", Object(META)),
            field("spec", Object($spec)),
            field("status", Any),
        ]
    };
}

static DEPLOYMENT: &[Field] = kind!(DEPLOYMENT_SPEC);
static REPLICA_SET: &[Field] = kind!(REPLICA_SET_SPEC);
static STATEFUL_SET: &[Field] = kind!(STATEFUL_SET_SPEC);
static DAEMON_SET: &[Field] = kind!(DAEMON_SET_SPEC);
static REPLICATION_CONTROLLER: &[Field] = kind!(REPLICATION_CONTROLLER_SPEC);
static JOB: &[Field] = kind!(JOB_SPEC);
static CRON_JOB: &[Field] = kind!(CRON_JOB_SPEC);

const SELECTOR: Type = Opt(&Object(LABEL_SELECTOR));
const STRATEGY: Type = Object(STRATEGY_FIELDS);
static STRATEGY_FIELDS: &[Field] = &[field("type", Text), field("rollingUpdate", Any)];

static DEPLOYMENT_SPEC: &[Field] = &[
    field("replicas", Opt(&Int32)),
    field("selector", SELECTOR),
    field("template", Any),
    field("strategy", STRATEGY),
    field("minReadySeconds", Int32),
    field("revisionHistoryLimit", Opt(&Int32)),
    field("paused", Flag),
    field("progressDeadlineSeconds", Opt(&Int32)),
];

static REPLICA_SET_SPEC: &[Field] = &[
    field("replicas", Opt(&Int32)),
    field("minReadySeconds", Int32),
    field("selector", SELECTOR),
    field("template", Any),
];

static STATEFUL_SET_SPEC: &[Field] = &[
    field("replicas", Opt(&Int32)),
    field("selector", SELECTOR),
    field("template", Any),
    field("volumeClaimTemplates", List(&Any)),
    field("serviceName", Text),
    field("podManagementPolicy", Text),
    field("updateStrategy", STRATEGY),
    field("revisionHistoryLimit", Opt(&Int32)),
    field("minReadySeconds", Int32),
    field("persistentVolumeClaimRetentionPolicy", Any),
    field("ordinals", Any),
];

static DAEMON_SET_SPEC: &[Field] = &[
    field("selector", SELECTOR),
    field("template", Any),
    field("updateStrategy", STRATEGY),
    field("minReadySeconds", Int32),
    field("revisionHistoryLimit", Opt(&Int32)),
];

static REPLICATION_CONTROLLER_SPEC: &[Field] = &[
    field("replicas", Opt(&Int32)),
    field("minReadySeconds", Int32),
    field("selector", Map(&Text)),
    field("template", Any),
];

static JOB_SPEC: &[Field] = &[
    field("parallelism", Opt(&Int32)),
    field("completions", Opt(&Int32)),
    field("activeDeadlineSeconds", Opt(&Int64)),
    field("podFailurePolicy", Any),
    field("successPolicy", Any),
    field("backoffLimit", Opt(&Int32)),
    field("backoffLimitPerIndex", Opt(&Int32)),
    field("maxFailedIndexes", Opt(&Int32)),
    field("selector", SELECTOR),
    field("manualSelector", Opt(&Flag)),
    field("template", Any),
    field("ttlSecondsAfterFinished", Opt(&Int32)),
    field("completionMode", Opt(&Text)),
    field("suspend", Opt(&Flag)),
    field("podReplacementPolicy", Opt(&Text)),
    field("managedBy", Opt(&Text)),
    field("scheduling", Any),
];

static CRON_JOB_SPEC: &[Field] = &[
    field("schedule", Text),
    field("timeZone", Opt(&Text)),
    field("startingDeadlineSeconds", Opt(&Int64)),
    field("concurrencyPolicy", Text),
    field("suspend", Opt(&Flag)),
    field("jobTemplate", Object(JOB_TEMPLATE)),
    field("successfulJobsHistoryLimit", Opt(&Int32)),
    field("failedJobsHistoryLimit", Opt(&Int32)),
];

static JOB_TEMPLATE: &[Field] = &[field("metadata", Object(META)), field("spec", Object(JOB_SPEC))];

static JOB_SET: &[Field] = &[field("spec", Open(JOB_SET_SPEC))];
static JOB_SET_SPEC: &[Field] = &[field("replicatedJobs", List(&Open(REPLICATED_JOB)))];
static REPLICATED_JOB: &[Field] =
    &[field("name", Text), field("replicas", Int32), field("template", Object(JOB_TEMPLATE))];

static LEADER_WORKER_SET: &[Field] = &[field("spec", Open(LEADER_WORKER_SET_SPEC))];
static LEADER_WORKER_SET_SPEC: &[Field] =
    &[field("replicas", Opt(&Int32)), field("leaderWorkerTemplate", Open(LEADER_WORKER_TEMPLATE))];
static LEADER_WORKER_TEMPLATE: &[Field] = &[field("size", Opt(&Int32))];
