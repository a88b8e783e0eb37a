"""The answers to what-if questions: the state before, and the effect of each change."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TypeVar

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice
from quaymaster._studies.capacity.figures import GroupRoom
from quaymaster._studies.changes.change import Evicted, RefusedEviction
from quaymaster._studies.planning.group_effects import GroupEffect
from quaymaster._studies.planning.moves import Move
from quaymaster._studies.simulation.explained_groups import ExplainedGroup
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.results import Preemption, UnscheduledPod
from quaymaster._studies.simulation.step_placements import PlacedPod, WorkloadSpread
from quaymaster._studies.simulation.stuck_rollouts import StuckRollout

__all__ = ["ClusterState", "WhatIfResult", "WhatIfStep"]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class ClusterState:
    """A cluster at one moment.

    Attributes:
        at: The moment, in seconds since the beginning.
        placed: How many pods have a node that answers, and have not ended.
        pending: The pods without such a node, by key.
        nodes: How many nodes answer.
        nodes_used: How many of them have a pod that is not static and not of a
            DaemonSet.
        room: The amounts that nodes offer and pods request, and the prices.
        groups: The PodGroups, by key; empty without the feature gate GenericWorkload.
    """

    at: float = attrs.field(eq=False)
    placed: int
    pending: tuple[UnscheduledPod, ...]
    nodes: int
    nodes_used: int
    room: GroupRoom
    groups: tuple[ExplainedGroup, ...] = attrs.field(default=(), repr=False)


@attrs.frozen(kw_only=True)
class WhatIfStep:
    """The effect of one change, after the cluster has settled.

    Attributes:
        change: The change, as people write it.
        at: When it was made, in seconds since the beginning.
        ended: When it was done and the last new pod was ready; for a drain, not before
            the last node was empty or its time was over.
        objects: The created, changed and deleted objects, as ``KIND/KEY``.
        evicted: The pods that were evicted, in order.
        refused: The pods whose eviction was refused, in order of the first time.
        stayed: The pods that a drain has left on their node, and those that cannot end
            because their node does not answer -> the reason.
        lost: The keys of pods that were lost together with their node.
        timed_out: The pods that were deleted because their node did not answer, in
            order.
        unmanaged: The keys of deleted pods that no controller creates again.
        preempted: The pods that were preempted, in order.
        moved: The pods that are on another node than before the change.
        placed: The pods that got a node and still have it, by workload and key,
            including replacements of moved pods.
        spread: For each workload whose pods came or went, the number of pods per
            topology domain before and after.
        pending: The pods that have no node, and were not pending before the change.
        still_pending: The pods that were already pending, but for another reason; with
            the reason of their last attempt.
        workloads: The key of each of these pods -> its workload, as
            ``deployment.apps/NAMESPACE/NAME``.
        stuck_rollouts: The rollouts that are not complete and make no progress, in the
            end.
        notes: What else a user should know.
        groups: The PodGroups whose pods lost their node, and those whose quorum is met
            or broken because of the change.
        after: The cluster after it has settled.
    """

    change: str
    at: float = attrs.field(eq=False)
    ended: float = attrs.field(eq=False)
    objects: tuple[str, ...] = ()
    evicted: tuple[Evicted, ...] = ()
    refused: tuple[RefusedEviction, ...] = ()
    stayed: Mapping[str, str] = attrs.field(factory=dict)
    lost: tuple[str, ...] = ()
    timed_out: tuple[Evicted, ...] = ()
    unmanaged: tuple[str, ...] = ()
    preempted: tuple[Preemption, ...] = ()
    moved: tuple[Move, ...] = ()
    placed: tuple[PlacedPod, ...] = ()
    spread: tuple[WorkloadSpread, ...] = ()
    pending: tuple[UnscheduledPod, ...] = ()
    still_pending: tuple[UnscheduledPod, ...] = ()
    workloads: Mapping[str, str] = attrs.field(factory=dict)
    stuck_rollouts: tuple[StuckRollout, ...] = ()
    notes: tuple[str, ...] = ()
    groups: tuple[GroupEffect, ...] = ()
    after: ClusterState

    @property
    def left(self) -> tuple[str, ...]:
        """The keys of the pods that a drain should have evicted and has not."""
        return tuple(
            refused.pod for refused in self.refused if refused.pod in self.stayed
        )


@attrs.frozen(kw_only=True)
class WhatIfResult(Tabular):
    """The answer to a what-if question.

    Attributes:
        before: The settled cluster before the first change.
        steps: The changes, in order.
        moved: The pods that are on another node in the end than before the first
            change.
        notices: What was left out or assumed.
        observed: The observed runs before the first change, after each change and
            after the last one; after many changes of large clusters only the last ones.
            Empty unless requested.
    """

    before: ClusterState
    steps: tuple[WhatIfStep, ...]
    moved: tuple[Move, ...]
    notices: tuple[Notice, ...] = ()
    observed: tuple[ObservedRun, ...] = attrs.field(default=(), eq=False, repr=False)

    @property
    def after(self) -> ClusterState:
        """The cluster after the last change."""
        return self.steps[-1].after if self.steps else self.before

    @property
    def stuck_rollouts(self) -> tuple[StuckRollout, ...]:
        """The rollouts that are not complete and make no progress in the end."""
        return self.steps[-1].stuck_rollouts if self.steps else ()

    @property
    def evicted(self) -> tuple[Evicted, ...]:
        """The pods that were evicted, by all changes together."""
        return _all(step.evicted for step in self.steps)

    @property
    def refused(self) -> tuple[RefusedEviction, ...]:
        """The pods whose eviction was refused, by all changes together."""
        return _all(step.refused for step in self.steps)

    @property
    def preempted(self) -> tuple[Preemption, ...]:
        """The pods that were preempted, after all changes together."""
        return _all(step.preempted for step in self.steps)

    @property
    def left(self) -> tuple[str, ...]:
        """The keys of the pods that drains should have evicted and have not."""
        return _all(step.left for step in self.steps)


def _all(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(parts))
