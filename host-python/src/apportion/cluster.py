"""A cluster's facts, and the questions about them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Literal

from .answers import Answer, Report
from .errors import ApportionError, ChangedError, ClosedError, FailedError, ForkLostError, GaveUpError, TrappedError, UnreadableError
from .explanations import Explanation
from .instance import Instance, Operation, Trap, parsed
from .objects import Item, items, json_text, kept
from .planning import Difference, Fit, NodesNeeded, Usage
from .records import Finding, ObjectRef, read
from .settings import settings

#: Stands before each text of a sequence (RFC 7464). No JSON text contains it.
SEPARATOR = b"\x1e"

#: What names an object: `ObjectRef`, or a text such as `Pod/ml/training`, `pods/ml/training` or `Node/node-a`.
Subject = ObjectRef | str


@dataclass(frozen=True)
class Applied:
    """What became of objects that were handed in."""

    #: Names of the objects that were taken in, in their order; with the namespace `default` where none is written.
    taken: list[ObjectRef]
    #: Names of the objects that were left out because a finding about them is an error.
    left_out: list[ObjectRef]
    #: Names of the objects without a part in allocation, such as Events: they are not kept.
    aside: list[ObjectRef]
    #: Everything worth knowing: first what the reader says of texts, then per object.
    findings: list[Finding]
    #: Files of folders in which nothing has a kind, such as `values.yaml`: nothing else is said of them.
    skipped: list[str]

    @property
    def errors(self) -> list[Finding]:
        """Findings of severity `error`: a document or an object was left out."""
        return [one for one in self.findings if one.severity == "error"]


@dataclass
class _Home:
    """The instance that a cluster shares with its forks."""

    settings: bytes
    instance: Instance
    lock: threading.Lock = field(default_factory=threading.Lock)
    #: In a forked child, the lock may be held by a thread that exists only in the parent.
    process: int = field(default_factory=os.getpid)
    #: Counts instances: handles are good in one of them.
    generation: int = 0
    rebuilds: int = 0
    #: Texts of all objects of the root, in the order in which they came first.
    copies: dict[ObjectRef, bytes] = field(default_factory=dict)
    #: Generation and handle of forks that nobody has any more; they are freed by the next call.
    orphans: list[tuple[int, int]] = field(default_factory=list)


class Cluster:
    """The facts about one cluster. It may be used by several threads; a cluster and its forks answer one call at a time.

    `sources` are taken in as by `apply`; the findings are in `applied`. Settings:

    - `version`: whose rules hold, `1.36` or `1.36.2`; the newest with every gate on when left out
    - `feature_gates`: gates that differ from the version's defaults
    - `mode`: `sound`, or `reference`, which reproduces the version's known defects
    - `placement`: which node of those that fit: `scores` for the one that kube-scheduler scores best (the default), or `first` by name
    - `max_steps`: search steps of one question; one step is one device tried for one request

    `UnreadableError` when a setting is not known.
    """

    def __init__(
        self,
        *sources: Any,
        version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        mode: Literal["sound", "reference"] | None = None,
        max_steps: int | None = None,
        placement: Literal["first", "scores"] | None = None,
    ) -> None:
        text = json_text(settings(version, feature_gates, mode, max_steps, placement))
        self._home = _Home(text, Instance())
        self._handle = _created(self._home)
        self._generation = 0
        self._parent: Cluster | None = None
        self._closed = False
        #: Changes so far, and those of the parent when this fork was made.
        self._changes = self._since = 0
        #: What a commit does to the copies of the parent: texts, `None` for an object that went.
        self._journal: list[tuple[ObjectRef, bytes | None]] = []
        #: What became of the sources given at the beginning.
        self.applied: Applied = self.apply(*sources)

    # Facts.

    def apply(self, *sources: Any) -> Applied:
        """Takes objects in; those with the same kind, namespace and name are replaced. Objects with an error are left out, the others are not.

        A source is a dict, an object of the package `kubernetes`, a list of the API, YAML or JSON text, a `pathlib.Path` of a file or a
        folder, or an iterable of sources. `OSError` for a file that cannot be read, and for a folder without manifests.
        """
        found = items(sources)
        usable = [item for item in found.items if item.finding is None]
        with self._locked():
            lists = self._ask(Operation.APPLY, _sequence(item.text for item in usable))
            per_object = [[read(Finding, one) for one in findings] for findings in lists]
            said = {id(item): findings for item, findings in zip(usable, per_object)}
            applied = Applied([], [], [], list(found.findings), found.skipped)
            for item in found.items:
                findings = [item.finding] if item.finding else said[id(item)]
                applied.findings.extend(findings)
                if _has_error(findings):
                    applied.left_out.append(item.ref)
                elif _is_aside(item, findings):
                    applied.aside.append(item.ref)
                else:
                    ref = kept(item.ref)
                    applied.taken.append(ref)
                    self._note(ref, item.text)
        return applied

    def delete(self, subject: Subject) -> bool:
        """Removes an object; false when there is none. Without a namespace it is one of `default`."""
        ref = kept(_reference(subject))
        with self._locked():
            was_there: bool = self._ask(Operation.DELETE, json_text(_named(ref)))
            if was_there:
                self._note(ref, None)
        return was_there

    def get(self, subject: Subject) -> dict[str, Any] | None:
        """An object as it is held; `None` when there is none. Without a namespace it is one of `default`."""
        with self._locked():
            found: dict[str, Any] | None = self._ask(Operation.GET, json_text(_named(kept(_reference(subject)))))
        return found

    # Questions. None of them changes the cluster.

    def allocate(
        self, claims: Any, nodes: Iterable[str] = (), in_use: Mapping[str, Any] | None = None
    ) -> Answer:
        """Finds the first node on which the claims fit together, and their devices there.

        `claims` are unallocated ResourceClaims of one Pod; they need not be in the cluster. `nodes` are tried in their order; all nodes by
        name when empty. No place is no error: see `Answer`. `FailedError` when a claim, a class or a slice is wrong, `GaveUpError` beyond
        `max_steps`, `UnreadableError` when a claim cannot be read.
        """
        with self._locked():
            value = self._ask(Operation.ALLOCATE, _question(claims, nodes, in_use))
        return _answer(value)

    def fits(self, claims: Any, nodes: Iterable[str], in_use: Mapping[str, Any] | None = None) -> dict[str, bool]:
        """Whether the claims fit, by node. Faster than `allocate`, without devices and reasons; errors are the same."""
        names = _names(nodes)
        with self._locked():
            value = self._ask(Operation.FITS, _question(claims, names, in_use))
        if value["status"] != "known":
            _answer(value)
        return {node: bit == "1" for node, bit in zip(names, value["bits"])}

    def explain(
        self,
        subject: Subject | None = None,
        nodes: Iterable[str] = (),
        device: str | None = None,
        suggestions: bool = True,
    ) -> list[Explanation]:
        """Why something is Pending, once everything schedulable has been placed: a Pod, a claim, a template or a group; everything that is
        Pending without a subject. With `nodes`, or `device` (`pool/device`), `details` lists devices with all their reasons.
        """
        asked: dict[str, Any] = {"suggestions": suggestions}
        if subject is not None:
            asked["subject"] = _named(_reference(subject))
        if names := _names(nodes):
            asked["nodes"] = names
        if device is not None:
            asked["device"] = device
        return [read(Explanation, one) for one in self.inquire("explain", **asked)]

    def run(self) -> Report:
        """Plays the cluster's controllers and its scheduler until nothing changes, in a copy."""
        with self.fork() as fork, fork._locked():
            return read(Report, fork._ask(Operation.RUN))

    def fit(
        self,
        claim: Any = None,
        *,
        device_class: str | None = None,
        count: int = 1,
        selectors: Iterable[str] = (),
        per: Literal["node", "pool", "class"] = "node",
        supposing: Mapping[str, Any] | None = None,
    ) -> Fit:
        """How many more of a claim fit.

        `claim` is a name (`ResourceClaimTemplate/ml/one-gpu`) or a claim or template itself; instead of it, `device_class` with `count` and
        CEL `selectors` describes one. `supposing` has what is changed first, as for `what_if`: `adding`, `without`, `taints`, `cordon`.
        """
        first = _supposed(supposing or {})
        asked: dict[str, Any] = {"per": per}
        if device_class is not None and claim is not None:
            raise ValueError("give a claim or a `device_class`, not both")
        if device_class is not None:
            asked["device"] = {"class": device_class, "count": count, "selectors": _names(selectors)}
        elif isinstance(claim, ObjectRef) or isinstance(claim, str) and "\n" not in claim and "{" not in claim:
            asked["subject"] = _named(_claim(_reference(claim)))
        else:
            given = _given(() if claim is None else claim)
            if len(given) != 1:
                raise ValueError(f"one claim or a `device_class` is needed, not {len(given)} claims")
            asked["subject"] = _named(_claim(given[0].ref))
            first["with"].append(json.loads(given[0].text))
        return read(Fit, self.inquire("fit", supposing=first, **asked))

    def nodes_needed(
        self,
        subject: Subject | None = None,
        *,
        device_class: str | None = None,
        count: int = 1,
        selectors: Iterable[str] = (),
        copies: int = 1,
        like: Iterable[str] = (),
        templates: Any = (),
        open_attributes: Iterable[str] = (),
        up_to: int = 20,
        supposing: Mapping[str, Any] | None = None,
    ) -> NodesNeeded:
        """How many nodes that do not exist yet make Pods fit: copies of a Pod, a PodGroup, a workload or Pods with a claim of a template or of
        a class; without any, the Pods that are Pending.

        New nodes are `like` nodes of the cluster, or as `templates` (Nodes with their ResourceSlices) say. `open_attributes`, as
        `domain/name`, are known only to a running driver; the answer is then a set of bounds.
        """
        asked: dict[str, Any] = {
            "copies": copies,
            "like": _names(like),
            "templates": [json.loads(item.text) for item in _given(templates)],
            "open": _names(open_attributes),
            "upTo": up_to,
            "supposing": _supposed(supposing or {}),
        }
        if device_class is not None and subject is not None:
            raise ValueError("give a `subject` or a `device_class`, not both")
        if device_class is not None:
            asked["device"] = {"class": device_class, "count": count, "selectors": _names(selectors)}
        elif subject is not None:
            asked["subject"] = _named(_reference(subject))
        return read(NodesNeeded, self.inquire("nodesNeeded", **asked))

    def what_if(
        self,
        *,
        adding: Any = (),
        without: Subject | Iterable[Subject] = (),
        taints: Mapping[str, str] | None = None,
        cordon: Iterable[str] = (),
        now: str | datetime = "",
        placing: Literal["asGiven", "keep", "anew"] = "asGiven",
    ) -> Difference:
        """What a change would do to Pods and claims.

        `adding` are objects that come, or replace those of the same name; with a Node in `without` go its slices and Pods. `taints` are given
        to devices: `{"gpu.example.com/pool-a/*": "broken=yes:NoExecute"}`. `now`, a `datetime` or RFC 3339, decides when Pods with a
        tolerated taint go. `placing` says whether Pods keep their places, or all are placed anew; left out, the former where some have one.
        """
        change = _change(adding, without, taints, cordon)
        return read(Difference, self.inquire("whatIf", now=now, placing=placing, **change))

    def usage(self) -> Usage:
        """How many devices are used, free and stranded."""
        return read(Usage, self.inquire("usage"))

    def inquire(self, kind: str, **fields: Any) -> Any:
        """Any question by the name it has in the module, JSON out: `usage`, `snapshot`, `evictions`, `expression`, `unmodelled`, ..."""
        with self._locked():
            value = self._ask(Operation.INQUIRE, json_text({"kind": kind, **fields}))
        if "findings" in value:
            raise UnreadableError([read(Finding, one) for one in value["findings"]])
        return value["answer"]

    # Copies.

    def fork(self) -> Cluster:
        """A cluster with the same facts, to try something out. `close` drops it, `commit` keeps it; so does the end of a `with` block, which
        drops it."""
        fork = object.__new__(Cluster)
        fork._closed, fork._changes, fork._journal = True, 0, []
        with self._locked():
            fork._handle = self._ask(Operation.FORK)["handle"]
            fork._home, fork._generation = self._home, self._generation
            fork._parent, fork._since = self, self._changes
        fork._closed = False
        fork.applied = Applied([], [], [], [], [])
        return fork

    def commit(self) -> None:
        """Has the cluster of which this is a fork become what the fork is. The fork is closed by it. `ChangedError` when the cluster has
        changed since."""
        parent = self._parent
        if parent is None:
            raise ApportionError("the cluster is no fork")
        with self._locked():
            self._check()
            if parent._closed:
                raise ClosedError("the cluster of this fork is closed")
            if parent._changes != self._since or not parent._ask(Operation.COMMIT, json_text({"fork": self._handle})):
                raise ChangedError("the cluster has changed since it was forked")
            for ref, text in self._journal:
                parent._note(ref, text)
            self._end()

    def revert(self) -> None:
        """Goes back to what this fork was when it was made. What was forked off it cannot be committed any more."""
        if self._parent is None:
            raise ApportionError("the cluster is no fork")
        with self._locked():
            self._ask(Operation.REVERT)
            self._changes += 1
            self._journal = []

    def close(self) -> None:
        """Frees the cluster. Forks of it cannot be used any more when it is no fork itself."""
        if self._home.process != os.getpid():
            self._closed = True
            return
        with self._home.lock:
            if not self._closed:
                self._end()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Cluster lives in its process: `fork` copies it there; elsewhere make one of `inquire(\"snapshot\")[\"objects\"]`")

    def __del__(self) -> None:
        # This may happen in the middle of any call, so nothing is called here.
        if not getattr(self, "_closed", True) and self._parent is not None:
            self._home.orphans.append((self._generation, self._handle))

    @property
    def rebuilds(self) -> int:
        """How often the cluster was filled again because the module had trapped."""
        return self._home.rebuilds

    # The instance.

    def _locked(self) -> threading.Lock:
        """The lock of the instance. It is its own context manager: within one in Python, Ctrl-C could leave it locked."""
        if self._home.process != os.getpid():
            raise ApportionError(
                "the cluster belongs to the process that made it: make another one in this process, of `inquire(\"snapshot\")[\"objects\"]`"
            )
        return self._home.lock

    def _check(self) -> None:
        """Raises unless the cluster can be asked; the lock is held."""
        if self._closed or self._generation != self._home.generation:
            if self._closed or self._home.rebuilds == 0:
                raise ClosedError("the cluster is closed")
            raise ForkLostError("the fork was lost when the module trapped")

    def _end(self) -> None:
        self._closed, self._journal = True, []
        if self._generation != self._home.generation:
            return
        if self._parent is None:
            self._home.copies = {}
            self._home.generation += 1
        self._free(self._handle)

    def _free(self, handle: int) -> None:
        try:
            self._home.instance.ask(Operation.CLOSE, handle)
        except Trap:
            # The next call traps as well, and says so.
            pass

    def _note(self, ref: ObjectRef, text: bytes | None) -> None:
        """Keeps a change for the day on which the cluster is filled again."""
        self._changes += 1
        if self._parent is not None:
            self._journal.append((ref, text))
            return
        if text is None:
            self._home.copies.pop(ref, None)
        else:
            self._home.copies[ref] = text

    def _ask(self, operation: Operation, argument: bytes = b"") -> Any:
        """Makes a call; the lock is held. After a trap the root is filled again."""
        self._check()
        home = self._home
        while home.orphans:
            generation, handle = home.orphans.pop()
            if generation == home.generation:
                self._free(handle)
        try:
            return parsed(home.instance.ask(operation, self._handle, argument))
        except Trap as trap:
            root = self
            while root._parent is not None:
                root = root._parent
            try:
                root._refill()
            except Trap as again:
                raise TrappedError(f"the module trapped, and again when it was filled; the cluster is closed: {again}") from trap
            raise TrappedError(f"the module trapped: {trap}") from trap

    def _refill(self) -> None:
        """Puts a new instance with the copies in the place of one that trapped."""
        home = self._home
        self._closed = True
        home.instance = Instance()
        home.generation += 1
        home.rebuilds += 1
        self._handle, self._generation = _created(home), home.generation
        home.instance.ask(Operation.APPLY, self._handle, _sequence(home.copies.values()))
        self._closed = False


