"""Reads the result of a simulation from its cluster, its scheduler and its record."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._base.natural_order import natural_key
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._studies.simulation.pending_facts import PendingFacts
from quaymaster._studies.simulation.record import Record
from quaymaster._studies.simulation.results import (
    Placement,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster._studies.simulation.verdicts import unscheduled_pod

if TYPE_CHECKING:
    from quaymaster._studies.simulation.autoscaler import Autoscaler
    from quaymaster._studies.simulation.explained_groups import ExplainedGroup

__all__ = ["ResultReader"]


class ResultReader:
    """Reads what a simulation has done so far.

    Args:
        cluster: The cluster of the simulation.
        scheduler: Its scheduler.
        record: What the scheduler did.
        assumed: Notices about controllers that the input lacks.

    Attributes:
        has_settled: Whether the autoscaler, if any, had settled at the end.
        autoscaler: What adds and removes nodes, or None.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        scheduler: Scheduler,
        record: Record,
        assumed: Sequence[Notice],
    ) -> None:
        self._cluster = cluster
        self._scheduler = scheduler
        self._record = record
        self._assumed = assumed
        self.has_settled = True
        self.autoscaler: Autoscaler | None = None

    def read(
        self, *, groups: "tuple[ExplainedGroup, ...]", with_facts: bool
    ) -> SimulationResult:
        """Return the result.

        Args:
            groups: The state of the groups.
            with_facts: Whether pods without a node have the facts behind their message.
        """
        record, waiting = self._record, self._waiting()
        entries = map(self.unscheduled, waiting)
        if with_facts:
            entries = map(self._with_facts(), waiting, entries)
        return SimulationResult(
            placements=tuple(starmap(self._ended, record.placements)),
            unscheduled=tuple(sorted(entries, key=lambda pod: natural_key(pod.pod))),
            preempted=tuple(record.preempted),
            pods=len(record.placements) + len(waiting),
            nodes=len(self._cluster.list(Node).items),
            started=record.started,
            kept=self._kept(),
            notices=self.notices(),
            groups=groups,
        )

    def notices(self) -> tuple[Notice, ...]:
        """Return what is assumed, the cluster's notices, one about foreign pods."""
        profiles = self._scheduler.frameworks
        others = Counter(
            pod.spec.scheduler_name
            for pod in self._waiting()
            if pod.spec.scheduler_name not in profiles
        )
        noted = (*self._assumed, *self._cluster.notices())
        if self.autoscaler is not None:
            # Few simulations have one.
            from quaymaster._studies.simulation.autoscaler import (  # noqa: PLC0415 - above
                notices_of,
            )

            noted = (*noted, *notices_of(self.autoscaler))
        if not self.has_settled:
            # Few simulations have an autoscaler.
            from quaymaster._studies.simulation.autoscaler_horizon import (  # noqa: PLC0415 - above
                unsettled_notice,
            )

            noted = (*noted, unsettled_notice())
        if not others:
            return noted
        names = ", ".join(f"{name} x{count}" for name, count in sorted(others.items()))
        message = f"pods wait for schedulers that no profile has the name of: {names}"
        other = Notice(reason=NoticeReason.OTHER_SCHEDULERS, message=message)
        return (*noted, other)

    def unscheduled(self, pod: Pod) -> UnscheduledPod:
        """Return the entry of the result about a pod without a node."""
        return attrs.evolve(
            unscheduled_pod(pod, self._scheduler),
            scheduler=pod.spec.scheduler_name,
            created=self._record.created(pod),
            attempts=self._record.attempts[pod.uid],
            reasons=self._record.reasons.get(pod.uid, ()),
        )

    def _kept(self) -> int:
        """Return how many pods have a node that no decision of this run gave them."""
        placed = {uid for uid, _ in self._record.placements}
        return sum(
            bool(pod.node_name) and not pod.is_finished and pod.uid not in placed
            for pod in self._cluster.list(Pod).items
        )

    def _waiting(self) -> list[Pod]:
        """Return the pods that need a node."""
        return [
            pod
            for pod in self._cluster.list(Pod).items
            if not (pod.node_name or pod.is_finished or pod.is_terminating)
        ]

    def _with_facts(self) -> Callable[[Pod, UnscheduledPod], UnscheduledPod]:
        facts = PendingFacts(self._scheduler)
        return lambda pod, entry: attrs.evolve(
            entry, facts=facts.of(pod, entry.message)
        )

    def _ended(self, uid: str, placement: Placement) -> Placement:
        finished = self._finished(uid, placement.pod)
        if finished is None:
            return placement
        return attrs.evolve(placement, finished=finished)

    def _finished(self, uid: str, key: str) -> float | None:
        """Return when a pod's containers had ended, if the cluster still has it."""
        try:
            pod = self._cluster.get(Pod, key)
        except NotFoundError:
            return None
        if pod.uid != uid or not pod.is_finished:
            return None
        for condition in pod.status.conditions:
            if condition.type == "Ready" and condition.last_transition_time is not None:
                return self._record.since(condition.last_transition_time)
        return None
