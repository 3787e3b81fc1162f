"""Questions that are about no cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .instance import Operation, ask_once
from .objects import items, json_text
from .records import Finding, Record, read
from .settings import settings


def validate(
    *sources: Any, version: str | None = None, feature_gates: Mapping[str, bool] | None = None
) -> list[Finding]:
    """What the API server answers when the objects are created, and what only shows when they are seen together.

    Sources are those of `Cluster.apply`. First come the findings about texts, then those of each object in the order of the sources. Findings
    with a `kind` are the API server's own errors.
    """
    found = items(sources)
    whose = settings(version, feature_gates)
    usable = [item for item in found.items if item.finding is None]
    texts = [item.text.decode() for item in usable]
    known = json.dumps(whose)
    together = ask_once(Operation.VALIDATE, f'{{"settings":{known},"objects":[{",".join(texts)}]}}'.encode())["findings"]
    findings = list(found.findings)
    findings += [item.finding for item in found.items if item.finding]
    for item, text, of_set in zip(usable, texts, together):
        alone = ask_once(Operation.VALIDATE, f'{{"settings":{known},"submission":{{"object":{text}}}}}'.encode())["findings"]
        for one in [*alone, *of_set]:
            findings.append(read(Finding, {"object": _named(item.ref), **one}))
    return findings


def _named(ref: Any) -> dict[str, str]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


@dataclass(frozen=True)
class Verdict(Record):
    """What a CEL selector says of a device."""

    #: `match`, `noMatch`, `compileError` or `runtimeError`.
    status: str
    #: Why it is an error.
    error: str = ""
    #: Line of a compile error, from 1; 0 if it has no place.
    line: int = 0
    #: Column of a compile error in code points, from 1; 0 if it has no place.
    column: int = 0
    #: What the evaluation cost, in Kubernetes' units; `None` where it did not start.
    actual_cost: int | None = None
    #: The estimate of the most it can cost.
    max_cost: int | None = None

    def __bool__(self) -> bool:
        """Whether the device matches."""
        return self.status == "match"


def cel(
    expression: str,
    device: Mapping[str, Any],
    *,
    version: str | None = None,
    environment: Literal["stored", "new"] = "stored",
    consumable_capacity: bool = False,
    list_type_attributes: bool = False,
) -> Verdict:
    """Evaluates a selector on a device: `cel('device.driver == "gpu.example.com"', {"driver": "gpu.example.com", "attributes": {...}})`.

    `device` is one of a ResourceSlice, with its `driver`. `new` compiles as for an object that is written, `stored` as for one that is there.
    """
    if not isinstance(device, Mapping):
        raise TypeError(f"a {type(device).__name__} is no device: a dict with its `driver` is needed")
    asked: dict[str, Any] = {"expression": expression, "device": dict(device), "environment": environment}
    asked["features"] = {"consumableCapacity": consumable_capacity, "listTypeAttributes": list_type_attributes}
    if version is not None:
        asked["version"] = version
    return read(Verdict, ask_once(Operation.EVALUATE, json_text(asked)))