def _created(home: _Home) -> int:
    handle: int = parsed(home.instance.ask(Operation.NEW_CLUSTER, 0, home.settings))["handle"]
    return handle


def _sequence(texts: Iterable[bytes]) -> bytes:
    return b"".join(SEPARATOR + text for text in texts)


def _has_error(findings: Iterable[Finding]) -> bool:
    return any(one.severity == "error" for one in findings)


def _is_aside(item: Item, findings: Iterable[Finding]) -> bool:
    """Whether the object is not kept for its kind. Workloads of Kubernetes have that finding, too, and are kept."""
    if not any(one.code == "read/unknown-kind" for one in findings):
        return False
    written = json.loads(item.text)
    group = str(written.get("apiVersion", "")).partition("/")[0]
    return (group, item.ref.kind) != ("scheduling.k8s.io", "Workload")


def _reference(subject: Subject) -> ObjectRef:
    if not isinstance(subject, (str, ObjectRef)):
        raise TypeError(f"a {type(subject).__name__} names no object: a text such as `Pod/ml/training`, or an ObjectRef, is needed")
    return ObjectRef.parse(subject) if isinstance(subject, str) else subject


def _claim(ref: ObjectRef) -> ObjectRef:
    if ref.kind not in ("ResourceClaim", "ResourceClaimTemplate"):
        raise ValueError(f"a {ref.kind or 'document without a kind'} is no claim or template: a ResourceClaim or a ResourceClaimTemplate is needed")
    return ref


