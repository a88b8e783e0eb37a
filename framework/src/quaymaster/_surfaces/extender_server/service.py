"""Runs a profile's plugins for the nodes of another scheduler's requests."""

import enum
import functools
import logging
from collections.abc import Iterable, Mapping, Sequence, Set
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
from quaymaster._core.extenders.wire import FilterAnswer
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.node_table import NodeTable
from quaymaster._surfaces.extender_server.cache_feed import ExtenderFeed
from quaymaster._surfaces.extender_server.messages import NodesRequest
from quaymaster._surfaces.extender_server.requested_nodes import RequestedNodes
from quaymaster._surfaces.extender_server.stored_nodes import StoredNodes

__all__ = ["ExtenderService", "ServiceError", "UnknownNodes"]

_TENTH = 10  # extenders score from 0 to 10, plugins from 0 to 100
_MOST_REPORTED: Final = 10_000  # names of unknown nodes; further ones are not logged
_LONGEST_NAME: Final = 253  # characters that a name of Kubernetes has at most
_UNKNOWN: Final = Status.unresolvable("node(s) unknown to the extender")

_log = logging.getLogger(__name__)


class UnknownNodes(enum.Enum):
    """The verdict for nodes that a request names but the extender does not have."""

    REJECT = "reject"
    PASS = "pass"

    @property
    def participle(self) -> str:
        """The member as a participle, for messages."""
        return "rejected" if self is UnknownNodes.REJECT else "passed"


class ServiceError(QuaymasterError):
    """A request that cannot be answered."""


