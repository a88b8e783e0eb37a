"""The verdict of a check, and the events that it is based on."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, Literal

import attrs

from quaymaster._core.config.duration import format_duration
from quaymaster._studies.simulation.autoscaler import AutoscaledNode
from quaymaster._studies.simulation.history import History, PodLife

__all__ = ["Cause", "Events", "Eviction", "Verdict", "span"]

Cause = Literal["Preempted", "Drained", "Scaled", "Lost"]

_LONGEST: Final = timedelta.max.total_seconds() / 2
"""Longer times are shown as this one, which still fits into a timedelta."""


@attrs.frozen(kw_only=True)
class Eviction:
    """A pod that lost its node: preempted, evicted or lost with it.

    Attributes:
        life: The history of the pod.
        at: When, in seconds since the beginning.
        cause: Why.
    """

    life: PodLife
    at: float
    cause: Cause


@attrs.frozen(kw_only=True)
class Events:
    """The input of checks.

    Attributes:
        history: The history of pods and nodes.
        evictions: The pods that lost their node, in order.
        end: The end of the observed time.
        quorums: ``namespace/name`` of each PodGroup -> its quorum; 1 without a gang
            policy. None without the feature gate GenericWorkload.
        autoscaled: The nodes of the autoscaler; None without one.
    """

    history: History
    evictions: Sequence[Eviction]
    end: float
    quorums: Mapping[str, int] | None = attrs.field(factory=dict)
    autoscaled: Sequence[AutoscaledNode] | None = None


@attrs.frozen(kw_only=True)
class Verdict:
    """The result of a check.

    Attributes:
        holds: Whether the condition holds.
        expected: What was expected, in words.
        found: What was found, in words.
        failed_at: When it failed first, in seconds since the beginning; None if not.
        objects: The pods (``namespace/name``) or nodes (``node/name``) it failed for.
    """

    holds: bool
    expected: str
    found: str
    failed_at: float | None = None
    objects: tuple[str, ...] = ()


def span(seconds: float) -> str:
    """Return a duration such as ``1m30s``, to the millisecond."""
    return format_duration(timedelta(seconds=min(round(seconds, 3), _LONGEST)))