def _names(names: Iterable[str]) -> list[str]:
    """A text alone is one name, not its letters."""
    return [names] if isinstance(names, str) else list(names)


def _change(
    adding: Any = (),
    without: Subject | Iterable[Subject] = (),
    taints: Mapping[str, str] | None = None,
    cordon: Iterable[str] = (),
) -> dict[str, Any]:
    """A change of a cluster, as the module reads it."""
    gone = [without] if isinstance(without, (str, ObjectRef)) else without
    return {
        "with": [json.loads(item.text) for item in _given(adding)],
        "without": [_named(_reference(one)) for one in gone],
        "taints": [{"devices": devices, "taint": taint} for devices, taint in (taints or {}).items()],
        "cordon": _names(cordon),
    }


def _named(ref: ObjectRef) -> dict[str, str]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _given(source: Any) -> list[Item]:
    """The objects of a question; `UnreadableError` when one of them cannot be read."""
    found = items([source])
    findings = [*found.findings, *(item.finding for item in found.items if item.finding)]
    if _has_error(findings):
        raise UnreadableError([one for one in findings if one.severity == "error"])
    return found.items


def _supposed(change: Mapping[str, Any]) -> dict[str, Any]:
    known = ("adding", "without", "taints", "cordon")
    if unknown := [name for name in change if name not in known]:
        raise ValueError(f"`{unknown[0]}` is no change that can be supposed: {', '.join(known)}")
    return _change(**change)


def _question(claims: Any, nodes: Iterable[str], in_use: Mapping[str, Any] | None) -> bytes:
    asked: dict[str, Any] = {"claims": [json.loads(item.text) for item in _given(claims)], "nodes": _names(nodes)}
    if in_use is not None:
        asked["inUse"] = in_use
    return json_text(asked)


def _answer(value: dict[str, Any]) -> Answer:
    answer = read(Answer, {"node": "", "allocations": [], "refusals": value.get("nodes", []), "findings": [], **value})
    if value["status"] == "error":
        raise FailedError(answer)
    if value["status"] == "gave-up":
        raise GaveUpError()
    return answer