class ExtenderService:
    """Runs the Filter and Score plugins of a configuration's profiles.

    Nodes of requests are stored, so that plugins which compare nodes see all of them.
    All other objects of the cluster come from ``objects``.

    Args:
        config: The profiles; the extenders of the configuration are not called.
        registry: The plugins by name.
        objects: Nodes, pods that run on them, and other objects that plugins read.
        clock: The clock of plugins and timers; by default the machine's.
        unknown_nodes: The verdict for nodes that the extender does not have.

    Attributes:
        config: The configuration in force.

    Raises:
        ProfileError: A profile's plugins cannot be built.
        AdmissionError: Some objects are invalid.
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
        # Nothing here may change the objects, which are those of another cluster.
        cluster = InMemoryCluster(
            clock, kubelet=False, controllers=False, kubernetes=config.kubernetes
        )
        objects = tuple(objects)
        cluster.load(objects)
        self.config = config
        self._runner = ProfileRunner(
            cluster,
            _served(config),
            registry,
            clock=clock,
            make_executor=BackgroundExecutor,
        )
        self._runner.start(ExtenderFeed(self._runner))
        self._unknown_nodes = unknown_nodes
        self._reported: set[str] = set()
        own = {each.metadata.name for each in objects if isinstance(each, Node)}
        self._stored = StoredNodes(self._runner.snapshot, own)
        self._latest: RequestedNodes | None = None

    def catch_up(self) -> None:
        """Run timers and reloads that are due; called on the service's thread."""
        self._runner.catch_up()

    def wait(self) -> None:
        """Wait until a timer or a reload is due; `wake` ends it."""
        self._runner.wait()

    def wake(self) -> None:
        """Make `wait` return; any thread may call this method."""
        self._runner.inbox.notify()

    def close(self) -> None:
        """Close the plugins, without waiting for their background work.

        Called on the service's thread, after the last request.
        """
        self._runner.close()

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Use another configuration from the next `catch_up` on.

        Any thread may call it. If a part of the configuration cannot be built, the
        future has the error, and the old configuration stays in force.
        """
        return self._runner.inbox.ask(lambda: self._reload(config))

    def filter(self, request: NodesRequest) -> FilterAnswer:
        """Run PreFilter and Filter on the nodes of a request.

        Raises:
            ServiceError: A plugin failed, or the pod's profile is unknown.
        """
        framework = self._framework(request.pod)
        requested = self._requested(request)
        rejected = self._rejected(framework.plain, request.pod, requested)
        if requested.strangers and self._unknown_nodes is UnknownNodes.REJECT:
            strangers = dict.fromkeys(sorted(requested.strangers), _UNKNOWN)
            rejected = {**rejected, **strangers}
        return _answer(request.names, rejected)

    def _rejected(
        self, algorithm: Algorithm, pod: Pod, requested: RequestedNodes
    ) -> Mapping[str, Status]:
        """Return the rejected nodes with their statuses."""
        nodes = self._nodes()
        attempt = Attempt.begin(CycleState(), pod, nodes)
        passed = algorithm.judge(attempt, requested.rows)
        if isinstance(passed, Status):
            if not passed.is_rejected:
                raise ServiceError(passed.message)
            return dict.fromkeys(requested.names, passed)
        if nodes.count(passed) == nodes.count(requested.rows):
            return {}
        fits = requested.are_among(passed)
        unfit = [
            name for name, fit in zip(requested.names, fits, strict=True) if not fit
        ]
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
        requested = self._requested(request)
        scores = self._scores(framework.plain, request.pod, requested)
        if not requested.strangers:
            return scores
        score_of = {**dict(scores), **dict.fromkeys(requested.strangers, 0)}
        return [(name, score_of[name]) for name in request.names]

    def _scores(
        self, algorithm: Algorithm, pod: Pod, requested: RequestedNodes
    ) -> Sequence[tuple[str, int]]:
        attempt = Attempt.begin(CycleState(), pod, self._nodes())
        # Score plugins may read what PreFilter has stored in the state.
        outcome = algorithm.pre_filter.run(attempt)
        if outcome.status is not None:
            raise ServiceError(outcome.status.message)
        scores = algorithm.score.run(attempt, requested.rows)
        if isinstance(scores, Status):
            raise ServiceError(scores.message)
        return list(zip(requested.names, _tenths(scores, requested), strict=True))

    def _reload(self, config: SchedulerConfig) -> ConfigChanges:
        changes = self._runner.reload(_served(config))
        self.config = config
        return changes

    def _nodes(self) -> NodeTable:
        return self._runner.snapshot.nodes

    def _framework(self, pod: Pod) -> Framework:
        """Return the profile of the pod's scheduler name, or the only one."""
        frameworks = self._runner.frameworks
        name = pod.spec.scheduler_name
        if name in frameworks:
            return frameworks[name]
        if len(frameworks) == 1:
            return next(iter(frameworks.values()))
        profiles = ", ".join(frameworks)
        raise ServiceError(
            f"there is no profile for scheduler {name!r} (only {profiles})"
        )

    def _requested(self, request: NodesRequest) -> RequestedNodes:
        """Store the nodes of a request, and look up all of its names."""
        latest = self._latest
        if latest is not None and latest.stand_for(request.names, self._nodes()):
            return latest
        self._stored.store(request)
        requested = self._latest = RequestedNodes.locate(request.names, self._nodes())
        if requested.strangers:
            self._report(requested.strangers)
        return requested

    def _report(self, strangers: Set[str]) -> None:
        """Log unknown nodes once, as long as there are not too many."""
        room = _MOST_REPORTED - len(self._reported)
        # Clients choose these names, and each is kept.
        names = sorted(name[:_LONGEST_NAME] for name in strangers)
        new = [name for name in names if name not in self._reported][:room]
        if new:
            self._reported.update(new)
            listed = ", ".join(new[:3]) + (", ..." if new[3:] else "")
            _log.warning("unknown nodes %s: %s", self._unknown_nodes.participle, listed)


def _served(config: SchedulerConfig) -> SchedulerConfig:
    """Return the configuration without extenders, which must not call each other."""
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


def _tenths(scores: Sequence[PluginScores], requested: RequestedNodes) -> Sequence[int]:
    weights = sum(score.weight for score in scores)
    if not weights:
        return [0] * len(requested.names)
    total = functools.reduce(np.add, (score.weighted for score in scores))
    # Rounded, as half of a tenth is added before the division.
    return requested.by_name((total + weights * _TENTH // 2) // (weights * _TENTH))
