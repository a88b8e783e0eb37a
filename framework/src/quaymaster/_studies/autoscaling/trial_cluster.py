"""The cluster as an autoscaler tries changes on it, with the filters that schedule.

A copy of the nodes and their pods follows the cluster. A trial changes it: nodes are
added or removed, pods are placed. At its end, all changes are reverted. Pods pass the
PreFilter and Filter plugins of their profile; nothing is scored or preempted. Mirrors
``ClusterSnapshot`` and ``SchedulerPluginRunner`` (cluster autoscaler,
``simulator/clustersnapshot``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final

import attrs
import numpy as np
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Feasible, FitError
from quaymaster._core.cycle.explain import judge_node
from quaymaster._core.engine.cache_feed import CacheFeed
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.arrays import Int64Array
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Fork", "TrialCluster"]

_MISSING: Final = Status.unresolvable("node not found")

# The order of nodes: first those of the cluster as they came, then those that a trial
# has added.
_FIRST_ADDED: Final = 1 << 50


class Fork:
    """A part of a trial; its changes are reverted at its end, or kept.

    Args:
        reverts: The calls that revert its changes, in the order of the changes.
        outer: Those of the part around it.
    """

    # Plain lists: with `contextlib.ExitStack`, to revert a loop of the cluster
    # autoscaler took twice as long.
    def __init__(
        self, reverts: list[Callable[[], None]], outer: list[Callable[[], None]]
    ) -> None:
        self._reverts = reverts
        self._outer = outer

    def keep(self) -> None:
        """Keep the changes until the end of the trial around this one."""
        self._outer += self._reverts
        self._reverts.clear()


class TrialCluster:
    """Nodes and pods that an autoscaler tries changes on.

    Args:
        cluster: The cluster to follow.
        config: The profiles; extenders are not called, as upstream.
        registry: Finds plugins by name.
        counts: Whether a pod takes room; expendable pods do not.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        config: SchedulerConfig,
        registry: PluginRegistry,
        *,
        counts: Callable[[Pod], bool] = lambda _pod: True,
    ) -> None:
        # cluster-autoscaler runs the plugins' PreFilter and Filter only. It calls no
        # extender, so pods that need one look as if they fitted.
        config = attrs.evolve(config, extenders=())
        self._runner = ProfileRunner(cluster, config, registry, clock=cluster.clock)
        self._snapshot = self._runner.snapshot
        self._feed = _Feed(
            self._runner,
            counts,
            before_change=self._before_change,
            note_arrival=self._note_arrival,
            note_departure=self._note_departure,
        )
        self._frameworks = self._runner.frameworks
        self._algorithms = {
            name: framework.algorithm.choosing()
            for name, framework in self._frameworks.items()
        }
        self._usual = next(iter(self._algorithms.values()))
        self._reverts: list[Callable[[], None]] = []
        # The nodes that the current part of a trial has added.
        self._added: set[str] = set()
        # The order of the nodes: by name for those of the cluster, and by row.
        self._arrivals: dict[str, int] = {}
        self._arrived = 0
        self._last_rank = _FIRST_ADDED
        self._ranks: Int64Array = np.zeros(0, dtype=np.int64)
        self._changed: set[str] = set()
        # Rotates, so that pods spread over equal nodes as upstream's do.
        self._next = 0
        self._runner.start(self._feed)

    def close(self) -> None:
        """Close the plugins."""
        self._runner.close()

    def catch_up(self) -> None:
        """Read the changes of the cluster."""
        self._runner.read_changes()

    @property
    def table(self) -> NodeTable:
        """The nodes as columns, with the logs of their changes."""
        return self._snapshot.nodes

    def nodes(self) -> Sequence[Node]:
        """Return the nodes, in the order in which they are tried."""
        rank = self._ranks
        infos = sorted(self._snapshot, key=lambda info: rank[info.row])
        return [info.node for info in infos]

    def get(self, name: str) -> NodeInfo | None:
        """Return a node with its pods, or None."""
        return self._snapshot.get(name)

    def take_changed(self) -> set[str]:
        """Return the nodes that were changed, or whose pods were, since the last call.

        Changes that were reverted count, too.
        """
        changed, self._changed = self._changed, set()
        return changed

    def fork(self) -> AbstractContextManager[Fork]:
        """Run a block, and revert its changes unless `Fork.keep` was called."""
        return self._part(set())

    @contextmanager
    def _part(self, own: set[str]) -> Iterator[Fork]:
        """Run a part of a trial; pods on its own nodes are not reverted one by one."""
        outer, added = self._reverts, self._added
        reverts = self._reverts = []
        self._added = own
        try:
            yield Fork(reverts, outer)
        finally:
            self._reverts, self._added = outer, added
            for revert in reversed(reverts):
                revert()

    def add_node(self, node: Node, pods: Iterable[Pod] = ()) -> None:
        """Add a node with pods."""
        self._changed.add(node.name)
        self._added.add(node.name)
        # The ghost of a node takes the place of that node.
        rank = self._arrivals.get(node.name)
        if rank is None:
            rank = self._last_rank = self._last_rank + 1
        self._put(node, rank)
        self._reverts.append(partial(self._drop_node, node.name))
        for pod in pods:
            self.add_pod(pod, node.name)

    def remove_node(self, name: str) -> None:
        """Remove a node with its pods."""
        info = self._snapshot.get(name)
        if info is None:
            return
        # The pods first. Changes are reverted in the opposite order, and the node must
        # be back before its pods are.
        for pod in [*info.pods.values()]:
            self.remove_pod(pod)
        self._changed.add(name)
        self._snapshot.remove_node(name)
        rank = int(self._ranks[info.row])
        self._reverts.append(partial(self._put, info.node, rank))

    def add_pod(self, pod: Pod, node_name: str) -> None:
        """Add a pod to a node, whether it fits there or not."""
        self._changed.add(node_name)
        placed = replace(pod, node_name=node_name)
        self._snapshot.add_pod(placed)
        # The other pods go with their node: waiting pods are placed on expected nodes
        # in each loop of the cluster autoscaler.
        if node_name not in self._added:
            self._reverts.append(partial(self._snapshot.remove_pod, placed))

    def remove_pod(self, pod: Pod) -> None:
        """Remove a pod from its node."""
        self._changed.add(pod.node_name)
        self._snapshot.remove_pod(pod)
        self._reverts.append(partial(self._snapshot.add_pod, pod))

    def why_not(self, pod: Pod, node_name: str) -> Status | None:
        """Return why a pod cannot be on a node, or None if it can."""
        info = self._snapshot.get(node_name)
        if info is None:
            return _MISSING
        attempt, algorithm = self._attempt(pod)
        prepared = algorithm.filters.prepare(attempt)
        is_plain = prepared.status is None and prepared.node_names is None
        if is_plain and not pod.status.nominated_node_name:
            # One node is judged without the memos: these judge all nodes that have
            # changed, which takes three times as long in trials that change many. As
            # one row of the table it took twice as long, and no pods are nominated
            # here, so that no other pods are to be imagined there.
            return algorithm.filter.run(attempt.state, attempt.pod, info)
        outcome = self._feasible(pod)
        if not isinstance(outcome, FitError):
            if info.row in self._snapshot.nodes.row_numbers(outcome.rows):
                return None
        elif outcome.diagnosis is None:
            return outcome.status
        diagnosis = outcome.diagnosis
        return diagnosis[node_name] if diagnosis is not None else _MISSING

    def facts_of(self, pod: Pod, node_name: str) -> Mapping[str, Sequence[str]]:
        """Return the facts behind the rejections of a node, by plugin.

        All plugins judge the node, without caches; `why_not` is much faster.
        """
        judged = judge_node(self._framework_of(pod).plain, _alone(pod), node_name)
        return {each.plugin: each.details for each in judged.rejections}

    def place(self, pod: Pod, node_name: str) -> Status | None:
        """Add a pod to a node if it fits there; return why not otherwise."""
        status = self.why_not(pod, node_name)
        if status is None:
            self.add_pod(pod, node_name)
        return status

    def place_anywhere(
        self, pod: Pod, is_acceptable: Callable[[str], bool]
    ) -> str | None:
        """Add a pod to the next acceptable node that it fits on.

        Args:
            pod: The pod.
            is_acceptable: Whether a node may be used, by its name.

        Returns:
            The name of the node, or None if the pod fits on none of them.
        """
        outcome = self._feasible(pod)
        if isinstance(outcome, FitError):
            return None
        nodes = self._snapshot.nodes
        all_ranks = self._ranks[nodes.row_numbers(nodes.rows)]
        rows = nodes.row_numbers(outcome.rows)
        ranks = self._ranks[rows]
        # Begin after the last node that got a pod.
        begin = self._next % len(all_ranks)
        least = np.partition(all_ranks, begin)[begin]
        for index in np.lexsort((ranks, ranks < least)).tolist():
            info = nodes.infos[rows[index]]
            assert info is not None, "feasible rows hold nodes"
            if not info.node.spec.unschedulable and is_acceptable(info.name):
                before = int(np.count_nonzero(all_ranks < ranks[index]))
                self._next = (before + 1) % len(all_ranks)
                name: str = info.name
                self.add_pod(pod, name)
                return name
        return None

    def _put(self, node: Node, rank: int) -> None:
        """Add a node at a place in the order of all nodes."""
        self._snapshot.add_node(node)
        self._rank(node.name, rank)

    def _rank(self, name: str, rank: int) -> None:
        row = self.table.row_of(name)
        assert row is not None, "the caller has added it"
        if row >= len(self._ranks):
            more = self.table.capacity - len(self._ranks)
            self._ranks = np.pad(self._ranks, (0, more))
        self._ranks[row] = rank

    def _before_change(self, name: str) -> None:
        """Do what is needed before a node of the cluster, or its pods, change."""

    def _note_arrival(self, name: str) -> None:
        """Note that the cluster has a node, which may be new."""
        if name not in self._arrivals:
            self._arrived += 1
            self._arrivals[name] = self._arrived
            self._rank(name, self._arrived)

    def _note_departure(self, name: str) -> None:
        """Note that the cluster has lost a node."""
        self._arrivals.pop(name, None)

    def _drop_node(self, name: str) -> None:
        """Remove a node that the trial has added, with the pods that it still has."""
        info = self._snapshot.get(name)
        assert info is not None, "later changes are reverted before"
        # The node first: the sums of a node that goes need not be counted down.
        self._snapshot.remove_node(name)
        for pod in info.pods.values():
            self._snapshot.remove_pod(pod)

    def _feasible(self, pod: Pod) -> Feasible | FitError:
        attempt, algorithm = self._attempt(pod)
        return algorithm.find_feasible(attempt)

    def _attempt(self, pod: Pod) -> tuple[Attempt, Algorithm]:
        algorithm = self._algorithms.get(pod.spec.scheduler_name, self._usual)
        return Attempt.begin(CycleState(), _alone(pod), algorithm.nodes), algorithm

    def _framework_of(self, pod: Pod) -> Framework:
        frameworks: Mapping[str, Framework] = self._frameworks
        framework = frameworks.get(pod.spec.scheduler_name)
        return framework or next(iter(frameworks.values()))


