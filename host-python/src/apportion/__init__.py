"""Kubernetes Dynamic Resource Allocation (DRA), decided in a WebAssembly module that can touch nothing."""

from .answers import Answer, Report
from .cluster import Applied, Cluster
from .errors import (
    ApportionError,
    ChangedError,
    ClosedError,
    FailedError,
    ForkLostError,
    GaveUpError,
    TrappedError,
    UnreadableError,
)
from .explanations import Explanation
from .planning import Difference, Fit, NodesNeeded, Usage
from .questions import Verdict, cel, validate
from .records import Finding, ObjectRef

__all__ = [
    "Answer",
    "Applied",
    "ApportionError",
    "ChangedError",
    "ClosedError",
    "Cluster",
    "Difference",
    "Explanation",
    "FailedError",
    "Finding",
    "Fit",
    "ForkLostError",
    "GaveUpError",
    "NodesNeeded",
    "ObjectRef",
    "Report",
    "TrappedError",
    "UnreadableError",
    "Usage",
    "Verdict",
    "cel",
    "validate",
]
