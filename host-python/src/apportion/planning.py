"""How much fits, what is used, and what a change would do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .frames import frame, row
from .records import Finding, ObjectRef, Record

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class DeviceId(Record):
    """Identity of a device. A pool is known only together with its driver."""
    #: Driver.
    driver: str
    #: Pool of the driver.
    pool: str
    #: Device of the pool.
    device: str


@dataclass(frozen=True)
class PodDifference(Record):
    """One Pod."""
    #: `namespace/name`.
    pod: str
    #: Before.
    before: Any
    #: After.
    after: Any
    #: Why it is Pending after the change, where it was not before; what kept it before; or what is not known of one that goes.
    why: str | None = None


@dataclass(frozen=True)
class ClaimDifference(Record):
    """One claim."""
    #: `namespace/name`.
    claim: str
    #: Its devices before, as `driver/pool/device`; absent where there is no such claim.
    before: list[str] | None = None
    #: After.
    after: list[str] | None = None


@dataclass(frozen=True)
class Eviction(Record):
    """One Pod that has to go."""
    #: `namespace/name`.
    pod: str
    #: The node on which it runs.
    node: str
    #: Seconds from now; 0 for at once.
    in_seconds: int
    #: The claims whose devices are tainted, as `namespace/name`.
    claims: list[str]
    #: Whether nothing is known of the claims, so that the Pod may have to go and may stay.
    unknown: bool = False


@dataclass(frozen=True)
class DeviceLost(Record):
    """A device that is gone after the change, and who has it before."""
    #: The device.
    device: DeviceId
    #: The claim, as `namespace/name`.
    claim: str
    #: The Pods for which the claim is reserved, as `namespace/name`; PodGroups as `podgroups namespace/name`.
    users: list[str]


@dataclass(frozen=True)
class Totals(Record):
    """How much there is."""
    #: Devices in the newest generation of their pools.
    devices: int
    #: Of these, devices that claims have, as a whole or in part.
    used: int
    #: Pods.
    pods: int
    #: Of these, Pods without a node that are not finished.
    pending: int


@dataclass(frozen=True)
class Difference(Record):
    """What came out otherwise."""
    #: Nodes that are there only after the change.
    nodes_added: list[str]
    #: Nodes that are there only before.
    nodes_removed: list[str]
    #: Devices that are published only after the change, in the newest generation of their pools.
    devices_added: list[DeviceId]
    #: Devices that are published only before.
    devices_removed: list[DeviceId]
    #: Of the devices that are gone those that claims have before, by claim.
    devices_lost: list[DeviceLost]
    #: How much there is before.
    before: Totals
    #: How much there is after.
    after: Totals
    #: Pods by namespace and name that are there only on one side, or have another node.
    pods: list[PodDifference]
    #: Claims by namespace and name that are there only on one side, or have other devices.
    claims: list[ClaimDifference]
    #: Pods that a `NoExecute` taint drives out, by time.
    evictions: list[Eviction] = field(default_factory=list)
    #: What is compared: that Pods keep their places (`keep`), or that all are placed `anew`.
    placing: str | None = None
    #: Objects that are not compared, because nothing is known of them in one of two clusters; without a name a whole
    #: kind. The totals count only what is known.
    unknown: list[ObjectRef] = field(default_factory=list)
    #: Why objects of the change were refused and left out.
    findings: list[Finding] = field(default_factory=list)

    def to_frame(self) -> pandas.DataFrame:
        """A row per Pod that is placed differently. Needs pandas."""
        return frame(PodDifference, [row(one, before=_place(one.before), after=_place(one.after)) for one in self.pods])


def _place(place: Any) -> str:
    """`absent`, `pending` or the name of the node."""
    return str(place["node"]) if isinstance(place, dict) else str(place)


@dataclass(frozen=True)
class Bounds(Record):
    """Bounds on a number; equal where it is known exactly."""
    #: So many surely fit.
    at_least: int
    #: More surely do not.
    at_most: int


@dataclass(frozen=True)
class FitRow(Record):
    """How many fit in one place."""
    #: Node, `driver/pool` or class.
    name: str
    #: How many fit there, if all go there.
    fits: Bounds


@dataclass(frozen=True)
class Largest(Record):
    """The largest claim of a class."""
    #: The class.
    class_: str
    #: Devices of it that one claim can get on one node; a claim can have 32. Equal bounds are proven.
    devices: Bounds


@dataclass(frozen=True)
class NamespaceDevices(Record):
    """What a namespace has."""
    #: The namespace.
    namespace: str
    #: Devices in use there.
    devices: int


@dataclass(frozen=True)
class Remainder(Record):
    """What is left of a counter, or of a capacity of a shared device."""
    #: Driver.
    driver: str
    #: Pool.
    pool: str
    #: Counter set or device.
    of: str
    #: Counter or capacity.
    name: str
    #: How much is left.
    left: str
    #: How much there is.
    total: str


@dataclass(frozen=True)
class NodesOfTaint(Record):
    """A taint of nodes and the nodes that have it."""
    #: The taint, as `key=value:effect`.
    taint: str
    #: The nodes.
    nodes: list[str]


@dataclass(frozen=True)
class Fit(Record):
    """The answer."""
    #: In the whole cluster.
    total: Bounds
    #: By place, those where nothing fits included.
    rows: list[FitRow]
    #: What is missing for one more, once so many are placed.
    runs_out: str
    #: The most devices of each class that one claim could still get on one node as the cluster is.
    largest: list[Largest]
    #: Devices that match the claim and are free, but left over once no more fit.
    stranded: int
    #: What counters and shared capacities have left in the pools that were filled: nothing, or what is too little for
    #: another claim.
    remainders: list[Remainder]
    #: Devices in use by namespace.
    namespaces: list[NamespaceDevices]
    #: Taints of nodes where some fit, for Pods that tolerate them.
    node_taints: list[NodesOfTaint] = field(default_factory=list)

    def to_frame(self) -> pandas.DataFrame:
        """A row per place with `name`, `at_least` and `at_most`. Needs pandas."""
        return frame(FitRow, [
            {"name": one.name, "at_least": one.fits.at_least, "at_most": one.fits.at_most} for one in self.rows
        ], columns=("name", "at_least", "at_most"))


@dataclass(frozen=True)
class Devices(Record):
    """Devices in numbers: `total` is `used`, `free`, `stranded` and `unknown` together."""
    #: All of them.
    total: int
    #: Held by a claim, as a whole or in part; not only with admin access.
    used: int
    #: In nobody's use, and there is a claim that could get them.
    free: int
    #: In nobody's use, and no claim of a class or template of the input could get them.
    stranded: int
    #: Of all these, those that claims with admin access have beside.
    admin: int
    #: Not known to be used, where claims that may have devices are not given or were refused.
    unknown: int = 0


@dataclass(frozen=True)
class UsageRow(Record):
    """Devices of one class, model, node or namespace."""
    #: By what they are told apart.
    of: str
    #: Its name.
    name: str
    #: The devices.
    devices: Devices


@dataclass(frozen=True)
class AmountUsage(Record):
    """An amount: `total` is `used`, `free` and `stranded` together."""
    #: Driver.
    driver: str
    #: Pool.
    pool: str
    #: Counter set or device.
    source: str
    #: Counter or capacity.
    name: str
    #: All of it, as the driver publishes it.
    total: str
    #: Taken by claims.
    used: str
    #: What devices within reach of a claim can still draw.
    free: str
    #: The rest.
    stranded: str


@dataclass(frozen=True)
class StrandedBy(Record):
    """Why devices are stranded."""
    #: The reason nearest to being removed.
    reason: str
    #: How many.
    devices: int


@dataclass(frozen=True)
class Usage(Record):
    """The answer."""
    #: Whether no claim had devices, so that everything that fits was placed first.
    is_played: bool
    #: All devices.
    devices: Devices
    #: By class, model, node and namespace, in this order, then by name.
    rows: list[UsageRow]
    #: Why devices are stranded, most first.
    stranded: list[StrandedBy]
    #: Counters; like capacities and pools none where it is not known who has devices.
    counters: list[AmountUsage]
    #: Capacities of devices that can be shared.
    capacities: list[AmountUsage]
    #: Pools as the status of a ResourcePoolStatusRequest has them: every partition counts, and admin access does not.
    pools: list[Any]
    #: Devices that claims have and no slice of the newest generation publishes; no number counts them.
    unpublished: list[DeviceId] = field(default_factory=list)
    #: Taints of nodes that Pods have to tolerate to get the devices there.
    node_taints: list[NodesOfTaint] = field(default_factory=list)

    def to_frame(self) -> pandas.DataFrame:
        """A row per class, model, node and namespace with its numbers of devices. Needs pandas."""
        names = ("total", "used", "free", "stranded", "admin", "unknown")
        return frame(UsageRow, [
            {"of": one.of, "name": one.name, **{name: getattr(one.devices, name) for name in names}} for one in self.rows
        ], columns=("of", "name", *names))


@dataclass(frozen=True)
class PodLeft(Record):
    """A Pod without a place."""
    #: `namespace/name`.
    pod: str
    #: Why it has none: the first line of its explanation.
    why: str


@dataclass(frozen=True)
class NewNode(Record):
    """A new node."""
    #: Its name.
    name: str
    #: The Pods that are asked about and get a place there, as `namespace/name`.
    pods: list[str]
    #: Its devices afterwards.
    devices: Devices


@dataclass(frozen=True)
class ShapeNodes(Record):
    """A number of nodes of a shape."""
    #: The node that they are like.
    shape: str
    #: How many.
    nodes: int


@dataclass(frozen=True)
class ShapeNeeded(Record):
    """What nodes of one shape do."""
    #: The node that new ones are like.
    shape: str
    #: Fewer are not enough, whatever the open attributes are. This is proven.
    at_least: int
    #: Pods that get a place, on that many nodes; on as many as there may be where that many is not known.
    placed: int
    #: Pods that get none, the first 20: where `at_most` is known, on any number of such nodes.
    left: list[PodLeft]
    #: How many those are.
    left_count: int
    #: The new nodes with what they get, where `at_most` is known.
    nodes: list[NewNode]
    #: Devices of these nodes together.
    devices: Devices
    #: So many are enough, whatever the open attributes are; absent where no number up to the limit is known to be.
    at_most: int | None = None
    #: So many are enough if open attributes get the values that suit best; absent where no number is, or nothing is open.
    at_best: int | None = None


@dataclass(frozen=True)
class NodesNeeded(Record):
    """The answer."""
    #: Pods that are asked about.
    pods: int
    #: Of them, those that have a place on the nodes that there are.
    placed: int
    #: Those that have none there, the first 20.
    left: list[PodLeft]
    #: What nodes of each shape alone do for the others: first those like a node, then the templates, as asked.
    shapes: list[ShapeNeeded]
    #: Nodes of several shapes that together are enough for all, none of which can be left out; empty where one shape is enough, or no
    #: number is.
    together: list[ShapeNodes]
