"""Keeps the last attempts; names and reasons are resolved only on request.

For speed, an attempt keeps only results that exist anyway: a few numbers, the message
of the pod's condition, and the diagnosis with its arrays, which no longer change.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs
import msgspec

from quaymaster._core.contract.clock import Clock
from quaymaster._core.cycle.decisions import Decision
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.explanation import NodeRejection
from quaymaster._core.engine.attempts import (
    Attempt,
    AttemptOutcome,
    outcome_of_failure,
)
from quaymaster._core.engine.failure import Failure, FailureKind
from quaymaster._core.queue.queued_pod import NO_PLUGINS, QueuedPod
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["AttemptHistory"]

# A bound on memory: the verdicts of this many nodes are kept, each in a few bytes of
# arrays that attempts may share, or in an entry of a dict.
_CELLS: Final = 1_000_000
# The last attempts keep their verdicts even in a huge cluster.
_FEWEST: Final = 16


class _Kept(msgspec.Struct, eq=False, gc=False):
    """The result of an attempt, or of its binding.

    Attributes:
        key: The pod's key.
        uid: Its uid.
        number: The number of the attempt of this pod, from 1.
        at: When it ended.
        moment: The moment of the rows.
        node: The name of the chosen node, or empty.
        feasible: How many nodes were feasible.
        evaluated: How many nodes were evaluated.
        rows: The rows of the feasible nodes.
        diagnosis: The verdict about each node; None if it is not kept.
        kind: The kind of failure, or None.
        message: The message of the failure.
        reasons: Each reason once.
        plugins: The plugins that rejected the pod.
        nominated_node: The node that the pod was nominated to.
    """

    key: str
    uid: str
    number: int
    at: float
    moment: int
    node: str = ""
    feasible: int = 0
    evaluated: int = 0
    rows: Rows | None = None
    diagnosis: Diagnosis | None = None
    kind: FailureKind | None = None
    message: str = ""
    reasons: tuple[str, ...] = ()
    plugins: frozenset[str] = NO_PLUGINS
    nominated_node: str = ""


class AttemptHistory:
    """The last attempts of a scheduler; only the scheduler's thread may use it.

    Args:
        nodes: The columns of all nodes.
        clock: The clock.
        size: How many attempts are kept; 0: none.
        cells: How many verdicts about nodes are kept, in all attempts together. Older
            attempts keep only their message.
    """

    def __init__(
        self, nodes: NodeTable, clock: Clock, size: int, cells: int = _CELLS
    ) -> None:
        self._nodes = nodes
        self._now = clock.now
        self._cells = cells
        self._kept: deque[_Kept] = deque(maxlen=size)
        self._detailed: deque[_Kept] = deque()
        self._is_off = not size

    def __len__(self) -> int:
        return len(self._kept)

    def decided(self, queued: QueuedPod, decision: Decision) -> None:
        """Keep an attempt that chose a node."""
        if self._is_off:
            return
        self._keep(
            _Kept(
                queued.key,
                queued.pod.metadata.uid,
                queued.attempts,
                self._now(),
                self._nodes.row_history.moment,
                decision.node.name,
                decision.feasible_nodes,
                decision.evaluated_nodes,
                decision.rows,
                decision.diagnosis,
            )
        )

    def failed(self, queued: QueuedPod, failure: Failure) -> None:
        """Keep an attempt that found no node, or whose binding failed."""
        if self._is_off:
            return
        nominating = failure.nominating
        self._keep(
            _Kept(
                queued.key,
                queued.pod.metadata.uid,
                queued.attempts,
                self._now(),
                self._nodes.row_history.moment,
                diagnosis=failure.diagnosis,
                kind=failure.kind,
                message=failure.message,
                reasons=failure.reasons,
                plugins=failure.unschedulable_plugins,
                nominated_node=nominating.node_name if nominating else "",
            )
        )

    def of(self, pod: str, *, with_nodes: bool = True) -> tuple[Attempt, ...]:
        """Return the attempts of a pod that are kept, in their order.

        Args:
            pod: The pod's key.
            with_nodes: Whether to include the verdict about each node.
        """
        kept = [result for result in self._kept if result.key == pod]
        return tuple(self._attempt(result, with_nodes) for result in _merged(kept))

    def last(self, count: int | None = None) -> tuple[Attempt, ...]:
        """Return the last attempts, the latest last, without verdicts about nodes.

        Args:
            count: How many at most; None: all that are kept.
        """
        merged = [self._attempt(result, False) for result in _merged(self._kept)]
        return tuple(merged if count is None else merged[len(merged) - count :])

    def latest(self) -> Mapping[str, Attempt]:
        """Return the latest attempt of each pod, by key, without nodes."""
        return {attempt.pod: attempt for attempt in self.last()}

    def _keep(self, kept: _Kept) -> None:
        ring, detailed = self._kept, self._detailed
        if len(ring) == ring.maxlen:
            ring[0].diagnosis = ring[0].rows = None
        ring.append(kept)
        if kept.diagnosis is None:
            return
        detailed.append(kept)
        size, cells = self._nodes.capacity + 1, self._cells
        while len(detailed) > _FEWEST and len(detailed) * size > cells:
            old = detailed.popleft()
            old.diagnosis = old.rows = None

    def _attempt(self, kept: _Kept, with_nodes: bool) -> Attempt:
        attempt = Attempt(
            pod=kept.key,
            uid=kept.uid,
            number=kept.number,
            at=kept.at,
            outcome=(
                AttemptOutcome.SCHEDULED
                if kept.kind is None
                else outcome_of_failure(kept.kind)
            ),
            node=kept.node,
            nominated_node=kept.nominated_node,
            message=kept.message,
            reasons=kept.reasons,
            plugins=tuple(sorted(kept.plugins)),
            feasible_nodes=kept.feasible,
            evaluated_nodes=kept.evaluated,
        )
        if not with_nodes or kept.diagnosis is None or not kept.diagnosis.lasts:
            return attempt
        return self._with_nodes(attempt, kept, kept.diagnosis)

    def _with_nodes(
        self, attempt: Attempt, kept: _Kept, diagnosis: Diagnosis
    ) -> Attempt:
        names = self._nodes.row_history.names_at(kept.moment, self._nodes)
        if names is None:
            return attempt
        rows = kept.rows
        fitting = [] if rows is None else self._nodes.row_numbers(rows).tolist()
        # An extender may have returned nodes that do not exist.
        fitting = [row for row in fitting if row in names]
        fit = frozenset(fitting)
        return attrs.evolve(
            attempt,
            nodes=len(names),
            rejections=tuple(_rejections(diagnosis, names, fit)),
            feasible=tuple(names[row] for row in fitting),
        )


def _merged(kept: Iterable[_Kept]) -> Iterator[_Kept]:
    """Merge an attempt that chose a node with the failure of its binding."""
    attempts: dict[tuple[str, int], _Kept] = {}
    for result in kept:
        name = (result.uid, result.number)
        before = attempts.pop(name, None)
        if before is not None and before.node:
            attempts[name] = _refused(before, result)
        else:
            attempts[name] = result
    yield from attempts.values()


def _refused(decided: _Kept, refusal: _Kept) -> _Kept:
    """Return a decision with the failure of its binding."""
    return msgspec.structs.replace(
        decided,
        at=refusal.at,
        kind=refusal.kind,
        message=refusal.message,
        reasons=refusal.reasons,
        plugins=refusal.plugins,
    )


def _rejections(
    diagnosis: Diagnosis, names: Mapping[int, str], fitting: frozenset[int]
) -> Iterator[NodeRejection]:
    statuses = diagnosis.by_row(names)
    for row in sorted(names):
        if row in fitting:
            continue
        status = statuses.get(row, diagnosis.absent)
        yield NodeRejection(
            node=names[row],
            plugin=status.plugin,
            code=status.code,
            reasons=status.reasons,
        )
