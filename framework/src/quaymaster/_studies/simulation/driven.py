"""A run that its caller drives: objects come and go, attempts are made one by one."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Self, TypeVar, overload

import attrs

from quaymaster._api.objects import ApiObject, Pod
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
from quaymaster._studies.simulation.standing import Standing, StandingReader
from quaymaster._studies.simulation.steps import Step, StepLog
from quaymaster._studies.simulation.upcoming import (
    InfeasibleNodeError,
    Upcoming,
    look_ahead,
)

__all__ = ["Run"]

ObjT = TypeVar("ObjT", bound=ApiObject)
PluginT = TypeVar("PluginT")

_DEFAULT_PROFILE: Final = "default-scheduler"


class Run:
    """A scheduler and its in-memory cluster, driven one step at a time.

    ```python
    with Run(nodes, seed=7) as run:
        for pod in arrivals:
            run.create(pod)
            step = run.attempt()
            if step.outcome is AttemptOutcome.UNSCHEDULABLE:
                run.delete(step.pod)
    ```

    It is the same scheduler as in `Simulation`, and decides the same. But nothing is
    tried unless `attempt` is called, and time stands still unless `advance` or `wait`
    is called. So a driver that makes one attempt for each arrival, and deletes what got
    no node, never meets a backoff.

    Each call ends when all that happens in its moment has happened: workloads have
    their pods, binds are confirmed, plugins have been notified, and pods whose wait on
    Permit has ended are bound. What takes time, such as the grace period of a victim, a
    backoff or a timeout on Permit, needs `advance` or `wait`.

    Args:
        objects: Nodes, pods, workloads and all else that is there at the beginning.
            Pods with a node are bound already, the others are in the queue.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes, and generated names.
        options: What else can be set about the scheduler; with ``verify`` every Nth
            decision is checked.
        max_pods: How many pods the workloads may ask for in all.
        observers: What follows the run, as for `Simulation`.

    Attributes:
        cluster: The cluster, for all that has no method here: reading, updates, nodes
            that fail. The scheduler learns of such changes with the next call.

    Raises:
        AdmissionError: Some objects break rules, or ask for too many pods.
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
    ) -> None:
        self._log = StepLog()
        self._simulation = Simulation(
            objects,
            config=config,
            registry=registry,
            seed=seed,
            log=self._log,
            options=options,
            observers=observers,
            max_pods=max_pods,
        )
        self.cluster = self._simulation.cluster
        self._clock = self.cluster.clock
        self._scheduler = self._simulation.scheduler
        # Looked for at most once, for as long as nothing happens.
        self._ahead: Upcoming | None = None
        self._simulation.start()
        self._catch_up()
        self._reader = StandingReader(self._scheduler)

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
        """The simulation that is driven, for what asks one, such as `measure_room`."""
        return self._simulation

    @property
    def config(self) -> SchedulerConfig:
        """The scheduler's configuration."""
        return self._simulation.config

    @property
    def snapshot(self) -> Snapshot:
        """The nodes and pods as plugins see them: not a copy, and only to be read."""
        return self._scheduler.snapshot

    def create(self, obj: ObjT) -> ObjT:
        """Bring in an object: a pod to be scheduled, or anything else.

        Args:
            obj: The object, as in a manifest.

        Returns:
            The object as the cluster has stored it, with its uid and defaults.

        Raises:
            ApiError: The cluster refuses it, as with `InMemoryCluster.create`.
        """
        stored = self.cluster.create(obj)
        self._catch_up()
        return stored

    def peek(self) -> Upcoming | None:
        """Return the pod that `attempt` would try, and the nodes that are open to it.

        Nothing changes by that: PreFilter and Filter plugins are called once more.

        Returns:
            The pod and the nodes, as long as the run does not go on; None if no pod is
            ready to be tried.
        """
        self._catch_up()
        if self._ahead is not None:
            return self._ahead
        queued = self._scheduler.queue.peek()
        # The engine drops pods that are on their way out when it comes to them.
        while queued is not None and queued.pod.is_terminating:
            self._scheduler.turn()
            queued = self._scheduler.queue.peek()
        if queued is None:
            return None
        self._ahead = look_ahead(self._framework_of(queued.pod), queued.pod)
        return self._ahead

    def attempt(self, *, on: str | None = None, explain: bool = False) -> Step | None:
        """Make one attempt: that of the pod at the head of the queue.

        As always that is the first active pod by the profile's queue sort; if none is
        active, a pod in backoff after a rejection comes early. A rejected pod comes
        again once an event may help it, as after `delete`, or time has passed.

        Args:
            on: The node to take, instead of the one that scores best; by default the
                profile decides. Everything but PreScore and Score goes on as always,
                and so the pod may still be refused, by Permit for instance.
            explain: Whether to take the attempt apart just before it is made, which
                costs as much as one without vectors and memory.

        Returns:
            What it came to; None if no pod is ready to be tried.

        Raises:
            InfeasibleNodeError: A plugin rejects the node that was chosen, or there is
                none of that name; nothing has happened then.
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
        with self._scheduler.deciding_by(name, algorithm):
            return self._attempt(explain=explain)

    def delete(
        self, obj: ApiObject, *, grace_period_seconds: float | None = 0.0
    ) -> None:
        """Let an object leave, at once unless asked otherwise.

        A pod that waits is never tried again, and the place of one that has a node is
        free.

        Args:
            obj: The object. If it has a uid, another one of that name is left alone.
            grace_period_seconds: How long a pod on a node takes to end; None for as
                long as it says itself.

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
        """Let time pass, in which no pod is tried.

        All that is due happens at its time: backoffs and waits on Permit end, pods that
        were evicted are deleted, and those that run for some time have run. What is
        ready to be tried afterwards is left to `attempt`.

        Args:
            seconds: How much time; at least 0.

        Raises:
            ValueError: It is below 0, or no finite number.
        """
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds: expected a finite number from 0, got {seconds}")
        self._catch_up()
        end = self._clock.now() + seconds
        timer = self._clock.call_at(end, lambda: None)
        while self._clock.now() < end:
            self._let_time_pass()
        timer.cancel()

    def wait(self) -> bool:
        """Let time pass until something is due by itself, such as the end of a backoff.

        No pod is tried, and there need not be one to be tried afterwards.

        Returns:
            False if nothing ever will be; then no time has passed.
        """
        self._catch_up()
        if self._clock.next_due() is None:
            return False
        self._let_time_pass()
        return True

    @contextmanager
    def trial(self) -> Iterator[Self]:
        """Run a block, and undo all that has happened in it; see `Simulation.trial`.

        Yields:
            This run.

        Raises:
            TrialError: As for `Simulation.trial`.
        """
        with self._simulation.trial(self):
            yield self

    def observe(self) -> Standing:
        """Return where things stand: the nodes as columns, and how many pods wait."""
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
        """Return the instance of a plugin that the scheduler asks.

        Args:
            plugin: The name that the profile has for it; or its class, of which the
                first instance is returned.
            profile: The scheduler name of the profile.

        Raises:
            PluginNotFoundError: There is no such plugin, or no such profile.
        """
        return plugin_at_work(self._scheduler.frameworks, plugin, profile)

    def result(self) -> SimulationResult:
        """Return all placements so far, what waits and why, and what was preempted."""
        self._catch_up()
        return self._simulation.result()

    def close(self) -> None:
        """Close the plugins, after the last call; a second time does no harm."""
        self._simulation.close()

    def _attempt(self, *, explain: bool) -> Step | None:
        self._ahead = None
        self._log.clear(explains=explain)
        while self._log.step is None:
            if not self._scheduler.turn():
                return None
        self._catch_up()
        return self._ended(self._log.step)

    def _framework_of(self, pod: Pod) -> Framework:
        return self._scheduler.frameworks[pod.spec.scheduler_name]

    def _ended(self, step: Step) -> Step:
        """Return a step with its number, and the outcome at the end of its moment."""
        number = self._simulation.attempts_of(step.pod)
        if step.outcome is not AttemptOutcome.UNFINISHED:
            return attrs.evolve(step, number=number)
        # An assumed pod keeps its place until it is bound, or refused after all.
        assumed = self._scheduler.cache.get(step.uid)
        if assumed is None:
            return attrs.evolve(step, number=number, outcome=AttemptOutcome.GONE)
        return attrs.evolve(
            step,
            number=number,
            outcome=AttemptOutcome.WAITING,
            node=assumed.node_name,
        )

    def _let_time_pass(self) -> None:
        """Go to the next moment at which a timer is due; there is one."""
        self._scheduler.wait()
        self._catch_up()

    def _catch_up(self) -> None:
        while self._scheduler.catch_up():
            self._ahead = None
