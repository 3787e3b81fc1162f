"""What can go wrong, beside findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answers import Answer
    from .records import Finding


class ApportionError(Exception):
    """Every error of this package."""


class UnreadableError(ApportionError):
    """Settings or a question cannot be read, or name what is not there. `findings` has the reasons."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = list(findings)
        shown = [f"{one.message} ({one.code})" + (f": {one.hint}" if one.hint else "") for one in self.findings]
        super().__init__("; ".join(shown) or "the question cannot be read")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.findings,)


class FailedError(ApportionError):
    """A claim, a class or a slice is wrong: kube-scheduler gives up the Pod."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(f"node {answer.node}: {answer.raw.get('error', '')} ({answer.raw.get('code', '')})")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.answer,)


class GaveUpError(ApportionError):
    """The search took more steps than the limit `max_steps`."""

    def __init__(self, message: str = "the search took more steps than `max_steps`") -> None:
        super().__init__(message)


class ClosedError(ApportionError):
    """The cluster was closed, or the fork was committed."""


class TrappedError(ApportionError):
    """The module trapped in this call. The cluster was filled again from its copies and can be asked on."""


class ForkLostError(ApportionError):
    """The fork was lost when the module trapped. The cluster of which it was made was filled again."""


class ChangedError(ApportionError):
    """The cluster has changed since it was forked: a commit would lose the change."""
