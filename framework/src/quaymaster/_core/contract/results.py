"""The results of hooks, besides `Status`.

Mirrors the result types of k8s.io/kube-scheduler v0.36, ``framework/interface.go``.
"""

import enum
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias, cast

import attrs
import msgspec
import numpy as np
import numpy.typing as npt

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import RowArray, Rows

__all__ = [
    "FilteredRows",
    "NodeStatuses",
    "NodeVerdicts",
    "NominatingInfo",
    "NominatingMode",
    "PermitWait",
    "PostFilterResult",
    "PreBindPreFlightResult",
    "PreBindWait",
    "PreFilterResult",
    "Suggestion",
]


class NodeStatuses(Protocol):
    """Why each node was rejected, as ``post_filter`` reads it."""

    def __getitem__(self, node_name: str) -> Status:
        """The status of a node; for one that was never filtered, the absent status."""

    def nodes_with(self, *codes: int) -> Sequence[str]:
        """Return the nodes whose status has one of these codes, in row order."""

    def rows_with(self, *codes: int) -> RowArray:
        """Return the same nodes as rows of the snapshot's columns."""


class FilteredRows(msgspec.Struct, frozen=True, eq=False):
    """The result of a profile's filters for some rows.

    Attributes:
        passed: The rows that pass, ascending.
        statuses: Why the others were rejected.
    """

    passed: Rows
    statuses: NodeStatuses


def _as_tuple(objects: Iterable[ApiObject]) -> tuple[ApiObject, ...]:
    return tuple(objects)


@attrs.frozen(kw_only=True, eq=False)
class Suggestion:
    """A proposed change after which a pending pod may get a node.

    Attributes:
        text: The change as a sentence that begins with a verb, in one line.
        objects: The objects as they would be after the change. An object with the kind,
            namespace and name of an existing one replaces it; others are new. If
            the pod itself is among them, its new spec is for the template of the
            workload that creates it; other changes of the pod are ignored.
    """

    text: str
    objects: tuple[ApiObject, ...] = attrs.field(converter=_as_tuple)


@attrs.frozen
class PreFilterResult:
    """Restricts an attempt to some nodes.

    Attributes:
        node_names: The nodes to filter; all others count as
            UnschedulableAndUnresolvable.
    """

    node_names: frozenset[str]


class NominatingMode(enum.Enum):
    """Whether a failed attempt changes the pod's nominated node."""

    NOOP = "noop"
    OVERRIDE = "override"


@attrs.frozen
class NominatingInfo:
    """The nomination that a PostFilter plugin returns for a pod.

    Attributes:
        node_name: The nominated node; empty clears the nomination.
        mode: ``OVERRIDE`` sets ``node_name``; ``NOOP`` keeps the pod's nomination.
    """

    node_name: str = ""
    mode: NominatingMode = NominatingMode.NOOP


@attrs.frozen
class PostFilterResult:
    """The result of a PostFilter plugin for a pod that fits nowhere.

    Attributes:
        status: None for success; Unschedulable if the plugin could not help. Its
            reasons become the last part of the pod's message.
        nominating: The change of the pod's nomination; None keeps it.
        message: The last part of the pod's message after a success.
        repeats: Called instead of the hook for the next pod that fails in the same way,
            as long as no node and no pod on a node has changed: pods that wait for
            nodes are tried again and again. It returns True if the hook would return
            this result, and does what else the hook would do, such as drawing a random
            number; otherwise False, having done nothing, and the hook is called. It
            compares all other data that the hook reads: `Handle.changed` does not drop
            this result. None: always call the hook.
    """

    status: Status | None = None
    nominating: NominatingInfo | None = None
    message: str = ""
    repeats: Callable[[Pod], bool] | None = attrs.field(
        default=None, eq=False, repr=False, kw_only=True
    )


@attrs.frozen(eq=False, kw_only=True)
class Candidate:
    """A node, and the pods that preemption would evict from it.

    Attributes:
        node_name: The node.
        victims: The pods, the most important first; at least one.
        violations: The number of victims that a disruption budget protects.
    """

    node_name: str
    victims: tuple[Pod, ...]
    violations: int = 0


def _check_seconds(
    wait: object, attribute: "attrs.Attribute[float]", seconds: object
) -> None:
    """Reject a time that no timer can be set to, at the plugin that sets it."""
    # Infinity is allowed and means no time limit. NaN is smaller and larger than
    # nothing, so a heap of timers that contains it is no longer in order.
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if number and not math.isnan(cast(float, seconds)):
        return
    where = f"{type(wait).__name__}.{attribute.name}"
    raise TypeError(f"{where}: expected a number of seconds, got {seconds!r}")


_MIN_INTERVAL = 0.001
"""After a shorter wait, a clock may return the same time as before."""


@attrs.frozen
class PermitWait:
    """Makes an assumed pod wait before it is bound.

    Attributes:
        timeout_seconds: The pod is rejected after this time; at most 15 minutes.
    """

    timeout_seconds: float = attrs.field(validator=_check_seconds)


@attrs.frozen(eq=False, kw_only=True)
class PreBindWait:
    """Makes a pod wait, without a thread, until the cluster has handled a request.

    Attributes:
        check: Called on the scheduling thread, so it may read informers. True lets the
            pod continue, False schedules another check, a `Status` ends the attempt.
            Other pods may wait meanwhile, so it must not read data of the last pod.
        timeout_seconds: The time limit. No check runs at the limit itself, as in
            upstream's ``PollUntilContextTimeout``.
        timed_out: The status that ends the attempt at the limit.
        interval_seconds: How long to wait before each check; at least a millisecond.
    """

    check: Callable[[], bool | Status]
    timeout_seconds: float = attrs.field(validator=_check_seconds)
    timed_out: Status
    interval_seconds: float = attrs.field(
        default=1.0, validator=[_check_seconds, attrs.validators.ge(_MIN_INTERVAL)]
    )


@attrs.frozen
class PreBindPreFlightResult:
    """How the framework may run ``pre_bind`` of a plugin.

    Attributes:
        allow_parallel: Whether it may run in parallel with neighbouring plugins that
            allow the same.
    """

    allow_parallel: bool = False


StatusOf: TypeAlias = Callable[[int], Status]


@attrs.define(eq=False)
class NodeVerdicts:
    """The result of ``filter_nodes`` for many nodes at once.

    Attributes:
        codes: Shape ``(N,)``, any integer or bool dtype, in the order of ``rows``;
            0 passes.
        status_of: Returns the status for a non-zero code. It is called once per
            distinct code and only when the reasons are read, so it may be slow. That
            may be long after the attempt, so it must not depend on data that change.
    """

    codes: npt.NDArray[np.integer] | npt.NDArray[np.bool_]
    status_of: StatusOf

    @classmethod
    def reject_where(
        cls, rejected: npt.NDArray[np.bool_], status: Status
    ) -> "NodeVerdicts":
        """Reject the nodes where ``rejected`` is true, all with one status.

        Args:
            rejected: Shape ``(N,)``, in the order of ``rows``.
            status: The status of each of them.
        """
        return cls(rejected, lambda _code: status)
