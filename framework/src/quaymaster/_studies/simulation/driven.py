"""A run that its caller drives: creates and deletes objects, makes single attempts."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Self, TypeVar, overload

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._base.displayed import Tabular
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.instances import plugin_at_work
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.snapshot import Snapshot
from quaymaster._studies.simulation.observers import AnyObserver
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.simulation.run_state import RunStateReader, Standing
from quaymaster._studies.simulation.steps import Step, StepLog
from quaymaster._studies.simulation.upcoming import (
    InfeasibleNodeError,
    Upcoming,
    look_ahead,
)

if TYPE_CHECKING:
    from quaymaster._studies.simulation.autoscaler import AutoscalerFactory

__all__ = ["Run"]

ObjT = TypeVar("ObjT", bound=ApiObject)
PluginT = TypeVar("PluginT")

_DEFAULT_PROFILE: Final = "default-scheduler"


class Run(Tabular):
    """A scheduler and its in-memory cluster, driven one step at a time.

    ```python
    with Run(nodes, seed=7) as run:
        for pod in arrivals:
            run.create(pod)
            step = run.attempt()
            if step.outcome is AttemptOutcome.UNSCHEDULABLE:
                run.delete(step.pod)
    ```

    It uses the same scheduler as `Simulation` and makes the same decisions. But pods
    are tried only in `attempt`, and time passes only in `advance` and `wait`. So a
    driver that makes one attempt per arrival, and deletes pods that got no node, never
    meets a backoff.

    Each call completes everything that happens in its moment: workloads get their pods,
    binds are confirmed, plugins are notified, and pods whose wait on Permit has ended
    are bound. What takes time, such as the grace period of a victim, a backoff or a
    timeout on Permit, needs `advance` or `wait`.

    Args:
        objects: Nodes, pods, workloads and all else that exists at the beginning. Pods
            with a node are bound already, the others are in the queue.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes, and generated names.
        options: Other settings of the scheduler; with ``verify`` every Nth decision is
            checked.
        max_pods: How many pods the workloads may ask for in all.
        observers: What follows the run, as for `Simulation`.
        autoscaler: Makes what adds and removes nodes; by default nothing does.

    Attributes:
        cluster: The cluster, for what this class has no method for: reads, updates,
            node failures. The scheduler receives such changes in the next call.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
    """

    def __init__(
        self,
        objects: Iterable[ApiObject] = (),
        *,
        config: SchedulerConfig | None = None,
        registry: PluginRegistry | None = None,
        seed: int = 0,
        options: SchedulerOptions | None = None,
        max_pods: int = MAX_PODS,
        observers: Iterable[AnyObserver] = (),
        autoscaler: "AutoscalerFactory | None" = None,
    ) -> None:
        self._log = StepLog(self._attempts_of)
        self._simulation = Simulation(
            objects,
            config=config,
            registry=registry,
            seed=seed,
            log=self._log,
            options=options,
            observers=observers,
            max_pods=max_pods,
            autoscaler=autoscaler,
        )
        self.cluster = self._simulation.cluster
        self._clock = self.cluster.clock
        self._scheduler = self._simulation.scheduler
        # Computed at most once between two changes.
        self._ahead: Upcoming | None = None
        self._simulation.start()
        # The queue is filled here, so that the first `peek` sees all pods of the input.
        self._catch_up()
        self._reader = RunStateReader(self._scheduler)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def now(self) -> float:
        """The virtual time, in seconds since the beginning."""
        return self._simulation.now

    @property
    def simulation(self) -> Simulation:
        """The simulation behind this run, for functions such as `measure_room`."""
        return self._simulation

    @property
    def config(self) -> SchedulerConfig:
        """The scheduler's configuration."""
        return self._simulation.config

    @property
    def snapshot(self) -> Snapshot:
        """The nodes and pods as plugins see them: not a copy; do not modify it."""
        return self._scheduler.snapshot

    def create(self, obj: ObjT) -> ObjT:
        """Create an object: a pod to schedule, or anything else.

        Args:
            obj: The object, as in a manifest.

        Returns:
            The object as the cluster has stored it, with its uid and defaults.

        Raises:
            ApiError: The cluster rejects it, as `InMemoryCluster.create` does.
        """
        stored = self.cluster.create(obj)
        self._catch_up()
        return stored

    def peek(self) -> Upcoming | None:
        """Return the pod that `attempt` would try, and its feasible nodes.

        This changes nothing. PreFilter and Filter plugins are called once more.

        Returns:
            The pod and the nodes, valid until the run continues; None if no pod is
            ready to be tried.
        """
        self._catch_up()
        if self._ahead is not None:
            return self._ahead
        queued = self._scheduler.queue.peek()
        # The engine drops terminating pods when it pops them.
        while queued is not None and queued.pod.is_terminating:
            self._scheduler.turn()
            queued = self._scheduler.queue.peek()
        if queued is None:
            return None
        self._ahead = look_ahead(self._framework_of(queued.pod), queued.pod)
        return self._ahead

    def attempt(self, *, on: str | None = None, explain: bool = False) -> Step | None:
        """Make one attempt, with the pod at the head of the queue.

        That is the first active pod by the profile's queue sort. If no pod is active, a
        pod in backoff after a rejection is tried early. A rejected pod is requeued when
        an event may help it, for example after `delete`, or after some time.

        Args:
            on: The node to choose instead of the best one; by default the profile
                decides. All extension points except PreScore and Score are called as
                always, so the pod may still be rejected, for example by Permit.
            explain: Whether to explain the attempt just before it is made. This costs
                as much as an attempt without batch twins and caches.

        Returns:
            The attempt and its outcome; None if no pod is ready to be tried.

        Raises:
            InfeasibleNodeError: A plugin rejects the requested node, or no node has
                that name. The attempt was not made then.
            VerificationError: The options ask for decisions to be verified, and this
                one differs from the plain algorithm's.
        """
        if on is None:
            return self._attempt(explain=explain)
        upcoming = self.peek()
        if upcoming is None:
            return None
        reason = upcoming.why_not(on)
        row = upcoming.nodes.row_of(on)
        if reason or row is None:
            raise InfeasibleNodeError(upcoming.pod.key, on, reason)
        algorithm = self._framework_of(upcoming.pod).algorithm.choosing(row)
        name = upcoming.pod.spec.scheduler_name
        # The rest of the attempt is that of the scheduler: only the choice of the node
        # is replaced.
        with self._scheduler.deciding_by(name, algorithm):
            return self._attempt(explain=explain)

    def try_next(self) -> bool:
        """Make one attempt as `attempt` does, without a record of it.

        Returns:
            Whether a pod was ready to be tried.
        """
        self._ahead = None
        self._log.clear(explains=False)
        return self._made_attempt()

    def delete(
        self, obj: ApiObject, *, grace_period_seconds: float | None = 0.0
    ) -> None:
        """Delete an object, at once unless a grace period is given.

        A pending pod is never tried again. The resources of a pod with a node are free.

        Args:
            obj: The object. If it has a uid, another object of that name is not
                deleted.
            grace_period_seconds: How long a pod on a node takes to end; None for the
                pod's own grace period.

        Raises:
            NotFoundError: The object no longer exists.
            ConflictError: Another object has its name.
        """
        uid = obj.metadata.uid or None
        self.cluster.delete(
            type(obj), obj.key, uid=uid, grace_period_seconds=grace_period_seconds
        )
        self._catch_up()

    def advance(self, seconds: float) -> None:
        """Let time pass without attempts.

        All that is due happens at its time: backoffs and waits on Permit end, evicted
        pods are deleted, and pods that run for a limited time end. Pods that are ready
        afterwards wait for `attempt`.

        Args:
            seconds: How much time; at least 0.

        Raises:
            ValueError: It is below 0 or not finite.
        """
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds: expected a finite number from 0, got {seconds}")
        self._catch_up()
        end = self._clock.now() + seconds
        # Virtual time moves from timer to timer, so the end needs one of its own.
        timer = self._clock.call_at(end, lambda: None)
        while self._clock.now() < end:
            self._let_time_pass()
        timer.cancel()

    def wait(self) -> bool:
        """Let time pass until the next timer is due, such as the end of a backoff.

        No pod is tried, and possibly none is ready afterwards.

        Returns:
            False if no timer is set; then no time has passed.
        """
        self._catch_up()
        if self._clock.next_due() is None:
            return False
        self._let_time_pass()
        return True

    @contextmanager
    def trial(self) -> Iterator[Self]:
        """Run a block, and undo all of its changes; see `Simulation.trial`.

        Yields:
            This run.

        Raises:
            TrialError: As for `Simulation.trial`.
        """
        with self._simulation.trial(self):
            yield self

    def observe(self) -> Standing:
        """Return the state of the run: nodes as columns, and numbers of pods."""
        self._catch_up()
        at, attempts, placed, preempted = self._simulation.moment()
        return self._reader.read(at, attempts, placed, preempted)

    @overload
    def plugin(self, plugin: str, *, profile: str = ...) -> object: ...

    @overload
    def plugin(self, plugin: type[PluginT], *, profile: str = ...) -> PluginT: ...

    def plugin(
        self, plugin: str | type[PluginT], *, profile: str = _DEFAULT_PROFILE
    ) -> object:
        """Return the instance of a plugin that the scheduler uses.

        Args:
            plugin: Its name in the profile; or its class, whose first instance is
                returned.
            profile: The scheduler name of the profile.

        Raises:
            PluginNotFoundError: The plugin or the profile does not exist.
        """
        return plugin_at_work(self._scheduler.frameworks, plugin, profile)

    def result(self) -> SimulationResult:
        """Return all placements so far, pending pods with reasons, and preemptions."""
        self._catch_up()
        return self._simulation.result()

    def close(self) -> None:
        """Close the plugins, after the last call; later calls do nothing."""
        self._simulation.close()

    def _attempt(self, *, explain: bool) -> Step | None:
        self._ahead = None
        self._log.clear(explains=explain)
        if not self._made_attempt():
            return None
        step = self._log.step
        assert step is not None, "an attempt was made"
        return self._ended(step)

    def _made_attempt(self) -> bool:
        """Make one attempt; return False if no pod is ready to be tried."""
        # Turns without an attempt, such as the flush of a backoff, come between.
        while not self._log.has_step:
            if not self._scheduler.turn():
                return False
        self._catch_up()
        return True

    def _framework_of(self, pod: Pod) -> Framework:
        return self._scheduler.frameworks[pod.spec.scheduler_name]

    def _ended(self, step: Step) -> Step:
        """Return a step with its number, and the outcome at the end of its moment."""
        number = self._attempts_of(step.pod)
        if step.outcome is not AttemptOutcome.UNFINISHED:
            is_numbered = step.number == number
            return step if is_numbered else attrs.evolve(step, number=number)
        # An assumed pod keeps its node until it is bound or rejected.
        assumed = self._scheduler.cache.get(step.uid)
        if assumed is None:
            return attrs.evolve(step, number=number, outcome=AttemptOutcome.GONE)
        return attrs.evolve(
            step,
            number=number,
            outcome=AttemptOutcome.WAITING,
            node=assumed.node_name,
        )

    def _attempts_of(self, pod: Pod) -> int:
        return self._simulation.attempts_of(pod)

    def _let_time_pass(self) -> None:
        """Move to the next moment at which a timer is due; there must be a timer."""
        self._scheduler.wait()
        self._catch_up()

    def _catch_up(self) -> None:
        while self._scheduler.catch_up():
            self._ahead = None
