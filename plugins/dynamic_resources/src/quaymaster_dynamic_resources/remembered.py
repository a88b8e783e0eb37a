"""Verdicts on nodes, remembered for pods that claim alike.

Whether a node has devices for some claims follows from what they ask for, from the
slices and labels that decide what the node sees, and from what is taken of the pools
that it sees. So the verdict stays the same until one of these changes, for all pods of
a template. So do the devices, which then need not be found anew for the node that is
chosen: the next search on it is the one after they are given.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from quaymaster import BoolArray, Int64Array, NodeInfo, NodeTable, Pod, Rows, Status
from quaymaster.columns import ChangeLog
from quaymaster.objects import (
    AllocationResult,
    ObjectMeta,
    PodSpec,
    ResourceClaim,
    ResourceClaimStatus,
    SpecKey,
    encode,
)
from quaymaster_dynamic_resources.extended import is_implicit
from quaymaster_dynamic_resources.state import ClaimsState
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = ["RememberedVerdicts", "VerdictMemo"]

_UNKNOWN: Final = -1
_EVERY_NODE: Final = ""
# Room for some 80 MB at 5,000 nodes; clusters have few kinds of claims at a time.
_MOST_KINDS: Final = 1_000

Judge = Callable[[NodeInfo], Status | None]
"""Judges one node: why it is rejected, or None."""

Found = Callable[[NodeInfo], Sequence[AllocationResult] | None]
"""What the claims of all pods of the kind get on a node; None if that differs."""


class RememberedVerdicts:
    """The verdicts of one kind of claims, by row.

    Attributes:
        codes: 0 where there are devices; -1 where that is not known.
        statuses: Code - 1 -> why a node was rejected.
        results: Row -> what the claims get there; of claims that a pod names alone.
    """

    def __init__(self) -> None:
        self.codes: Int64Array = np.zeros(0, dtype=np.int64)
        self.statuses: list[Status] = []
        self.results: dict[int, Sequence[AllocationResult]] = {}
        self._codes_of: dict[Status, int] = {}
        self._nodes: ChangeLog[int] | None = None
        self._node_revision = -1
        self._device_revision = -1

    def catch_up(self, nodes: NodeTable, devices: ChangeLog[str]) -> None:
        """Forget the verdicts on nodes that have changed.

        Args:
            nodes: The nodes.
            devices: The names of nodes for which other devices are free than before;
                an empty name stands for all of them.
        """
        log = nodes.node_changes
        # Identity: a table and its imagined copies share one log, which others do not.
        rows = log.since(self._node_revision) if log is self._nodes else None
        names = devices.since(self._device_revision)
        self._nodes, self._node_revision = log, log.revision
        self._device_revision = devices.revision
        if len(self.codes) < nodes.capacity:
            rows = None
        if rows is None or names is None or _EVERY_NODE in names:
            self.codes = np.full(nodes.capacity, _UNKNOWN, dtype=np.int64)
            self.results.clear()
            return
        for row in rows:
            self._forget(row)
        for name in names:
            found = nodes.row_of(name)
            if found is not None:
                self._forget(found)

    def _forget(self, row: int) -> None:
        self.codes[row] = _UNKNOWN
        self.results.pop(row, None)

    def fill(
        self, nodes: NodeTable, rows: Rows, judge: Judge, found: Found
    ) -> Status | None:
        """Judge the nodes among some rows on which nothing is known.

        Args:
            nodes: The nodes.
            rows: The rows in question.
            judge: Judges a node.
            found: Tells what was found on a node that passed.

        Returns:
            The first error, which ends it.
        """
        unknown: BoolArray = self.codes[rows] == _UNKNOWN
        if not unknown.any():
            return None
        asked = np.arange(nodes.capacity)[rows][unknown]
        for node in nodes.infos_at(asked):
            status = judge(node)
            if status is None:
                self.codes[node.row] = 0
                results = found(node)
                if results is not None:
                    self.results[node.row] = results
            elif status.is_error:
                return status
            else:
                self.codes[node.row] = self._code_of(status)
        return None

    def has_passed(self, row: int) -> bool:
        """Whether a row is known to have devices."""
        return row < len(self.codes) and not self.codes[row]

    def _code_of(self, status: Status) -> int:
        code = self._codes_of.get(status)
        if code is None:
            self.statuses.append(status)
            code = self._codes_of[status] = len(self.statuses)
        return code


class VerdictMemo:
    """The verdicts of all kinds of claims; the oldest are forgotten first.

    Args:
        tracker: The devices that there are and that are taken.
        class_revision: Grows with every change of a class.
    """

    def __init__(
        self, tracker: ClaimTracker, class_revision: Callable[[], int]
    ) -> None:
        self._tracker = tracker
        self._class_revision = class_revision
        self._revision = -1
        self._known: dict[Hashable, RememberedVerdicts] = {}

    def of(self, state: ClaimsState, pod: Pod) -> RememberedVerdicts | None:
        """Return what is remembered for a pod's claims.

        Returns:
            The verdicts; None if these claims must be tried anew for each pod.
        """
        if len(state.to_allocate) < len(state.claims):
            return None
        if self._tracker.has_mixed_counters:
            return None
        if state.implicit >= 0 and not is_implicit(state.claims[state.implicit]):
            return None
        if self._revision != self._class_revision():
            self._known.clear()
            self._revision = self._class_revision()
        key = _key_of(state, pod)
        found = self._known.pop(key, None) or RememberedVerdicts()
        self._known[key] = found
        if len(self._known) > _MOST_KINDS:
            del self._known[next(iter(self._known))]
        return found


def _key_of(state: ClaimsState, pod: Pod) -> Hashable:
    specs = [
        _CONTAINERS.of(pod) if at == state.implicit else _asked_by(claim)
        for at, claim in enumerate(state.claims)
    ]
    return tuple(specs), state.implicit


def _asked_by(claim: ResourceClaim) -> bytes:
    bare = replace(claim, metadata=ObjectMeta(), status=ResourceClaimStatus())
    return encode(bare)


def _containers(spec: PodSpec) -> bytes:
    asked = PodSpec(
        init_containers=spec.init_containers,
        containers=spec.containers,
        overhead=spec.overhead,
        resources=spec.resources,
    )
    return encode(Pod(spec=asked))


_CONTAINERS: Final = SpecKey(_containers)
