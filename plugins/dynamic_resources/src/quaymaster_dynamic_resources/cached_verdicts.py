"""Verdicts on nodes, cached for pods with equal claims.

Whether a node has devices for some claims depends on the requests of the claims, on
the slices and labels that decide which pools the node can use, and on the allocated
devices of these pools. So the verdict is the same for all pods of a template until one
of these changes. So are the devices: they are not searched again for the chosen node,
and the next search on it happens after they were allocated.
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

__all__ = ["CachedVerdicts", "VerdictMemo"]

_UNKNOWN: Final = -1
_EVERY_NODE: Final = ""
# Room for some 80 MB at 5,000 nodes; clusters have few kinds of claims at a time.
_MAX_KINDS: Final = 1_000

Judge = Callable[[NodeInfo], Status | None]
"""Filters one node: returns why it is rejected, or None."""

ResultsOn = Callable[[NodeInfo], Sequence[AllocationResult] | None]
"""Returns the allocations on a node for all pods of a kind; None if they differ."""


class CachedVerdicts:
    """The verdicts for one kind of claims, by row.

    Attributes:
        codes: 0 if the node passes; -1 if there is no verdict.
        statuses: Code - 1 -> why a node was rejected.
        results: Row -> the allocations there, if the pods have no extended resources.
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
        """Discard the verdicts on nodes that have changed.

        Args:
            nodes: The nodes.
            devices: The names of nodes whose free devices have changed; an empty name
                means all nodes.
        """
        log = nodes.node_changes
        # Identity: a table and its hypothetical copies share one log; others do not.
        rows = log.since(self._node_revision) if log is self._nodes else None
        names = devices.since(self._device_revision)
        self._nodes, self._node_revision = log, log.revision
        self._device_revision = devices.revision
        if len(self.codes) < nodes.capacity:
            rows = None
        # Devices that several nodes reach have no home; any verdict may change with
        # them.
        if rows is None or names is None or _EVERY_NODE in names:
            self.codes = np.full(nodes.capacity, _UNKNOWN, dtype=np.int64)
            self.results.clear()
            return
        for row in rows:
            self._forget(row)
        for name in names:
            changed = nodes.row_of(name)
            if changed is not None:
                self._forget(changed)

    def _forget(self, row: int) -> None:
        self.codes[row] = _UNKNOWN
        self.results.pop(row, None)

    def fill(
        self, nodes: NodeTable, rows: Rows, judge: Judge, results_on: ResultsOn
    ) -> Status | None:
        """Filter the nodes among some rows that have no verdict yet.

        Args:
            nodes: The nodes.
            rows: The rows in question.
            judge: Filters a node.
            results_on: Returns the allocations on a node that passed.

        Returns:
            The first error, after which no further node is filtered.
        """
        unknown: BoolArray = self.codes[rows] == _UNKNOWN
        if not unknown.any():
            return None
        unknown_rows = np.arange(nodes.capacity)[rows][unknown]
        for node in nodes.infos_at(unknown_rows):
            status = judge(node)
            if status is None:
                self.codes[node.row] = 0
                results = results_on(node)
                if results is not None:
                    # With the devices, not only the verdict: the pod that is placed
                    # here needs no second search at Reserve.
                    self.results[node.row] = results
            # Errors are not cached. They end the attempt, and the next one must see
            # whether they persist.
            elif status.is_error:
                return status
            else:
                self.codes[node.row] = self._code_of(status)
        return None

    def has_passed(self, row: int) -> bool:
        """Whether the cached verdict on a row is that it passes."""
        return row < len(self.codes) and not self.codes[row]

    def _code_of(self, status: Status) -> int:
        code = self._codes_of.get(status)
        if code is None:
            self.statuses.append(status)
            code = self._codes_of[status] = len(self.statuses)
        return code


class VerdictMemo:
    """The verdicts for all kinds of claims; the least recently used are evicted.

    Args:
        tracker: The existing and the allocated devices.
        class_revision: Returns a number that grows with every change of a class.
    """

    def __init__(
        self, tracker: ClaimTracker, class_revision: Callable[[], int]
    ) -> None:
        self._tracker = tracker
        self._class_revision = class_revision
        self._revision = -1
        self._verdicts: dict[Hashable, CachedVerdicts] = {}

    def of(self, state: ClaimsState, pod: Pod) -> CachedVerdicts | None:
        """Return the cached verdicts for a pod's claims.

        Returns:
            The verdicts; None if verdicts for these claims cannot be cached.
        """
        # A claim that has devices already binds the pod to nodes of its own; equal
        # specs then do not mean equal verdicts.
        if len(state.to_search) < len(state.claims):
            return None
        # Counters that pools of several drivers share by name (before 1.37) make a
        # verdict depend on devices that no log of changes connects with the node.
        if self._tracker.has_mixed_counters:
            return None
        if state.implicit >= 0 and not is_implicit(state.claims[state.implicit]):
            return None
        if self._revision != self._class_revision():
            self._verdicts.clear()
            self._revision = self._class_revision()
        key = _key_of(state, pod)
        # Taken out and put back, which makes it the most recently used one.
        verdicts = self._verdicts.pop(key, None) or CachedVerdicts()
        self._verdicts[key] = verdicts
        if len(self._verdicts) > _MAX_KINDS:
            del self._verdicts[next(iter(self._verdicts))]
        return verdicts


def _key_of(state: ClaimsState, pod: Pod) -> Hashable:
    specs = [
        _CONTAINERS.of(pod) if at == state.implicit else _spec_of(claim)
        for at, claim in enumerate(state.claims)
    ]
    return tuple(specs), state.implicit


def _spec_of(claim: ResourceClaim) -> bytes:
    # As text, because specs contain CEL and opaque parameters that are not hashable.
    # Names of claims differ from pod to pod and decide nothing.
    bare = replace(claim, metadata=ObjectMeta(), status=ResourceClaimStatus())
    return encode(bare)


def _containers(spec: PodSpec) -> bytes:
    relevant = PodSpec(
        init_containers=spec.init_containers,
        containers=spec.containers,
        overhead=spec.overhead,
        resources=spec.resources,
    )
    return encode(Pod(spec=relevant))


_CONTAINERS: Final = SpecKey(_containers)