def _alone(pod: Pod) -> Pod:
    """Return a pod without its node and its group.

    Upstream's filters have the gates of groups off: each pod is tried by itself.
    """
    if pod.group_key:
        pod = replace(pod, spec=replace(pod.spec, scheduling_group=None))
    return replace(pod, node_name="") if pod.node_name else pod


class _Feed(CacheFeed):
    """A nominated pod has its place, as upstream (``static_autoscaler.go``)."""

    def __init__(
        self,
        runner: ProfileRunner,
        counts: Callable[[Pod], bool],
        *,
        before_change: Callable[[str], None],
        note_arrival: Callable[[str], None],
        note_departure: Callable[[str], None],
    ) -> None:
        super().__init__(runner.cache)
        self._counts = counts
        self._before_change = before_change
        self._note_arrival = note_arrival
        self._note_departure = note_departure

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """See `ChangeHandler.changed`."""
        # Most changes are those of the messages of waiting pods.
        if _has_no_place(old) and _has_no_place(new):
            return
        for obj in (old, new):
            if isinstance(obj, Pod):
                self._before_change(_place_of(obj))
            elif isinstance(obj, Node):
                self._before_change(obj.name)
        super().changed(kind, old, new, missed=missed)
        if isinstance(new, Node):
            self._note_arrival(new.name)
        elif isinstance(old, Node):
            self._note_departure(old.name)

    def put(self, pod: Pod) -> None:
        node_name = _place_of(pod)
        if pod.is_finished or not node_name or not self._counts(pod):
            self.cache.remove_pod(pod)
        else:
            self.cache.add_pod(replace(pod, node_name=node_name))

    def remove(self, pod: Pod) -> None:
        self.cache.remove_pod(pod)


def _place_of(pod: Pod) -> str:
    """Return the node that a pod has, or that is kept for it; or an empty string."""
    return pod.node_name or pod.status.nominated_node_name


def _has_no_place(obj: ApiObject | None) -> bool:
    return isinstance(obj, Pod) and not _place_of(obj)
