"""Answers with a profile's plugins for nodes that another scheduler asks about."""

import enum
import functools
import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.binding.background import BackgroundExecutor
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import Clock, RealClock
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.score_call import PluginScores
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.extenders.node_texts import KnownNode
from quaymaster._core.extenders.wire import FilterAnswer
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.node_table import NodeTable
from quaymaster._surfaces.extender_server.asked_nodes import AskedNodes
from quaymaster._surfaces.extender_server.cache_feed import CacheFeed
from quaymaster._surfaces.extender_server.messages import NodesRequest

__all__ = ["ExtenderService", "ServiceError", "UnknownNodes"]

_TENTH = 10  # extenders score from 0 to 10, plugins from 0 to 100
_UNKNOWN: Final = Status.unresolvable("node(s) unknown to the extender")

_log = logging.getLogger(__name__)


class UnknownNodes(enum.Enum):
    """What to answer for nodes that are named, but not known."""

    REJECT = "reject"
    PASS = "pass"

    @property
    def told(self) -> str:
        """The member as a participle, for messages."""
        return "rejected" if self is UnknownNodes.REJECT else "passed"


class ServiceError(QuaymasterError):
    """A question that cannot be answered."""


class ExtenderService:
    """Answers with the Filter and Score plugins of a configuration's profiles.

    Nodes that come with a question are remembered, so that plugins which compare nodes
    see all of them. All else in the cluster is known from ``objects`` only.

    Args:
        config: The profiles; its own extenders are not asked.
        registry: Where plugins are found by name.
        objects: Nodes, pods that run on them, and other objects that plugins read.
        clock: The time of plugins and timers; by default the machine's.
        unknown_nodes: What to answer for nodes that are named, but not known.

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
        unknown_nodes: UnknownNodes = UnknownNodes.REJECT,
    ) -> None:
        clock = clock or RealClock()
        cluster = InMemoryCluster(
            clock, kubelet=False, controllers=False, kubernetes=config.kubernetes
        )
        cluster.load(objects)
        self.config = config
        self._runner = ProfileRunner(
            cluster,
            _served(config),
            registry,
            clock=clock,
            make_executor=BackgroundExecutor,
        )
        self._runner.start(CacheFeed(self._runner))
        self._unknown_nodes = unknown_nodes
        self._told: set[str] = set()
        self._described: dict[str, Node] = {}
        self._latest: AskedNodes | None = None

    def catch_up(self) -> None:
        """Run timers and reloads that are due; on the thread that asks questions."""
        self._runner.catch_up()

    def wait(self) -> None:
        """Wait until there is something to catch up with; `wake` ends it."""
        self._runner.wait()

    def wake(self) -> None:
        """End `wait`; from any thread."""
        self._runner.inbox.notify()

    def close(self) -> None:
        """End the plugins, and leave their background work to itself.

        On the thread that asks questions, after the last one.
        """
        self._runner.close()

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Answer by another configuration from the next `catch_up` on.

        It may be called from any thread. If any part of it cannot be built, the future
        has the error, and everything stays as it was.
        """
        return self._runner.inbox.ask(lambda: self._reload(config))

    def filter(self, request: NodesRequest) -> FilterAnswer:
        """Run PreFilter and Filter on the nodes of a request.

        Raises:
            ServiceError: A plugin failed, or the pod's profile is unknown.
        """
        framework = self._framework(request.pod)
        asked = self._asked(request)
        rejected = self._rejected(framework.plain, request.pod, asked)
        if asked.strangers and self._unknown_nodes is UnknownNodes.REJECT:
            strangers = dict.fromkeys(sorted(asked.strangers), _UNKNOWN)
            rejected = {**rejected, **strangers}
        return _answer(request.names, rejected)

    def _rejected(
        self, algorithm: Algorithm, pod: Pod, asked: AskedNodes
    ) -> Mapping[str, Status]:
        """Return which of the known nodes are rejected, and why."""
        nodes = self._nodes()
        attempt = Attempt.begin(CycleState(), pod, nodes)
        passed = algorithm.judge(attempt, asked.rows)
        if isinstance(passed, Status):
            if not passed.is_rejected:
                raise ServiceError(passed.message)
            return dict.fromkeys(asked.names, passed)
        if nodes.count(passed) == nodes.count(asked.rows):
            return {}
        fits = asked.are_among(passed)
        unfit = [name for name, fit in zip(asked.names, fits, strict=True) if not fit]
        return {name: attempt.diagnosis[name] for name in unfit}

    def prioritize(self, request: NodesRequest) -> Sequence[tuple[str, int]]:
        """Run PreScore and Score on the nodes of a request.

        Returns:
            Node name -> the mean of the plugins' scores by their weights, rounded to
            tenths of the largest possible one: 0 to 10. An unknown node has 0.

        Raises:
            ServiceError: A plugin failed, or the pod's profile is unknown.
        """
        framework = self._framework(request.pod)
        asked = self._asked(request)
        scores = self._scores(framework.plain, request.pod, asked)
        if not asked.strangers:
            return scores
        found = {**dict(scores), **dict.fromkeys(asked.strangers, 0)}
        return [(name, found[name]) for name in request.names]

    def _scores(
        self, algorithm: Algorithm, pod: Pod, asked: AskedNodes
    ) -> Sequence[tuple[str, int]]:
        attempt = Attempt.begin(CycleState(), pod, self._nodes())
        outcome = algorithm.pre_filter.run(attempt)
        if outcome.status is not None:
            raise ServiceError(outcome.status.message)
        scores = algorithm.score.run(attempt, asked.rows)
        if isinstance(scores, Status):
            raise ServiceError(scores.message)
        return list(zip(asked.names, _tenths(scores, asked), strict=True))

    def _reload(self, config: SchedulerConfig) -> ConfigChanges:
        changes = self._runner.reload(_served(config))
        self.config = config
        return changes

    def _nodes(self) -> NodeTable:
        return self._runner.snapshot.nodes

    def _framework(self, pod: Pod) -> Framework:
        """Return the profile that the pod asks for, or the only one."""
        frameworks = self._runner.frameworks
        name = pod.spec.scheduler_name
        if name in frameworks:
            return frameworks[name]
        if len(frameworks) == 1:
            return next(iter(frameworks.values()))
        known = ", ".join(frameworks)
        raise ServiceError(f"there is no profile for scheduler {name!r} (only {known})")

    def _asked(self, request: NodesRequest) -> AskedNodes:
        """Take over the nodes that came in full, and look up all that were named."""
        latest = self._latest
        if latest is not None and latest.stand_for(request.names, self._nodes()):
            return latest
        self._learn(() if request.nodes is None else request.nodes.nodes)
        asked = self._latest = AskedNodes.locate(request.names, self._nodes())
        news = sorted(asked.strangers - self._told)
        if news:
            self._told.update(news)
            listed = ", ".join(news[:3]) + (", ..." if news[3:] else "")
            _log.warning("unknown nodes %s: %s", self._unknown_nodes.told, listed)
        return asked

    def _learn(self, nodes: Iterable[KnownNode]) -> None:
        described = self._described
        # Identity: a node with the same content as last time is the same object.
        for one in [one for one in nodes if described.get(one.name) is not one.node]:
            self._runner.snapshot.add_node(one.node)
            described[one.name] = one.node


def _served(config: SchedulerConfig) -> SchedulerConfig:
    """Return the configuration without extenders: extenders must not ask each other."""
    return attrs.evolve(config, extenders=())


def _answer(names: Sequence[str], rejected: Mapping[str, Status]) -> FilterAnswer:
    if not rejected:
        return FilterAnswer(passed=names)
    final = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return FilterAnswer(
        passed=[name for name in names if name not in rejected],
        failed={
            name: status.message
            for name, status in rejected.items()
            if status.code != final
        },
        unresolvable={
            name: status.message
            for name, status in rejected.items()
            if status.code == final
        },
    )


def _tenths(scores: Sequence[PluginScores], asked: AskedNodes) -> Sequence[int]:
    weights = sum(one.weight for one in scores)
    if not weights:
        return [0] * len(asked.names)
    total = functools.reduce(np.add, (one.weighted for one in scores))
    return asked.by_name((total + weights * _TENTH // 2) // (weights * _TENTH))
