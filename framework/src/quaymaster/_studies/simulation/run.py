"""Runs one simulation: at once to its end, or step by step."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.notices import Notice
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import INSTANT_POD_TIMES, PodTimes
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.followers import FollowsAttempts, FollowsGroups
from quaymaster._studies.simulation.observers import (
    AnyObserver,
    begin_observers,
    simulation_observers,
    with_hook_observers,
)
from quaymaster._studies.simulation.record import Record
from quaymaster._studies.simulation.result_reader import ResultReader
from quaymaster._studies.simulation.results import (
    Preemption,
    ProgressFn,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster._studies.simulation.trial_error import TrialError

if TYPE_CHECKING:
    from quaymaster._studies.simulation.autoscaler import Autoscaler, AutoscalerFactory
    from quaymaster._studies.simulation.explained_groups import ExplainedGroup
    from quaymaster._studies.simulation.observed import ObservedRun
    from quaymaster._studies.simulation.run_observer import RunObserver

__all__ = ["Simulation"]


class Simulation:
    """A scheduler and its in-memory cluster, in virtual time, with any observers.

    The cluster may be changed at any moment between two calls; the next call continues
    from there. All times are seconds since the beginning.

    ```python
    with Simulation(objects) as simulation:
        simulation.settle()
        before = simulation.result()
        simulation.cluster.delete(Node, "node-7")
        simulation.settle()
        after = simulation.result()
    ```

    One simulation serves many observers: each follows it from the beginning to the end,
    and none of them changes a decision.

    Args:
        objects: Nodes, pods, workloads and all else, as for `simulate`; or a cluster
            that has its objects and whose clock is a `VirtualClock`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes, and generated names.
        log: Follows the attempts of some pods, or None.
        options: Other settings of the scheduler.
        observe: Whether `observed` returns samples and attempts, as with a
            `RunObserver` among the observers.
        observers: What follows the simulation, such as `RunObserver` and `HookTimings`.
        max_pods: How many pods the workloads may ask for in all.
        cluster: The cluster, if ``objects`` is not given.
        times: How long pods need to start and to end, if no cluster is given.
        autoscaler: Makes what adds and removes nodes; by default nothing does.

    Attributes:
        cluster: The cluster.
        autoscaler: What adds and removes nodes, or None.
        registry: Where plugins are found by name.
        lost_nodes: Nodes that have failed and may return, by name.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ConfigErrors: A plugin of the default profile is not installed.
        ProfileError: A profile's plugins cannot be built.
        ValueError: An argument is not an observer.
    """

    def __init__(
        self,
        objects: Iterable[ApiObject] | InMemoryCluster = (),
        *,
        config: SchedulerConfig | None = None,
        registry: PluginRegistry | None = None,
        seed: int = 0,
        log: FollowsAttempts | None = None,
        options: SchedulerOptions | None = None,
        observe: bool = False,
        observers: Iterable[AnyObserver] = (),
        max_pods: int = MAX_PODS,
        cluster: InMemoryCluster | None = None,
        times: PodTimes = INSTANT_POD_TIMES,
        autoscaler: "AutoscalerFactory | None" = None,
    ) -> None:
        observers = tuple(observers)
        following = simulation_observers(observers)
        config, self.registry = with_defaults(config, registry)
        if isinstance(objects, InMemoryCluster):
            cluster = objects
        elif cluster is None:
            cluster = filled_cluster(
                list(objects),
                seed,
                max_pods,
                kubernetes=config.kubernetes,
                times=times,
            )
        # What an autoscaler evicts is created again, as in a real cluster.
        assumed = _assumed(cluster) if autoscaler is not None else ()
        self.cluster = cluster
        self._record = Record(cluster)
        self.lost_nodes: dict[str, Node] = {}
        self._scheduler = Scheduler(
            cluster,
            config,
            self.registry,
            clock=cluster.clock,
            seed=seed,
            observer=self._record,
            on_failure=self._record.gave_no_node,
            options=with_hook_observers(options, observers),
        )
        self._record.unobserved = self._scheduler.hooks_unobserved
        self._results = ResultReader(cluster, self._scheduler, self._record, assumed)
        self.autoscaler = (
            _autoscaler(autoscaler, cluster, config, self.registry, seed)
            if autoscaler is not None
            else None
        )
        self._results.autoscaler = self.autoscaler
        self._is_started = False
        self._trials = 0
        self._seen = _run_observer() if observe else None
        if log is not None:
            self.follow_attempts(log)
        all_following = (self._seen, *following) if self._seen else following
        # Last: an observer may read everything of this simulation, and closes the
        # scheduler if it fails.
        self._at_end = begin_observers(self, all_following, self._scheduler.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._at_end.__exit__(kind, error, trace)

    @property
    def now(self) -> float:
        """The virtual time, in seconds since the beginning."""
        return self._record.since(self.cluster.clock.now())

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler; it has read the cluster once time has passed.

        Its state may be read between two calls.
        """
        return self._scheduler

    @property
    def is_trial(self) -> bool:
        """Whether a `trial` is open, so that all that happens will be undone."""
        return self._trials > 0

    def start(self) -> None:
        """Let the scheduler read the cluster, as `settle` and others do first.

        Later calls do nothing.
        """
        if not self._is_started:
            self._scheduler.start()
            self._is_started = True
            if self.autoscaler is not None:
                self.autoscaler.start()

    def settle(self, on_progress: ProgressFn | None = None) -> None:
        """Schedule until the cluster has settled, without a time limit.

        An autoscaler must have settled, too; if it has not after a week of virtual
        time, the simulation ends there, and the result has a notice.

        Args:
            on_progress: Called with the progress.

        Raises:
            VerificationError: The options ask for decisions to be verified, and one
                differs from the plain algorithm's.
        """
        self._record.on_progress = on_progress
        self.start()
        self._record.report_progress()
        if self.autoscaler is None:
            self._scheduler.settle()
        else:
            self.settle_autoscaler()
        self._record.report_progress()

    @property
    def has_settled(self) -> bool:
        """Whether the last `settle` has ended before its horizon.

        Only simulations with an autoscaler have a horizon.
        """
        return self._results.has_settled

    def settle_autoscaler(self, on_turn: Callable[[], None] = lambda: None) -> None:
        """Schedule until the autoscaler has settled, as `settle` does.

        Args:
            on_turn: Called after each turn of the scheduler.
        """
        # Few simulations have one.
        from quaymaster._studies.simulation.autoscaler_horizon import (  # noqa: PLC0415 - above
            settle_with,
        )

        assert self.autoscaler is not None, "the caller has checked that"
        now = self.cluster.clock.now
        settled = settle_with(self._scheduler, self.autoscaler, now, on_turn)
        self._results.has_settled = settled

    def run_until(self, seconds: float) -> None:
        """Schedule until a time, with all that is due by then; do nothing for the past.

        Args:
            seconds: The time, in seconds since the beginning.

        Raises:
            VerificationError: As for `settle`.
        """
        self.start()
        clock, scheduler = self.cluster.clock, self._scheduler
        end = self._record.started + seconds
        # The end may have passed already: a settled cluster is as late as its last
        # timer.
        if end < clock.now():
            return
        # Virtual time moves from timer to timer, so the end needs one of its own.
        timer = clock.call_at(end, lambda: None)
        while True:
            if scheduler.turn():
                # All that is due at one moment happens before time moves on.
                continue
            if clock.now() >= end:
                break
            scheduler.wait()
        timer.cancel()

    @contextmanager
    def trial(self, *others: object) -> Iterator[Self]:
        """Run a block, and undo all of its changes.

        Objects that were created, changed or deleted, pods that were scheduled and time
        that has passed are undone at the end, also after an exception. State, queues
        and all later decisions are the same as without the trial. Trials can be nested.

        ```python
        with simulation.trial():
            simulation.cluster.create(pod)
            simulation.settle()
            node = simulation.cluster.get(Pod, pod.key).node_name
        ```

        The beginning saves the state of all Python objects that the cluster, the
        scheduler and the plugins hold, and the end restores it; both take time and
        memory that grow with the number of nodes and pods. What a plugin keeps outside
        of them is not undone: files, servers, module variables, objects written in C.
        Hook observers are not called. A record leaves the trial out.

        Args:
            others: Other objects whose state is saved and restored, such as objects
                that cache what they have read of this simulation.

        Yields:
            This simulation.

        Raises:
            TrialError: A plugin holds a running generator, which cannot be saved.
        """
        # Knows many types; numpy's generators alone take 6 ms to import.
        from quaymaster._studies.simulation.saved_state import (  # noqa: PLC0415 - above
            SavedState,
        )

        # Before saving: otherwise the scheduler would read the cluster within the
        # trial, and again after it.
        self.start()
        with self._scheduler.hooks_unobserved():
            # All that belongs to the simulation can be reached from here, so no list of
            # its parts is needed.
            saved = SavedState([self, *others], self._packages())
            self._trials += 1
            try:
                yield self
            finally:
                saved.restore()

    def _packages(self) -> set[str]:
        """Return the packages of the framework and of the plugins in use."""
        plugins = (
            type(plugin)
            for framework in self._scheduler.frameworks.values()
            for plugin in framework.profile.plugins.values()
        )
        names = (kind.__module__.partition(".")[0] for kind in plugins)
        return {"quaymaster", *names}

    def moment(self) -> tuple[float, int, int, int]:
        """Return the time and the numbers of attempts, placed and preempted pods."""
        return self._record.moment()

    def tried_pods(self) -> Set[str]:
        """Return the uids of all pods that were tried, a view that follows the run."""
        return self._record.attempts.keys()

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
        """Continue with another configuration, as after a reload.

        Args:
            config: The configuration, complete and checked.

        Raises:
            ProfileError: A profile's plugins cannot be built; nothing has changed then.
            TrialError: A trial is open: plugins that were closed cannot be restored.
        """
        self._refuse_in_trial("use_config")
        self.start()
        changes = self._scheduler.reload(config)
        # Reloads wait in a queue of their own until the scheduler's turn; without a
        # turn, nothing would happen.
        self._scheduler.catch_up()
        # Raises what was wrong with the configuration; the reload itself has ended.
        changes.result(timeout=0)

    def close(self) -> None:
        """End the observers, and close the plugins; later calls do nothing.

        Raises:
            TrialError: A trial is open.
        """
        self._refuse_in_trial("close")
        if self.autoscaler is not None:
            self.autoscaler.close()
        self._at_end.close()

    def _refuse_in_trial(self, method: str) -> None:
        if self._trials:
            message = f"Simulation.{method}: not possible while a trial is open"
            raise TrialError(message)

    def follow_attempts(self, log: FollowsAttempts) -> None:
        """Pass each attempt from now on to a log.

        Hooks that the log calls are not reported to hook observers.

        Args:
            log: Follows attempts, each from its beginning to its end.
        """
        self._record.logs.append(log)

    def follow_groups(self, log: FollowsGroups) -> None:
        """Pass each attempt of a group from now on to a log, like `follow_attempts`.

        Without the feature gate GenericWorkload there are none.

        Args:
            log: Follows attempts of pods and of groups.
        """
        self._record.logs.append(log)
        self._record.group_logs.append(log)
        self._scheduler.follow_groups(self._record.group_decided)

    def observed(self, name: str = "") -> "ObservedRun":
        """Return the record of the run; samples and attempts need ``observe``.

        Args:
            name: The name of the run in comparisons.
        """
        if self._seen is None:
            from quaymaster._studies.simulation.run_observer import (  # noqa: PLC0415 - below
                observed_run,
            )

            return observed_run(self, name)
        return self._seen.run_so_far(self, name)

    def result(self, *, with_facts: bool = False) -> SimulationResult:
        """Return the result.

        Args:
            with_facts: Whether pods without a node have the facts behind their message.
        """
        return self._results.read(groups=self._groups(), with_facts=with_facts)

    def _groups(self) -> "tuple[ExplainedGroup, ...]":
        if not self.config.kubernetes.enabled("GenericWorkload"):
            return ()
        # Few simulations have groups, and a small one takes as long as its imports.
        from quaymaster._studies.simulation.ended_groups import (  # noqa: PLC0415 - above
            ended_groups,
        )

        return ended_groups(self)

    def notices(self) -> tuple[Notice, ...]:
        """Return what is assumed, the cluster's notices, one about foreign pods."""
        return self._results.notices()

    def unscheduled(self, pod: Pod) -> UnscheduledPod:
        """Return the entry of the result about a pod without a node."""
        return self._results.unscheduled(pod)


def _run_observer() -> "RunObserver":
    # Few runs are observed, and a small simulation takes about as long as its imports.
    from quaymaster._studies.simulation.run_observer import (  # noqa: PLC0415 - above
        RunObserver,
    )

    return RunObserver()


def _assumed(cluster: InMemoryCluster) -> tuple[Notice, ...]:
    # Few simulations have an autoscaler.
    from quaymaster._studies.simulation.assumed_controllers import (  # noqa: PLC0415 - above
        assume_controllers,
    )

    return assume_controllers(cluster)


def _autoscaler(
    factory: "AutoscalerFactory",
    cluster: InMemoryCluster,
    config: SchedulerConfig,
    registry: PluginRegistry,
    seed: int,
) -> "Autoscaler":
    # Few simulations have one.
    from quaymaster._studies.simulation.autoscaler import (  # noqa: PLC0415 - above
        AutoscalerContext,
    )

    return factory(
        AutoscalerContext(cluster=cluster, config=config, registry=registry, seed=seed)
    )
