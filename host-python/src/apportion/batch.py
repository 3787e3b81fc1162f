"""Many clusters, one line each: the lines of `apportion batch` in, its answers out."""

from __future__ import annotations

import json
import threading
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from .instance import Instance, Operation, Trap
from .objects import json_text
from .settings import settings

#: The format of both kinds of lines.
FORMAT = "apportion/batch/v1"

#: Stands before each part of a question about a line.
_SEPARATOR = b"\x1e"

_own = threading.local()


def answers(
    clusters: Iterable[Any],
    ask: Any = "run",
    *,
    shard: tuple[int, int] = (0, 1),
    version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    mode: Literal["sound", "reference"] | None = None,
    max_steps: int | None = None,
    placement: Literal["first", "scores"] | None = None,
) -> Iterator[str]:
    """The answer to each cluster as JSON text, in order; nothing is read ahead.

    `clusters` are lines: dicts with `objects` and what else `apportion batch` reads (`id`, `settings`, `ask`), or their JSON text. `ask` is
    what is asked of clusters that do not say it: `"explain"`, `{"kind": "fit", ...}`, or a list of these. Of `shard` `(i, n)` every nth line
    from line i on is answered. What cannot be read is an answer of status `failed`; so is a line at which the module traps.
    """
    index, of = shard
    if not 0 <= index < of:
        raise ValueError(f"{index}/{of} is no shard: the first is 0/{of}, the last {of - 1}/{of}")
    given = defaults(ask, settings(version, feature_gates, mode, max_steps, placement))
    for place, line in numbered(clusters):
        if place % of == index:
            yield answer(place, line, given)


def defaults(ask: Any, set_to: Mapping[str, Any]) -> bytes:
    """What holds for lines that do not say it."""
    return json_text({"ask": ask, "settings": set_to})


def numbered(clusters: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    """The texts of lines with their index; blank ones do not count."""
    texts = (text(line) for line in clusters)
    # As on the command line: `\v` and a byte order mark are not blank.
    yield from enumerate(line.removeprefix(BOM_UTF8) for line in texts if line.strip(b" \t\n\f\r"))


def text(line: Any) -> bytes:
    """A line as bytes, without its end. What is no JSON is left for the module to refuse."""
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogatepass")
    if isinstance(line, bytes):
        return line.removesuffix(b"\n")
    try:
        return json_text(line)
    except (TypeError, ValueError, RecursionError) as error:
        return f"no JSON: {error}".encode("utf-8", "replace")


def answer(index: int, line: bytes, given: bytes) -> str:
    """The answer to one line, in this thread's instance of the module."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return _failed(index, None, "batch/unreadable", "the line is not UTF-8")
    instance: Instance | None = getattr(_own, "instance", None)
    if instance is None:
        instance = _own.instance = Instance()
    try:
        parts = (str(index).encode(), given, line)
        return instance.ask(Operation.ANSWER, 0, b"".join(_SEPARATOR + part for part in parts)).decode()
    except Trap as trap:
        _own.instance = None
        return _failed(index, _id(line), "internal/trap", f"the module trapped: {trap}")


def _failed(index: int, id: Any, code: str, message: str) -> str:
    finding = {"code": code, "message": message, "severity": "error"}
    failed = {"findings": [finding], "format": FORMAT, "id": id, "index": index, "status": "failed"}
    return json.dumps(failed, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _id(line: bytes) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value.get("id") if isinstance(value, dict) else None
