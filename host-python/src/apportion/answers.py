"""Where claims get their devices, and what becomes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .frames import frame, row
from .records import Finding, ObjectRef, Record

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Unable(Record):
    """Devices that match and cannot serve a request."""
    #: The kind of reason.
    why: str
    #: The rest of it, to be read behind the kind: the pool, the gate, the amounts.
    detail: str
    #: Devices with this reason and none that comes before it.
    devices: int


@dataclass(frozen=True)
class RequestFunnel(Record):
    """How many devices of a node survive each test of one request."""
    #: Name of the claim.
    claim: str
    #: `request` or `request/subrequest`.
    request: str
    #: Devices needed.
    needed: int
    #: Devices that the node has access to, in usable pools.
    devices: int
    #: Of these, devices that the class and the request's selectors accept.
    matching: int
    #: Of these, devices that could serve the request if nobody used them: features, constraints' attributes, capacity
    #: and counters suffice.
    able: int
    #: Of these, devices without taints that the request does not tolerate.
    tolerated: int
    #: Of these, devices that are not in use and have enough capacity and counters left.
    free: int
    #: Devices that match and cannot serve the request, by reason; those that claims have as a whole are only not
    #: `free`. Devices in pools that cannot be used are not among `devices`.
    unable: list[Unable]


@dataclass(frozen=True)
class Failure(Record):
    """A refusal with a text of its own."""
    #: Code of the finding.
    code: str
    #: Message of the finding.
    error: str
    #: The finding.
    finding: Finding
    #: Whether it concerns one node only, so that other nodes are tried.
    node_local: bool
    #: The reference implementation's words, for comparison.
    reference: str


@dataclass(frozen=True)
class NodeRefusal(Record):
    """Why a node was refused."""
    #: The node.
    node: str
    #: What each request found on the node, in the order of the claims and requests.
    requests: list[RequestFunnel]
    #: Set where the reference gives a reason of its own; otherwise the claims just do not fit.
    failure: Failure | None = None


@dataclass(frozen=True)
class Answer(Record):
    """The answer to an allocation. No place is no error: `node` is empty then, and `refusals` has the reasons."""

    #: The node on which the claims fit; empty when they fit on none.
    node: str
    #: For each claim, in the order of the question, what becomes its `status.allocation`.
    allocations: list[dict[str, Any]]
    #: Why nodes were refused, in the order of trying, when the claims fit on none.
    refusals: list[NodeRefusal]
    #: Worth knowing beside the decision.
    findings: list[Finding]
    #: Search steps taken.
    steps: int

    @property
    def fits(self) -> bool:
        """Whether there is a place."""
        return bool(self.node)

    @property
    def devices(self) -> list[tuple[str, str, str]]:
        """Driver, pool and name of all devices of all claims, in the order of picking."""
        results = [result for one in self.allocations for result in one["devices"]["results"]]
        return [(result["driver"], result["pool"], result["device"]) for result in results]


@dataclass(frozen=True)
class AllocatedDevice(Record):
    """One device of a claim."""
    #: `request` or `request/subrequest`.
    request: str
    #: Driver of the device.
    driver: str
    #: Pool of the device.
    pool: str
    #: Name of the device.
    device: str
    #: Whether it was taken with admin access.
    admin_access: bool
    #: Which share of a shared device this is.
    share_id: str | None = None
    #: What the share uses up, by capacity name, as canonical quantities.
    consumed_capacity: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeReport(Record):
    """One node."""
    #: Name.
    name: str
    #: Whether no Node object was given and the name was taken from the slices.
    inferred: bool
    #: Devices in pools of this node alone.
    local_devices: int
    #: Of these, devices that are allocated, as a whole or in part.
    allocated_devices: int
    #: Pods on the node, as `namespace/name`.
    pods: list[str]


@dataclass(frozen=True)
class PodClaimReport(Record):
    """One entry of a Pod's `spec.resourceClaims`."""
    #: Name of the entry.
    name: str
    #: Name of the claim; absent where it could not be made or found.
    claim: str | None = None


@dataclass(frozen=True)
class PodReport(Record):
    """One Pod."""
    #: Namespace.
    namespace: str
    #: Name.
    name: str
    #: Why it is Pending, most important first. With a node: what keeps it from running there, mostly nothing.
    reasons: list[Finding]
    #: Its claims in the order of `spec.resourceClaims`; last the one for extended resources that devices serve, as
    #: `<extended-resources>`.
    claims: list[PodClaimReport]
    #: The workload controller that made it, where there is one.
    owner: ObjectRef | None = None
    #: The node it landed on; absent while it is Pending.
    node: str | None = None


@dataclass(frozen=True)
class ClaimReport(Record):
    """One claim."""
    #: Namespace.
    namespace: str
    #: Name.
    name: str
    #: Whether it has devices.
    allocated: bool
    #: Its devices in the order of picking.
    devices: list[AllocatedDevice]
    #: Pods that may use it, as `namespace/name`.
    reserved_for: list[str]
    #: The template that it was generated from, where there is one.
    template: str | None = None


@dataclass(frozen=True)
class Report(Record):
    """What DRA did with the objects of a cluster."""
    #: Nodes by name.
    nodes: list[NodeReport]
    #: Pods in the order in which they were scheduled: by priority, then in the order of the input.
    pods: list[PodReport]
    #: Claims by namespace and name.
    claims: list[ClaimReport]
    #: What is worth knowing about the run as a whole: inferred nodes, replicas left out, objects left aside.
    findings: list[Finding]

    @property
    def pending(self) -> list[PodReport]:
        """Pods without a node."""
        return [pod for pod in self.pods if pod.node is None]

    def to_frame(self, of: str = "pods") -> pandas.DataFrame:
        """A row per Pod (`pods`), node (`nodes`), claim (`claims`) or allocated device (`devices`). Needs pandas."""
        if of == "pods":
            return frame(PodReport, [
                row(pod, reasons=[one.message for one in pod.reasons], claims=[one.claim or one.name for one in pod.claims])
                for pod in self.pods
            ])
        if of == "devices":
            held = [(claim, device) for claim in self.claims for device in claim.devices]
            return frame(AllocatedDevice, [
                {"namespace": claim.namespace, "claim": claim.name, **row(device)} for claim, device in held
            ], first=("namespace", "claim"))
        if of == "claims":
            return frame(ClaimReport, [row(claim, devices=[one.device for one in claim.devices]) for claim in self.claims])
        if of == "nodes":
            return frame(NodeReport, [row(node) for node in self.nodes])
        raise ValueError(f"there is no frame of `{of}`: pods, nodes, claims or devices")
