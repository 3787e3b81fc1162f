"""Why something is Pending."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .records import Finding, ObjectRef, Record


@dataclass(frozen=True)
class SelectorRef(Record):
    """One selector."""
    #: Whether it is one of the class's, not of the request's.
    of_class: bool
    #: Its position, from 0.
    index: int
    #: The expression.
    expression: str


@dataclass(frozen=True)
class ReasonCount(Record):
    """How many devices have one reason."""
    #: The kind of reason.
    kind: str
    #: Devices that are counted here, because they have no reason that is harder to remove.
    devices: int
    #: Of these, devices that have no other reason.
    alone: int
    #: The reason, to be read behind the number of devices.
    text: str
    #: Which selector.
    selector: SelectorRef | None = None


@dataclass(frozen=True)
class ValueCount(Record):
    """A value, and how many devices have it."""
    #: The value as selectors write it.
    value: str
    #: Devices that have it.
    devices: int


@dataclass(frozen=True)
class AttributeStatistic(Record):
    """What devices have for one attribute or capacity that a selector reads."""
    #: The name as selectors write it: `device.attributes["gpu.example.com"].memory`.
    name: str
    #: Devices of the class that have it.
    present: int
    #: Devices of the class.
    devices: int
    #: The most frequent values with their number of devices, at most eight.
    values: list[ValueCount]
    #: What was probably meant, where hardly any device has it.
    did_you_mean: str | None = None


@dataclass(frozen=True)
class Served(Record):
    """A container and the extended resource that it asks for."""
    #: Name of the container.
    container: str
    #: Name of the extended resource, `example.com/gpu`.
    resource: str


@dataclass(frozen=True)
class RequestExplanation(Record):
    """What one request, or one alternative, finds in the cluster."""
    #: Name of the claim.
    claim: str
    #: `request` or `request/subrequest`.
    request: str
    #: Class of the devices.
    class_: str
    #: Devices needed on one node.
    needed: int
    #: Whether all devices that match are asked for.
    is_all: bool
    #: Devices of the class, each counted once however many nodes have access.
    devices: int
    #: Of these, devices that nothing keeps from the request on some node.
    usable: int
    #: The most usable devices that one node has.
    best: int
    #: Devices that are not of the class.
    other_devices: int
    #: The devices that are not usable, each under one reason; the reason that is hardest to remove first.
    reasons: list[ReasonCount]
    #: What the selectors that are false read.
    reads: list[AttributeStatistic]
    #: For whom the scheduler makes the request, where no user wrote it.
    serves: Served | None = None


@dataclass(frozen=True)
class ClosestNode(Record):
    """The node that comes nearest to fitting."""
    #: Name.
    name: str
    #: Devices that it has for all requests, at most as many as are needed.
    found: int
    #: Devices that all requests need.
    needed: int
    #: How many nodes are exactly like it for this question, itself included.
    alike: int


@dataclass(frozen=True)
class ConflictPart(Record):
    """One part of a contradiction: without it the rest could hold."""
    #: What kind of part: `request`, `selector`, `constraint`, `taints` or `allocations`.
    kind: str
    #: In words.
    text: str


@dataclass(frozen=True)
class SuggestionStep(Record):
    """One step of a suggestion."""
    #: What is done, in one line.
    text: str
    #: The command for it, which reads the manifest from its standard input where there is one; absent where no command does it.
    command: str | None = None
    #: What is written.
    manifest: Any = None


@dataclass(frozen=True)
class Suggestion(Record):
    """A change, or several that help only together."""
    #: What to do, in one line.
    text: str
    #: The changes; without any one of them the others do not help.
    changes: list[Any]
    #: A node on which the claims then fit.
    node: str | None = None
    #: The changed objects, as they are to be written: claims, claim templates, classes. Empty where nothing is
    #: written.
    manifests: list[Any] = field(default_factory=list)
    #: Objects of a real cluster to delete before the manifests are applied, as they cannot be changed.
    deletes: list[ObjectRef] = field(default_factory=list)
    #: The same as a procedure: what to do, in this order.
    steps: list[SuggestionStep] = field(default_factory=list)


@dataclass(frozen=True)
class Explanation(Record):
    """Why something is Pending."""
    #: What is explained.
    subject: ObjectRef
    #: What became of it.
    state: str
    #: The answer in one line.
    headline: str
    #: What is not about devices, the first thing that blocks first; and what else keeps nodes away.
    stage: list[Finding]
    #: Nodes that there are.
    nodes: int
    #: Nodes on which devices were looked for: the others are refused for reasons of `stage`, or were not asked for.
    suitable_nodes: int
    #: What each request finds in the cluster, in the order of the claims and requests.
    requests: list[RequestExplanation]
    #: The node that it has, or on which it fits.
    node: str | None = None
    #: The answer for somebody who does not know how devices are allocated: what is asked for, what is there, by how
    #: much it misses. Absent where the headline says no more.
    plain: str | None = None
    #: The node that comes nearest.
    closest: ClosestNode | None = None
    #: Every device of the nodes asked for.
    details: list[Any] = field(default_factory=list)
    #: What cannot hold together, where it is more than one thing.
    conflict: list[ConflictPart] = field(default_factory=list)
    #: Changes that help, the smallest first.
    suggestions: list[Suggestion] = field(default_factory=list)
