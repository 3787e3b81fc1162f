//! Kinds of which a controller makes Pods. Their Pod templates are held against their own schema.

use super::Type;
use super::meta::{LABEL_SELECTOR, META};
use Type::{Any, Flag, Int32, Int64, List, Map, Opt, Text};

pub(in crate::validate) static DEPLOYMENT: Type = kind! { spec: DEPLOYMENT_SPEC; status: Any };
pub(in crate::validate) static REPLICA_SET: Type = kind! { spec: REPLICA_SET_SPEC; status: Any };
pub(in crate::validate) static STATEFUL_SET: Type = kind! { spec: STATEFUL_SET_SPEC; status: Any };
pub(in crate::validate) static DAEMON_SET: Type = kind! { spec: DAEMON_SET_SPEC; status: Any };
pub(in crate::validate) static REPLICATION_CONTROLLER: Type = kind! { spec: REPLICATION_CONTROLLER_SPEC; status: Any };
pub(in crate::validate) static JOB: Type = kind! { spec: JOB_SPEC; status: Any };
pub(in crate::validate) static CRON_JOB: Type = kind! { spec: CRON_JOB_SPEC; status: Any };

const SELECTOR: Type = Opt(&LABEL_SELECTOR);
const STRATEGY: Type = object! { type: Text; rollingUpdate: Any };

const DEPLOYMENT_SPEC: Type = object! {
    replicas: Opt(&Int32);
    selector: SELECTOR;
    template: Any;
    strategy: STRATEGY;
    minReadySeconds: Int32;
    revisionHistoryLimit: Opt(&Int32);
    paused: Flag;
    progressDeadlineSeconds: Opt(&Int32);
};

const REPLICA_SET_SPEC: Type = object! {
    replicas: Opt(&Int32);
    minReadySeconds: Int32;
    selector: SELECTOR;
    template: Any;
};

const STATEFUL_SET_SPEC: Type = object! {
    replicas: Opt(&Int32);
    selector: SELECTOR;
    template: Any;
    volumeClaimTemplates: List(&Any);
    serviceName, podManagementPolicy: Text;
    updateStrategy: STRATEGY;
    revisionHistoryLimit: Opt(&Int32);
    minReadySeconds: Int32;
    persistentVolumeClaimRetentionPolicy, ordinals: Any;
};

const DAEMON_SET_SPEC: Type = object! {
    selector: SELECTOR;
    template: Any;
    updateStrategy: STRATEGY;
    minReadySeconds: Int32;
    revisionHistoryLimit: Opt(&Int32);
};

const REPLICATION_CONTROLLER_SPEC: Type = object! {
    replicas: Opt(&Int32);
    minReadySeconds: Int32;
    selector: Map(&Text);
    template: Any;
};

const JOB_SPEC: Type = object! {
    parallelism, completions: Opt(&Int32);
    activeDeadlineSeconds: Opt(&Int64);
    podFailurePolicy, successPolicy: Any;
    backoffLimit, backoffLimitPerIndex, maxFailedIndexes: Opt(&Int32);
    selector: SELECTOR;
    manualSelector: Opt(&Flag);
    template: Any;
    ttlSecondsAfterFinished: Opt(&Int32);
    completionMode: Opt(&Text);
    suspend: Opt(&Flag);
    podReplacementPolicy, managedBy: Opt(&Text);
    scheduling @since(V1_37): Any;
};

const CRON_JOB_SPEC: Type = object! {
    schedule: Text;
    timeZone: Opt(&Text);
    startingDeadlineSeconds: Opt(&Int64);
    concurrencyPolicy: Text;
    suspend: Opt(&Flag);
    jobTemplate: JOB_TEMPLATE;
    successfulJobsHistoryLimit, failedJobsHistoryLimit: Opt(&Int32);
};

const JOB_TEMPLATE: Type = object! { metadata: META; spec: JOB_SPEC };

pub(in crate::validate) static JOB_SET: Type = open! { spec: JOB_SET_SPEC };
const JOB_SET_SPEC: Type = open! { replicatedJobs: List(&REPLICATED_JOB) };
const REPLICATED_JOB: Type = open! { name: Text; replicas: Int32; template: JOB_TEMPLATE };

pub(in crate::validate) static LEADER_WORKER_SET: Type = open! { spec: LEADER_WORKER_SET_SPEC };
const LEADER_WORKER_SET_SPEC: Type = open! { replicas: Opt(&Int32); leaderWorkerTemplate: LEADER_WORKER_TEMPLATE };
const LEADER_WORKER_TEMPLATE: Type = open! { size: Opt(&Int32) };
