"""Whose rules hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def settings(
    version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    mode: str | None = None,
    max_steps: int | None = None,
    placement: str | None = None,
) -> dict[str, Any]:
    """The settings as the module reads them; what is left out is not in it."""
    given = {"version": version, "featureGates": feature_gates, "mode": mode, "maxSteps": max_steps, "placement": placement}
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in given.items() if value is not None}
