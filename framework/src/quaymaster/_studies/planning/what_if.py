"""Answers what-if questions: a cluster settles, and is changed step by step."""

from collections.abc import Iterable, Sequence

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._clusters.inmemory.controllers.availability import ready_since
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.measuring import measure_room
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.changes.change import ClusterChange, Effect
from quaymaster._studies.changes.pods import is_of_daemon_set, is_of_node
from quaymaster._studies.planning.failed_jobs import FailedJobs
from quaymaster._studies.planning.group_effects import group_effects
from quaymaster._studies.planning.moves import Places, moves_between, places_of
from quaymaster._studies.planning.what_if_results import (
    ClusterState,
    WhatIfResult,
    WhatIfStep,
)
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory
from quaymaster._studies.simulation.history import History
from quaymaster._studies.simulation.observed_states import ObservedStates
from quaymaster._studies.simulation.owners import workload_of
from quaymaster._studies.simulation.results import ProgressFn, UnscheduledPod
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.simulation.step_placements import (
    DEFAULT_TOPOLOGY_KEYS,
    PlacementTracker,
)
from quaymaster._studies.simulation.stuck_rollouts import RolloutTracker

__all__ = ["what_if"]


def what_if(
    objects: Iterable[ApiObject],
    changes: Iterable[ClusterChange],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    prices: Prices | None = None,
    on_progress: ProgressFn | None = None,
    options: SchedulerOptions | None = None,
    max_pods: int = MAX_PODS,
    observe: bool = False,
    topology_keys: Sequence[str] = DEFAULT_TOPOLOGY_KEYS,
    times: PodTimes = DEFAULT_POD_TIMES,
    facts: bool = False,
    autoscaler: AutoscalerFactory | None = None,
) -> WhatIfResult:
    """Simulate a cluster, change it, and report the effect of each change.

    The objects are simulated as by `quaymaster.simulation.simulate` until the cluster
    has settled. Then each change is made, and simulated to its end, before the next
    one.

    Args:
        objects: Nodes, pods, workloads and all else, as in manifests.
        changes: The changes, in order.
        config: The scheduler's configuration at the beginning; by default the default
            profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes, and generated names.
        prices: Prices of nodes without an annotation.
        on_progress: Called with the progress.
        options: Other settings of the scheduler.
        max_pods: How many pods the workloads may ask for in all.
        observe: Whether the answer includes observed runs, for a report.
        topology_keys: The node labels over whose values the pods of each workload are
            counted before and after each change.
        times: How long pods need to start and to end.
        facts: Whether pending pods have the facts behind their message, from the state
            at the end of each step.
        autoscaler: Makes what adds and removes nodes; by default nothing does.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ChangeError: A change cannot be made, for example because its object does not
            exist.
        ApiError: The cluster rejects a change.
        ProfileError: A profile's plugins cannot be built.
    """
    with Simulation(
        objects,
        config=config,
        registry=registry,
        seed=seed,
        options=options,
        observe=observe,
        max_pods=max_pods,
        times=times,
        autoscaler=autoscaler,
    ) as simulation:
        history = History(simulation.cluster)
        question = _Question(
            simulation, history, prices or Prices(), topology_keys, on_progress, facts
        )
        seen = ObservedStates(simulation if observe else None)
        answer = question.answer(changes, seen)
        return attrs.evolve(answer, observed=seen.runs)


