"""Runs one simulation: at once to its end, or step by step."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Final, Self

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.attempts import FollowsAttempts
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.record import Record
from quaymaster._studies.simulation.results import (
    Placement,
    Preemption,
    ProgressFn,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster._studies.simulation.sampled_attempts import SampledAttempts
from quaymaster._studies.simulation.series import Series
from quaymaster._studies.simulation.verdicts import unscheduled_pod

__all__ = ["Simulation", "filled_cluster"]

_SAMPLES: Final = 1000
"""How many samples are kept at most: as many as a chart has pixels."""


def filled_cluster(
    objects: Sequence[ApiObject],
    seed: int,
    max_pods: int = MAX_PODS,
    *,
    kubernetes: Kubernetes,
    as_it_is: bool = False,
) -> InMemoryCluster:
    """Make an in-memory cluster in virtual time, with these objects.

    Args:
        objects: The objects.
        seed: As for `InMemoryCluster`.
        max_pods: As for `InMemoryCluster`.
        kubernetes: As for `InMemoryCluster`.
        as_it_is: As for `InMemoryCluster.load`.

    Raises:
        AdmissionError: Some objects break rules.
    """
    cluster = InMemoryCluster(
        VirtualClock(), seed=seed, max_pods=max_pods, kubernetes=kubernetes
    )
    cluster.load(objects, as_it_is=as_it_is)
    return cluster


class Simulation:
    """A scheduler and its in-memory cluster, in virtual time.

    The cluster may be changed at any moment between two calls; the next one goes on
    from there. All times are seconds since the beginning.

    ```python
    with Simulation(cluster, config=config, registry=registry) as simulation:
        simulation.settle()
        before = simulation.result()
        cluster.delete(Node, "node-7")
        simulation.settle()
        after = simulation.result()
    ```

    Args:
        cluster: The cluster, whose clock is a `VirtualClock`, with its objects.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes.
        log: Follows the attempts of some pods, or None.
        options: What else can be set about the scheduler.
        observe: Whether `observed` is going to be asked, for which samples are taken,
            and some attempts taken apart. Decisions are the same.

    Attributes:
        cluster: The cluster.
        lost_nodes: Nodes that have failed and may return, by name.

    Raises:
        ProfileError: A profile's plugins cannot be built.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        *,
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int = 0,
        log: FollowsAttempts | None = None,
        options: SchedulerOptions | None = None,
        observe: bool = False,
    ) -> None:
        self.cluster = cluster
        self._attempts = SampledAttempts() if observe and log is None else None
        self._record = Record(cluster, log or self._attempts)
        self.lost_nodes: dict[str, Node] = {}
        self._scheduler = Scheduler(
            cluster,
            config,
            registry,
            clock=cluster.clock,
            seed=seed,
            observer=self._record,
            on_failure=self._record.gave_no_node,
            options=options,
        )
        self._is_started = False
        self._stop_listening = self._observe() if observe else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def now(self) -> float:
        """The virtual time, in seconds since the beginning."""
        return self._record.since(self.cluster.clock.now())

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler, which has learnt of the cluster once time has passed.

        What it holds may be read between two calls.
        """
        return self._scheduler

    def start(self) -> None:
        """Let the scheduler learn of the cluster, as `settle` and others do at first.

        A second time does no harm.
        """
        if not self._is_started:
            self._scheduler.start()
            self._is_started = True

    def settle(self, on_progress: ProgressFn | None = None) -> None:
        """Schedule until nothing moves any more, however long that takes.

        Args:
            on_progress: Called with the progress.

        Raises:
            VerificationError: The options ask for decisions to be verified, and one
                differs from the plain algorithm's.
        """
        self._record.on_progress = on_progress
        self.start()
        self._record.report_progress()
        self._scheduler.settle()
        self._record.report_progress()

    def run_until(self, seconds: float) -> None:
        """Schedule until a time, with all that is due by then; for the past, nothing.

        Args:
            seconds: The time, in seconds since the beginning.

        Raises:
            VerificationError: As for `settle`.
        """
        self.start()
        clock, scheduler = self.cluster.clock, self._scheduler
        end = self._record.started + seconds
        if end < clock.now():
            return
        timer = clock.call_at(end, lambda: None)
        while True:
            if scheduler.turn():
                continue
            if clock.now() >= end:
                break
            scheduler.wait()
        timer.cancel()

    def moment(self) -> tuple[float, int, int, int]:
        """Return the time, the attempts, the placed and the preempted pods so far."""
        return self._record.moment()

    def attempts_of(self, pod: Pod) -> int:
        """Return how often a pod has been tried."""
        return self._record.attempts[pod.uid]

    @property
    def preempted(self) -> Sequence[Preemption]:
        """The pods that have been preempted so far, in order."""
        return self._record.preempted

    @property
    def config(self) -> SchedulerConfig:
        """The scheduler's configuration, as it is now."""
        return self._scheduler.config

    def use_config(self, config: SchedulerConfig) -> None:
        """Go on with another configuration, as after a reload.

        Args:
            config: The configuration, complete and checked.

        Raises:
            ProfileError: A profile's plugins cannot be built; nothing has changed then.
        """
        self.start()
        changes = self._scheduler.reload(config)
        self._scheduler.catch_up()
        changes.result(timeout=0)

    def close(self) -> None:
        """Close the plugins, after the last question; a second time does no harm."""
        self._scheduler.close()
        if self._stop_listening is not None:
            self._stop_listening()

    def observed(self, name: str = "") -> ObservedRun:
        """Return all that there is to see; `observe` has to be set for samples.

        Args:
            name: What to call the run beside others.
        """
        series = self._record.series
        return ObservedRun(
            name=name,
            result=self.result(),
            nodes=self.cluster.list(Node).items,
            pods=self.cluster.list(Pod).items,
            samples=(*series.samples(), series.now(*self._record.moment()))
            if series
            else (),
            attempts=self._attempts.attempts() if self._attempts else (),
        )

    def _observe(self) -> Callable[[], None] | None:
        self._record.series = Series(self._scheduler, _SAMPLES)
        clock = self.cluster.clock
        if isinstance(clock, VirtualClock):
            return clock.before_moving(self._record.time_passes)
        return None

    def result(self) -> SimulationResult:
        """Return the result."""
        record, waiting = self._record, self._waiting()
        return SimulationResult(
            placements=tuple(starmap(self._ended, record.placements)),
            unscheduled=tuple(
                sorted(map(self.unscheduled, waiting), key=lambda one: one.pod)
            ),
            preempted=tuple(record.preempted),
            pods=len(record.placements) + len(waiting),
            nodes=len(self.cluster.list(Node).items),
            started=record.started,
            notices=self.notices(),
        )

    def notices(self) -> tuple[Notice, ...]:
        """Return the notices of the cluster, and one about pods of no profile."""
        known = self._scheduler.frameworks
        others = Counter(
            pod.spec.scheduler_name
            for pod in self._waiting()
            if pod.spec.scheduler_name not in known
        )
        if not others:
            return self.cluster.notices()
        names = ", ".join(f"{name} x{count}" for name, count in sorted(others.items()))
        message = f"pods wait for schedulers that no profile has the name of: {names}"
        other = Notice(reason=NoticeReason.OTHER_SCHEDULERS, message=message)
        return (*self.cluster.notices(), other)

    def _waiting(self) -> list[Pod]:
        """Return the pods that need a node."""
        return [
            pod
            for pod in self.cluster.list(Pod).items
            if not (pod.node_name or pod.is_finished or pod.is_terminating)
        ]

    def unscheduled(self, pod: Pod) -> UnscheduledPod:
        """Return what the result says of a pod that has no node."""
        return attrs.evolve(
            unscheduled_pod(pod, self._scheduler),
            scheduler=pod.spec.scheduler_name,
            created=self._record.created(pod),
            attempts=self._record.attempts[pod.uid],
            reasons=self._record.reasons.get(pod.uid, ()),
        )

    def _ended(self, uid: str, placement: Placement) -> Placement:
        finished = self._finished(uid, placement.pod)
        if finished is None:
            return placement
        return attrs.evolve(placement, finished=finished)

    def _finished(self, uid: str, key: str) -> float | None:
        """Return when the containers of a pod had ended, if the cluster still knows."""
        try:
            pod = self.cluster.get(Pod, key)
        except NotFoundError:
            return None
        if pod.uid != uid or not pod.is_finished:
            return None
        for condition in pod.status.conditions:
            if condition.type == "Ready" and condition.last_transition_time is not None:
                return self._record.since(condition.last_transition_time)
        return None
