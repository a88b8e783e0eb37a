"""Records what happens in a simulation."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import EventNote
from quaymaster._core.contract.options import HookError, SlowHook
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.followers import FollowsAttempts, FollowsGroups
from quaymaster._studies.simulation.results import Placement, Preemption, ProgressFn

if TYPE_CHECKING:
    from quaymaster._core.engine.group_reports import GroupReport

__all__ = ["Record"]

_PREEMPTED = "Preempted"
# Chosen, not measured: a few reports in each second, each of which lists all pods.
_PODS_PER_REPORT = 256


class Record:
    """Follows a scheduler; implements `Observer`.

    Args:
        cluster: The scheduler's cluster, before the simulation begins.

    Attributes:
        logs: Follow attempts.
        group_logs: Those that follow groups as well.
        unobserved: Makes the context in which logs may call hooks.
        started: When the simulation began.
        placements: The pods that got a node, each with its uid, in order.
        preempted: The pods that were preempted, in order.
        attempts: How often each pod was tried, by its uid.
        reasons: The reasons for which each waiting pod was rejected, by its uid.
        on_progress: Called with the progress, or None.
        tried: How many attempts there have been.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self.logs: list[FollowsAttempts] = []
        self.group_logs: list[FollowsGroups] = []
        self.unobserved: Callable[[], AbstractContextManager[None]] = nullcontext
        self._given = frozenset(pod.uid for pod in cluster.list(Pod).items)
        self.started = cluster.clock.now()
        self.placements: list[tuple[str, Placement]] = []
        self.preempted: list[Preemption] = []
        self.attempts: Counter[str] = Counter()
        self.reasons: dict[str, tuple[str, ...]] = {}
        self.on_progress: ProgressFn | None = None
        self.tried = 0
        self._moment, self._seconds = self.started, 0.0

    def attempting(self, pod: Pod, framework: Framework) -> None:
        """Pass an attempt to the logs, and count it."""
        if self.logs:
            now = self._now()
            for log in self.logs:
                if log.calls_hooks:
                    with self.unobserved():
                        log.begin(pod, framework, now)
                else:
                    log.begin(pod, framework, now)
        self.tried += 1
        self.attempts[pod.metadata.uid] += 1

    def moment(self) -> tuple[float, int, int, int]:
        """Return the time and the numbers of attempts, placed and preempted pods."""
        return self._now(), self.tried, len(self.placements), len(self.preempted)

    def bound(self, pod: Pod, node_name: str) -> None:
        """Note a placement."""
        self.reasons.pop(pod.uid, None)
        placement = Placement(
            pod=pod.key,
            node=node_name,
            scheduler=pod.spec.scheduler_name,
            created=self.created(pod),
            bound=self._now(),
            attempts=self.attempts[pod.uid],
        )
        self.placements.append((pod.uid, placement))
        for log in self.logs:
            log.bind(pod, node_name)
        if len(self.placements) % _PODS_PER_REPORT == 0:
            self.report_progress()

    def recorded(self, note: EventNote) -> None:
        """Note a preemption, by the event of its victim.

        Events are read at once: later the cluster may have dropped some, and another
        pod may have the name of the victim.
        """
        victim, preemptor = note.regarding, note.related
        if (
            note.reason != _PREEMPTED
            or preemptor is None
            or not isinstance(victim, Pod)
        ):
            return
        preemption = Preemption(
            pod=victim.key, by=preemptor.key, node=victim.node_name, at=self._now()
        )
        self.preempted.append(preemption)
        for log in self.logs:
            log.preempt(victim.key, preemptor.key)

    def slow(self, hook: SlowHook) -> None:
        """Do nothing: it is logged, and real times would make results differ."""

    def failed(self, error: HookError) -> None:
        """Do nothing: it is logged, and part of the messages of pods."""

    def gave_no_node(self, pod: Pod, failure: Failure) -> None:
        """Note why an attempt failed."""
        self.reasons[pod.metadata.uid] = failure.reasons
        for log in self.logs:
            if log.calls_hooks:
                with self.unobserved():
                    log.fail(pod, failure)
            else:
                log.fail(pod, failure)

    def group_decided(self, report: "GroupReport") -> None:
        """Pass an attempt of a group to the logs."""
        with self.unobserved():
            for log in self.group_logs:
                log.decided(report, self._now())

    def created(self, pod: Pod) -> float:
        """Return when a pod entered the simulation, in seconds since the beginning."""
        created = pod.metadata.creation_timestamp
        if created is None or pod.uid in self._given:
            return 0.0
        # A pod that is created again may keep its first creation time.
        return max(0.0, self.since(created))

    def since(self, moment: float) -> float:
        """Return the seconds since the beginning, to the microsecond, as in objects."""
        # Rounding takes as long as noting an attempt, and many attempts share a moment.
        if moment != self._moment:
            self._moment, self._seconds = moment, round(moment - self.started, 6)
        return self._seconds

    def report_progress(self) -> None:
        """Report how many pods have a node, and how many pods there are."""
        if self.on_progress is not None:
            self.on_progress(len(self.placements), len(self._cluster.list(Pod).items))

    def _now(self) -> float:
        return self.since(self._cluster.clock.now())
