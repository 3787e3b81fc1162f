"""What answers are made of: records that are read from the module's JSON."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

from .kinds import kind_named

T = TypeVar("T")


class Record:
    """A part of an answer. Fields have the names of the JSON in Python's spelling: `reservedFor` is `reserved_for`."""

    #: The JSON from which the record was read; empty for one that was made by hand.
    raw: Mapping[str, Any] = types.MappingProxyType({})


def read(kind: type[T], value: Mapping[str, Any]) -> T:
    """A record from its JSON. Fields that the record does not know stay in `raw`."""
    shapes = _shapes(cast(Any, kind))
    known = {name: _convert(shape, value[key]) for name, key, shape in shapes if key in value}
    record = kind(**known)
    object.__setattr__(record, "raw", value)
    return record


@lru_cache(maxsize=None)
def _shapes(kind: type) -> list[tuple[str, str, Any]]:
    """Name of each field, its name in JSON, and its type."""
    hints = typing.get_type_hints(kind)
    return [(one.name, json_name(one.name), hints[one.name]) for one in fields(kind)]


def json_name(name: str) -> str:
    """`reservedFor` for `reserved_for`, `class` for `class_`."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name).rstrip("_")


def _convert(shape: Any, value: Any) -> Any:
    if value is None:
        return None
    if is_dataclass(shape):
        return read(shape, value)  # type: ignore[arg-type]
    inner = typing.get_args(shape)
    if typing.get_origin(shape) is list:
        return [_convert(inner[0], one) for one in value]
    if isinstance(shape, types.UnionType):
        return _convert(inner[0], value)
    return value


@dataclass(frozen=True)
class ObjectRef(Record):
    """Which object a finding is about."""
    #: Kind, for instance `ResourceClaim`; empty when unknown.
    kind: str
    #: Namespace; empty for cluster-scoped kinds.
    namespace: str
    #: Name.
    name: str

    @classmethod
    def parse(cls, text: str) -> ObjectRef:
        """`Pod/ml/training`, or `Node/node-a` without a namespace; the kind as kubectl has it, `pods` or `po`. `ValueError` for a kind that
        is not known: `ObjectRef(kind, namespace, name)` can have any."""
        parts = text.split("/")
        if len(parts) not in (2, 3) or not all(parts):
            raise ValueError(f"`{text}` names no object: write `Kind/namespace/name`, or `Kind/name`")
        kind = kind_named(parts[0])
        if kind is None:
            raise ValueError(f"no kind `{parts[0]}` is known; an object of a kind of your own has the name ObjectRef(kind, namespace, name)")
        return cls(kind, parts[1] if len(parts) == 3 else "", parts[-1])


@dataclass(frozen=True)
class Finding(Record):
    """A problem in the input."""
    #: What kind of problem; published, never renamed or reused.
    code: str
    #: How much it matters.
    severity: str
    #: What is wrong: one line, lower case, no full stop, the user's words in backticks.
    message: str
    #: The API server's class of the error, where the finding is one that the API server of the stated version gives.
    kind: str | None = None
    #: The object it is about, where there is one.
    object: ObjectRef | None = None
    #: Field path in the API server's notation, for instance `spec.devices.requests[0].exactly.count`; may be empty.
    path: str = ""
    #: What to do about it.
    hint: str = ""
    #: File that was given as a path; only of findings of the reader.
    file: str | None = None
    #: Line in the text that was given, from 1; only of findings of the reader.
    line: int | None = None
    #: Column in characters, from 1; only of findings of the reader.
    column: int | None = None
    #: The correction, where there is one that is certain.
    fix: Any = None

    def __str__(self) -> str:
        where = f"{self.object.kind} {self.object.namespace}/{self.object.name}".replace(" /", " ") if self.object else ""
        if self.line is not None:
            where = f"{self.file or 'line'}:{self.line}:{self.column}"
        head = ": ".join(part for part in (self.severity, where, self.path, self.message) if part)
        return f"{head} [{self.code}]" + (f" ({self.hint})" if self.hint else "")
