"""Many clusters on the workers of a Ray cluster: `pip install 'apportion[ray]'`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal

try:
    import ray
except ImportError as error:
    raise ImportError("Ray is needed: pip install 'apportion[ray]'") from error

from .batch import answer, defaults, numbered
from .settings import settings


def map_clusters(
    clusters: Iterable[Any],
    ask: Any = "run",
    *,
    chunk: int = 16,
    ahead: int | None = None,
    version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    mode: Literal["sound", "reference"] | None = None,
    max_steps: int | None = None,
    placement: Literal["first", "scores"] | None = None,
) -> Iterator[str]:
    """The answers of `apportion.batch.answers`, the same text in the same order, worked out by the workers of the Ray that is connected.

    A task has `chunk` lines. At most `ahead` tasks are out at a time, twice as many as Ray has processors unless it is given, so that the
    clusters of a large fleet are never in memory together. A task whose worker dies is tried again by Ray; lines know nothing of each other.
    """
    if chunk < 1 or ahead is not None and ahead < 1:
        raise ValueError("`chunk` and `ahead` are at least 1")
    if not ray.is_initialized():
        ray.init()
    most = ahead or 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    given = ray.put(defaults(ask, settings(version, feature_gates, mode, max_steps, placement)))
    lines = numbered(clusters)
    out: deque[Any] = deque()
    while True:
        while len(out) < most and (part := list(islice(lines, chunk))):
            out.append(_answered.remote(part, given))
        if not out:
            return
        yield from ray.get(out.popleft())


@ray.remote
def _answered(lines: list[tuple[int, bytes]], given: bytes) -> list[str]:
    return [answer(index, line, given) for index, line in lines]