class _Question:
    """A running what-if simulation.

    Args:
        simulation: The cluster and its scheduler.
        history: The history of its pods and nodes.
        prices: The prices of nodes.
        topology_keys: The node labels whose values are topology domains.
        on_progress: Called with the progress.
        facts: Whether to find the facts behind the messages of pending pods.
    """

    def __init__(
        self,
        simulation: Simulation,
        history: History,
        prices: Prices,
        topology_keys: Sequence[str],
        on_progress: ProgressFn | None,
        facts: bool,
    ) -> None:
        self._simulation = simulation
        self._facts = facts
        self._placements = PlacementTracker(history, topology_keys)
        self._rollouts = RolloutTracker(simulation, history)
        self._failed_jobs = FailedJobs(simulation.cluster)
        self._prices = prices
        self._on_progress = on_progress

    def answer(
        self, changes: Iterable[ClusterChange], seen: ObservedStates
    ) -> WhatIfResult:
        """Make the changes, one after the other."""
        simulation = self._simulation
        simulation.settle(self._on_progress)
        seen.look("before")
        before, first = self._state(), self._places()
        # Taken and dropped: the first settling is not an effect of any change.
        self._placements.take()
        self._rollouts.take(is_settled=True)
        self._failed_jobs.take()
        steps: list[WhatIfStep] = []
        places = first
        for change in changes:
            step = self._step(change, steps[-1].after if steps else before, places)
            steps.append(step)
            seen.look(step.change)
            places = self._places()
        seen.rename_last("after")
        return WhatIfResult(
            before=before,
            steps=tuple(steps),
            moved=moves_between(first, places),
            notices=simulation.notices(),
        )

    def _step(
        self, change: ClusterChange, before: ClusterState, places: Places
    ) -> WhatIfStep:
        simulation = self._simulation
        preempted = len(simulation.result().preempted)
        effect = change.apply(simulation)
        simulation.settle(self._on_progress)
        after = self._state()
        # Pods that were pending before count only if their reason has changed.
        reasons = {pod.pod: (pod.reason, pod.message) for pod in before.pending}
        pending = tuple(pod for pod in after.pending if pod.pod not in reasons)
        still_pending = tuple(
            pod
            for pod in after.pending
            if reasons.get(pod.pod, (pod.reason, pod.message))
            != (pod.reason, pod.message)
        )
        placements = self._placements.take()
        return WhatIfStep(
            change=effect.change,
            at=effect.at,
            ended=_end_of(effect, simulation),
            objects=tuple(effect.objects),
            evicted=tuple(effect.evicted),
            refused=tuple(effect.refused.values()),
            stayed=effect.stayed | self._stuck(effect),
            lost=tuple(effect.lost),
            timed_out=tuple(effect.timed_out),
            unmanaged=tuple(effect.unmanaged),
            preempted=simulation.result().preempted[preempted:],
            moved=moves_between(places, self._places()),
            placed=placements.placed,
            spread=placements.spread,
            pending=pending,
            still_pending=still_pending,
            workloads=self._workloads((*pending, *still_pending)),
            stuck_rollouts=self._rollouts.take(is_settled=True),
            notes=(*effect.notes, *self._failed_jobs.take()),
            groups=group_effects(before.groups, after.groups, _touched(effect)),
            after=after,
        )

    def _stuck(self, effect: Effect) -> dict[str, str]:
        """Return the deleted pods whose end is not confirmed -> why."""
        cluster = self._simulation.cluster
        silent = cluster.silent_nodes
        there = {pod.key: pod.node_name for pod in cluster.list(Pod).items}
        return {
            eviction.pod: "Terminating until its node answers or is deleted"
            for eviction in effect.timed_out
            if eviction.node in silent and there.get(eviction.pod) == eviction.node
        }

    def _workloads(self, pods: Iterable[UnscheduledPod]) -> dict[str, str]:
        """Return the key of each pod -> its workload."""
        cluster = self._simulation.cluster
        keys = {pod.pod for pod in pods}
        return {
            pod.key: workload_of(pod, cluster)
            for pod in (cluster.list(Pod).items if keys else ())
            if pod.key in keys
        }

    def _places(self) -> Places:
        return places_of(self._simulation.cluster)

    def _state(self) -> ClusterState:
        simulation = self._simulation
        cluster = simulation.cluster
        nodes = {node.name for node in cluster.list(Node).items}
        # A silent node is lost, although it is still in the list.
        nodes -= cluster.silent_nodes
        placed = [
            pod
            for pod in cluster.list(Pod).items
            if pod.node_name in nodes and not pod.is_finished
        ]
        used = {
            pod.node_name
            for pod in placed
            if not is_of_daemon_set(pod) and not is_of_node(pod)
        }
        room = measure_room(simulation, prices=self._prices, each_node=False)
        result = simulation.result(with_facts=self._facts)
        return ClusterState(
            at=simulation.now,
            placed=len(placed),
            pending=result.unscheduled,
            nodes=len(nodes),
            nodes_used=len(used),
            room=room.total,
            groups=result.groups,
        )


def _touched(effect: Effect) -> frozenset[str]:
    """Return the keys of the pods that lost their node by a change."""
    evicted = (eviction.pod for eviction in (*effect.evicted, *effect.timed_out))
    return frozenset([*evicted, *effect.lost, *effect.unmanaged])


def _end_of(effect: Effect, simulation: Simulation) -> float:
    """Return when a change was done and the last new pod was ready."""
    clock_now, now = simulation.cluster.clock.now(), simulation.now
    ready = (
        now - clock_now + since
        for pod in simulation.cluster.list(Pod).items
        if (since := ready_since(pod)) is not None and since <= clock_now
    )
    ended = now if effect.ended is None else effect.ended
    return max(ended, max(ready, default=ended))
