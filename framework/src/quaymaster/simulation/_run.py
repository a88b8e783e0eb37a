"""One simulation, from the objects to the result."""

from collections import Counter
from collections.abc import Sequence
from itertools import starmap

import attrs

from quaymaster._engine.failure import Failure
from quaymaster._engine.framework import Framework
from quaymaster._engine.scheduler import Scheduler
from quaymaster.clock import VirtualClock
from quaymaster.cluster import EventNote, NotFoundError
from quaymaster.config import SchedulerConfig
from quaymaster.memory import MAX_PODS, MemoryCluster
from quaymaster.notices import Notice, NoticeReason
from quaymaster.objects import ApiObject, Node, Pod
from quaymaster.options import EngineOptions, HookError, SlowHook
from quaymaster.registry import PluginRegistry
from quaymaster.simulation._attempts import AttemptLog
from quaymaster.simulation._results import (
    Placement,
    Preemption,
    ProgressFn,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster.simulation._verdicts import unscheduled_pod

__all__ = ["Run", "filled_cluster"]

_PREEMPTED = "Preempted"
_PODS_PER_REPORT = 256


def filled_cluster(
    objects: Sequence[ApiObject], seed: int, max_pods: int = MAX_PODS
) -> MemoryCluster:
    """An in-memory cluster in virtual time, with these objects.

    Raises:
        AdmissionError: Some objects break rules.
    """
    cluster = MemoryCluster(VirtualClock(), seed=seed, max_pods=max_pods)
    cluster.load(objects)
    return cluster


class Run:
    """One simulation; observes its own scheduler.

    Args:
        cluster: Where everything is.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes.
        log: Follows the attempts of some pods, or None.
        options: What else can be set about the scheduler.
    """

    def __init__(
        self,
        cluster: MemoryCluster,
        config: SchedulerConfig,
        registry: PluginRegistry,
        *,
        seed: int = 0,
        log: AttemptLog | None = None,
        options: EngineOptions | None = None,
    ) -> None:
        self._cluster = cluster
        self._started = cluster.clock.now()
        self._log = log
        self._placements: list[tuple[str, Placement]] = []
        self._preempted: list[Preemption] = []
        self._attempts: Counter[str] = Counter()
        self._reasons: dict[str, tuple[str, ...]] = {}
        self._given = frozenset(pod.uid for pod in self.pods())
        self._scheduler = Scheduler(
            cluster,
            config,
            registry,
            clock=cluster.clock,
            seed=seed,
            observer=self,
            on_failure=self._failed,
            options=options,
        )
        self._on_progress: ProgressFn | None = None

    def pods(self) -> Sequence[Pod]:
        """All pods that there are now."""
        return self._cluster.list(Pod).items

    def settle(self, on_progress: ProgressFn | None = None) -> None:
        """Schedule until nothing moves any more."""
        self._on_progress = on_progress
        self._scheduler.start()
        self._report_progress()
        self._scheduler.settle()
        self._report_progress()

    def attempting(self, pod: Pod, framework: Framework) -> None:
        """Count an attempt, and have it followed."""
        self._attempts[pod.uid] += 1
        if self._log is not None:
            nodes = self._scheduler.snapshot.nodes
            self._log.begin(pod, framework, nodes, self._now())

    def bound(self, pod: Pod, node_name: str) -> None:
        """Note a placement."""
        self._reasons.pop(pod.uid, None)
        placement = Placement(
            pod=pod.key,
            node=node_name,
            scheduler=pod.spec.scheduler_name,
            created=self._created(pod),
            bound=self._now(),
            attempts=self._attempts[pod.uid],
        )
        self._placements.append((pod.uid, placement))
        if self._log is not None:
            self._log.bind(pod, node_name)
        if len(self._placements) % _PODS_PER_REPORT == 0:
            self._report_progress()

    def recorded(self, note: EventNote) -> None:
        """Note a preemption, told by the event that its victim gets.

        Events are taken as they happen: later the cluster may have forgotten some, and
        a victim's name may belong to the pod that has replaced it.
        """
        victim, preemptor = note.regarding, note.related
        if (
            note.reason != _PREEMPTED
            or preemptor is None
            or not isinstance(victim, Pod)
        ):
            return
        told = Preemption(
            pod=victim.key, by=preemptor.key, node=victim.node_name, at=self._now()
        )
        self._preempted.append(told)
        if self._log is not None:
            self._log.preempt(victim.key, preemptor.key)

    def slow(self, hook: SlowHook) -> None:
        """Leave it to the log: real times would make results differ."""

    def failed(self, error: HookError) -> None:
        """Leave it to the log, and to the messages of the pods."""

    def result(self) -> SimulationResult:
        """How it ended."""
        waiting = self._waiting()
        return SimulationResult(
            placements=tuple(starmap(self._ended, self._placements)),
            unscheduled=tuple(
                sorted(map(self.unscheduled, waiting), key=lambda one: one.pod)
            ),
            preempted=tuple(self._preempted),
            pods=len(self._placements) + len(waiting),
            nodes=len(self._cluster.list(Node).items),
            started=self._started,
            notices=self.notices(),
        )

    def notices(self) -> tuple[Notice, ...]:
        """What the cluster tells, and the pods that are none of these profiles'."""
        known = self._scheduler.frameworks
        others = Counter(
            pod.spec.scheduler_name
            for pod in self._waiting()
            if pod.spec.scheduler_name not in known
        )
        if not others:
            return self._cluster.notices()
        names = ", ".join(f"{name} x{count}" for name, count in sorted(others.items()))
        message = f"pods wait for schedulers that no profile has the name of: {names}"
        other = Notice(reason=NoticeReason.OTHER_SCHEDULERS, message=message)
        return (*self._cluster.notices(), other)

    def _waiting(self) -> list[Pod]:
        """The pods that somebody should find a node for."""
        return [
            pod
            for pod in self.pods()
            if not (pod.node_name or pod.is_finished or pod.is_terminating)
        ]

    def unscheduled(self, pod: Pod) -> UnscheduledPod:
        """What to tell of a pod that has no node."""
        return attrs.evolve(
            unscheduled_pod(pod, self._scheduler),
            scheduler=pod.spec.scheduler_name,
            created=self._created(pod),
            attempts=self._attempts[pod.uid],
            reasons=self._reasons.get(pod.uid, ()),
        )

    def _failed(self, pod: Pod, failure: Failure) -> None:
        self._reasons[pod.uid] = failure.reasons
        if self._log is not None:
            self._log.fail(pod, failure)

    def _ended(self, uid: str, placement: Placement) -> Placement:
        finished = self._finished(uid, placement.pod)
        if finished is None:
            return placement
        return attrs.evolve(placement, finished=finished)

    def _created(self, pod: Pod) -> float:
        created = pod.metadata.creation_timestamp
        if created is None or pod.uid in self._given:
            return 0.0
        return self._since(created)

    def _finished(self, uid: str, key: str) -> float | None:
        """When its containers had ended, as far as the cluster still knows."""
        try:
            pod = self._cluster.get(Pod, key)
        except NotFoundError:
            return None
        if pod.uid != uid or not pod.is_finished:
            return None
        for condition in pod.status.conditions:
            if condition.type == "Ready" and condition.last_transition_time is not None:
                return self._since(condition.last_transition_time)
        return None

    def _now(self) -> float:
        return self._since(self._cluster.clock.now())

    def _since(self, moment: float) -> float:
        """Seconds since the beginning, to the microsecond, as objects tell time."""
        return round(moment - self._started, 6)

    def _report_progress(self) -> None:
        if self._on_progress is not None:
            self._on_progress(len(self._placements), len(self.pods()))
