"""What a profile's plugins say of nodes that another scheduler asks about."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future

import attrs
import numpy as np

from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.score_call import PluginScores
from quaymaster._engine.framework import Framework
from quaymaster._engine.scheduler import Scheduler
from quaymaster._extender_server.messages import NodesRequest
from quaymaster._extenders.wire import FilterAnswer
from quaymaster.arrays import RowArray
from quaymaster.clock import Clock, RealClock
from quaymaster.config import ConfigChanges, SchedulerConfig
from quaymaster.cycle_state import CycleState
from quaymaster.errors import QuaymasterError
from quaymaster.memory import MemoryCluster
from quaymaster.node_table import NodeTable
from quaymaster.objects import ApiObject, Pod
from quaymaster.registry import PluginRegistry
from quaymaster.status import Code, Status

__all__ = ["ExtenderService", "ServiceError"]

_TENTH = 10


class ServiceError(QuaymasterError):
    """A question that cannot be answered."""


class ExtenderService:
    """Answers with the Filter and Score plugins of a configuration's profiles.

    Nodes that come with a question are remembered, so that plugins which compare nodes
    see all of them; what else there is in the cluster is known from ``objects`` only.

    Args:
        config: The profiles; its own extenders are not asked.
        registry: Where plugins are found by name.
        objects: Nodes, pods that run on them, and whatever else plugins look at.
        clock: The time of plugins and timers; by default the machine's.

    Attributes:
        config: The configuration in force.

    Raises:
        ProfileError: A profile's plugins cannot be built.
        AdmissionError: Some objects break rules.
    """

    def __init__(
        self,
        config: SchedulerConfig,
        registry: PluginRegistry,
        objects: Iterable[ApiObject] = (),
        *,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or RealClock()
        cluster = MemoryCluster(clock, kubelet=False, controllers=False)
        cluster.load(objects)
        self.config = config
        # Never run: it keeps the plugins, and the snapshot that they look at.
        self._scheduler = Scheduler(cluster, _served(config), registry, clock=clock)
        self._scheduler.start()

    def catch_up(self) -> None:
        """Let timers ring and reloads happen; on the thread that asks questions."""
        self._scheduler.catch_up()

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Answer by another configuration from the next `catch_up` on.

        May be called from any thread. If anything of it cannot be built, the answer is
        the error, and all stays as it was.
        """
        answer = self._scheduler.reload(_served(config))
        answer.add_done_callback(lambda done: self._reloaded(config, done))
        return answer

    def filter(self, request: NodesRequest) -> FilterAnswer:
        """Run PreFilter and Filter on the nodes in question.

        Raises:
            ServiceError: A plugin failed, or nobody knows the pod's profile or a node.
        """
        pod, framework = request.pod, self._framework(request.pod)
        nodes, rows = self._nodes(), self._rows(request)
        algorithm, state = framework.algorithm, CycleState()
        outcome = algorithm.pre_filter.run(state, pod, nodes)
        if outcome.status is not None:
            _raise_error(outcome.status)
            rejection = outcome.status
            return _answer(request.names, dict.fromkeys(request.names, rejection))
        diagnosis = Diagnosis(nodes)
        if outcome.node_names is not None:
            rows = np.intersect1d(rows, nodes.rows_of(outcome.node_names))
            listed = " ".join(sorted(outcome.restricting_plugins))
            diagnosis.absent = Status.unresolvable(
                f"node(s) didn't satisfy plugin(s) [{listed}]"
            )
        passed = algorithm.filter.run_batch(state, pod, nodes, rows, diagnosis)
        if isinstance(passed, Status):
            raise ServiceError(passed.message)
        fitting = set(nodes.names_at(passed))
        rejected = {
            name: diagnosis[name] for name in request.names if name not in fitting
        }
        return _answer(request.names, rejected)

    def prioritize(self, request: NodesRequest) -> Sequence[tuple[str, int]]:
        """Run PreScore and Score on the nodes in question.

        Returns:
            Node name -> the mean of the plugins' scores by their weights, rounded to
            tenths of the largest possible one: 0 to 10.

        Raises:
            ServiceError: A plugin failed, or nobody knows the pod's profile or a node.
        """
        pod, framework = request.pod, self._framework(request.pod)
        nodes, rows = self._nodes(), self._rows(request)
        algorithm, state = framework.algorithm, CycleState()
        outcome = algorithm.pre_filter.run(state, pod, nodes)
        if outcome.status is not None:
            raise ServiceError(outcome.status.message)
        status = algorithm.score.prepare(state, pod, nodes, rows)
        if status is not None:
            raise ServiceError(status.message)
        scores = algorithm.score.by_plugin(state, pod, nodes, rows)
        if isinstance(scores, Status):
            raise ServiceError(scores.message)
        found = _tenths(scores, nodes.names_at(rows))
        return [(name, found[name]) for name in request.names]

    def _reloaded(self, config: SchedulerConfig, done: Future[ConfigChanges]) -> None:
        if done.exception() is None:
            self.config = config

    def _nodes(self) -> NodeTable:
        return self._scheduler.snapshot.nodes

    def _framework(self, pod: Pod) -> Framework:
        """The profile that the pod asks for; if there is only one, that one."""
        frameworks = self._scheduler.frameworks
        name = pod.spec.scheduler_name
        if name in frameworks:
            return frameworks[name]
        if len(frameworks) == 1:
            return next(iter(frameworks.values()))
        known = ", ".join(frameworks)
        raise ServiceError(f"there is no profile for scheduler {name!r} (only {known})")

    def _rows(self, request: NodesRequest) -> RowArray:
        snapshot = self._scheduler.snapshot
        for node in request.nodes or ():
            known = snapshot.get(node.metadata.name)
            if known is None or known.node != node:
                snapshot.add_node(node)
        strangers = [name for name in request.names if snapshot.get(name) is None]
        if strangers:
            listed = ", ".join(strangers[:3]) + (", ..." if strangers[3:] else "")
            raise ServiceError(
                f"unknown nodes: {listed}; start the extender with manifests of the "
                "nodes, or unset nodeCacheCapable so that they are sent in full"
            )
        return np.sort(snapshot.nodes.rows_of(frozenset(request.names)))


def _served(config: SchedulerConfig) -> SchedulerConfig:
    """The configuration without extenders, which must not ask each other in turn."""
    return attrs.evolve(config, extenders=())


def _answer(names: Sequence[str], rejected: Mapping[str, Status]) -> FilterAnswer:
    final = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return FilterAnswer(
        passed=[name for name in names if name not in rejected],
        failed={
            name: status.message
            for name, status in rejected.items()
            if status.code is not final
        },
        unresolvable={
            name: status.message
            for name, status in rejected.items()
            if status.code is final
        },
    )


def _raise_error(status: Status) -> None:
    if not status.is_rejected:
        raise ServiceError(status.message)


def _tenths(scores: Sequence[PluginScores], names: Sequence[str]) -> dict[str, int]:
    weights = sum(one.weight for one in scores)
    if not weights:
        return dict.fromkeys(names, 0)
    total = sum((one.weighted for one in scores), np.zeros(len(names), dtype=np.int64))
    tenths = (total + weights * _TENTH // 2) // (weights * _TENTH)
    return dict(zip(names, tenths.tolist(), strict=True))
