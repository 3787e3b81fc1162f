"""Kinds: their groups, which live in a namespace, and the words that name them."""

from __future__ import annotations

#: What names sources of cluster-wide claim templates, which share their kind with those of Kubernetes itself.
SOURCE = "ClusterResourceClaimTemplate.apportion.dev"

#: The configuration of a kube-scheduler: no object of an API server. There is one, of this name.
CONFIGURATION, CONFIGURATION_NAME = "KubeSchedulerConfiguration", "kube-scheduler"

#: API group of each kind, and its short names in kubectl and on the command line.
_KINDS = {
    "Namespace": ("", "ns"),
    "Node": ("", "no"),
    "PersistentVolume": ("", "pv"),
    "PersistentVolumeClaim": ("", "pvc"),
    "Pod": ("", "po"),
    "Service": ("", "svc"),
    SOURCE: ("apportion.dev", "crct"),
    "DaemonSet": ("apps", "ds"),
    "Deployment": ("apps", "deploy"),
    "ReplicaSet": ("apps", "rs"),
    "StatefulSet": ("apps", "sts"),
    "CronJob": ("batch", "cj"),
    "Job": ("batch", ""),
    "JobSet": ("jobset.x-k8s.io", ""),
    CONFIGURATION: ("kubescheduler.config.k8s.io", ""),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io", "lws"),
    "PodDisruptionBudget": ("policy", "pdb"),
    "ClusterResourceClaimTemplate": ("resource.k8s.io", ""),
    "DeviceClass": ("resource.k8s.io", ""),
    "DeviceTaintRule": ("resource.k8s.io", ""),
    "ResourceClaim": ("resource.k8s.io", "claim"),
    "ResourceClaimTemplate": ("resource.k8s.io", ""),
    "ResourcePoolStatusRequest": ("resource.k8s.io", ""),
    "ResourceSlice": ("resource.k8s.io", "slice"),
    "CompositePodGroup": ("scheduling.k8s.io", ""),
    "PodGroup": ("scheduling.k8s.io", ""),
    "PriorityClass": ("scheduling.k8s.io", "pc"),
    "Workload": ("scheduling.k8s.io", ""),
    "CSIDriver": ("storage.k8s.io", ""),
    "CSINode": ("storage.k8s.io", ""),
    "CSIStorageCapacity": ("storage.k8s.io", ""),
    "StorageClass": ("storage.k8s.io", "sc"),
    "VolumeAttachment": ("storage.k8s.io", ""),
}

_CLUSTER_SCOPED = {
    "ClusterResourceClaimTemplate",
    CONFIGURATION,
    "CSIDriver",
    "CSINode",
    "DeviceClass",
    "DeviceTaintRule",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "ResourcePoolStatusRequest",
    "ResourceSlice",
    SOURCE,
    "StorageClass",
    "VolumeAttachment",
}


def group_of(kind: str) -> str:
    """The API group; empty for the core group, and for kinds that are not known."""
    return _KINDS.get(kind, ("",))[0]


def is_namespaced(kind: str) -> bool:
    """Whether objects of a kind live in a namespace; of kinds that are not known, all do."""
    return kind not in _CLUSTER_SCOPED


def _words() -> dict[str, str]:
    words: dict[str, str] = {}
    for kind, (_, short) in _KINDS.items():
        name, dot, group = kind.lower().partition(".")
        plural = f"{name}es" if name.endswith("s") else f"{name}s"
        words |= {word: kind for word in (kind.lower(), f"{plural}{dot}{group}", short) if word}
    return words


_WORDS = _words()


def kind_named(word: str) -> str | None:
    """The kind that a word of kubectl means, such as `Pod`, `pods` or `po`, in any case."""
    return _WORDS.get(word.lower())
