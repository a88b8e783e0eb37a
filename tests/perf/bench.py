"""Measures how long decisions take, without an API and without a queue."""

import gc
import statistics
import time
from collections.abc import Callable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster import CycleState, NodeTable, Pod, Snapshot
from quaymaster.config import EnabledPlugin, default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod
from tests.kit.cycles import make_nominator, make_services
from tests.kit.internals.cycle import Algorithm, Decision, NodeOrder, Ties
from tests.kit.internals.engine import FrameworkBuilder
from tests.kit.internals.memo import Signatures, remember

__all__ = ["Bench", "median_seconds"]

_ROUNDS: Final = 5


def median_seconds(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """Return the CPU seconds of some work: the median of some rounds."""
    took = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            begun = time.process_time()
            work()
            took.append(time.process_time() - begun)
    finally:
        gc.enable()
    return statistics.median(took)


class Bench:
    """The default profile on a cluster of many nodes.

    Args:
        nodes: The number of nodes.
        *plugins: Further plugins, which filter or score, after the others.
        remembers: Whether decisions may use cached results.
        twins: Whether batch twins are called.

    Attributes:
        snapshot: The cluster.
        profile: The plugins.
        pods: The number of pods.
    """

    def __init__(
        self,
        nodes: int,
        *plugins: type,
        remembers: bool = True,
        twins: bool = True,
    ) -> None:
        self.snapshot = Snapshot()
        for number in range(nodes):
            node = make_node(
                name=f"n{number}",
                zone=f"zone-{number % 3}",
                allocatable={"cpu": "64", "memory": "256Gi", "pods": "1000"},
            )
            self.snapshot.add_node(node)
        self.pods = 0
        self._template = make_pod(requests={"cpu": "10m", "memory": "20Mi"})
        registry = PluginRegistry.discover()
        for plugin in plugins:
            registry = registry.with_plugin(plugin, plugin.__name__)
        config = default_config(registry).profiles[0]
        points = dict(config.plugins)
        for point in ("filter", "score"):
            points[point] += tuple(
                EnabledPlugin(name=plugin.__name__, weight=1)
                for plugin in plugins
                if registry[plugin.__name__].extends(point)
            )
        nominator = make_nominator()
        builder = FrameworkBuilder(
            registry=registry, services=make_services(self.snapshot, nominator)
        )
        framework = builder.build(attrs.evolve(config, plugins=points))
        self.profile = framework.profile
        profile = framework.profile if twins else framework.profile.without_twins()
        self._algorithm = Algorithm(
            profile, self.snapshot.nodes, nominator, NodeOrder(), 100
        )
        if remembers:
            signatures = Signatures(profile, self.snapshot.nodes)
            self._algorithm = remember(self._algorithm, signatures)

    def schedule(self, pods: int) -> None:
        """Schedule some pods of one template, one after the other."""
        for _ in range(pods):
            self.pods += 1
            metadata = self._template.metadata
            name = f"pod-{self.pods}"
            pod = replace(
                self._template, metadata=replace(metadata, name=name, uid=name)
            )
            found = self._algorithm.schedule(CycleState(), pod, self._pick)
            assert isinstance(found, Decision)
            self.snapshot.add_pod(replace(pod, node_name=found.node.name))

    def seconds_per_pod(self, pods: int) -> float:
        """Return the seconds of a decision, after some first ones."""
        self.schedule(5)
        return median_seconds(lambda: self.schedule(pods)) / pods

    @property
    def example(self) -> Pod:
        """Return a pod like those that are scheduled."""
        return self._template

    def _pick(self, _nodes: NodeTable, rows: Ties) -> int:
        return int(rows[self.pods * 7919 % len(rows)])
