"""Clusters as they are at the beginning of episodes, shared by all episodes."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

import msgspec

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.codec import ENCODER
from quaymaster._clusters.inmemory.durations import run_seconds
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.gym.pod_kinds import PodKind, PodKinds
from quaymaster._studies.gym.unsupported import UnsupportedWorkloadError
from quaymaster._studies.simulation.driven import Run

__all__ = ["InitialCluster", "InitialClusters"]

# Chosen, not measured: workloads mostly have the same nodes in every episode.
_MOST: Final = 64


class InitialCluster:
    """The nodes of an episode, and the plugins, as they are before anything arrives.

    Args:
        objects: The initial objects of a workload.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        node_numbers: Yields the number of each node.
        kinds: All kinds of pods, by their numbers; new ones are added.

    Attributes:
        objects: The initial objects without those in `pending`.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        started: The time on the cluster's clock.
        nodes: Node number -> the node with the pods that never end, in row order.
        pending: The pods that wait at the beginning.
        ending: For each pod that runs and will end: its kind, its node's place among
            `nodes`, and when it ends on the cluster's clock.
        kinds: Finds the kind of each pod.

    Raises:
        AdmissionError: Some objects are invalid.
        UnsupportedWorkloadError: It has no nodes, or the configuration has extenders.
    """

    def __init__(
        self,
        objects: Sequence[ApiObject],
        *,
        config: SchedulerConfig,
        registry: PluginRegistry,
        node_numbers: Iterator[int],
        kinds: list[PodKind],
    ) -> None:
        if config.extenders:
            raise UnsupportedWorkloadError("configuration", "it has extenders")
        self.config, self.registry = config, registry
        self._run = Run(objects, config=config, registry=registry)
        cluster = self._run.cluster
        self.started = cluster.clock.now()
        self.kinds = PodKinds(self._run, kinds)
        infos = [info.clone() for info in self._run.snapshot]
        if not infos:
            raise UnsupportedWorkloadError("workload", "it has no nodes")
        place_of = {info.name: place for place, info in enumerate(infos)}
        pods = cluster.list(Pod).items
        self.pending = [pod for pod in pods if not (pod.node_name or pod.is_finished)]
        keys = {pod.key for pod in self.pending}
        self.objects = [
            obj for obj in objects if not (isinstance(obj, Pod) and obj.key in keys)
        ]
        self.ending: list[tuple[PodKind, int, float]] = []
        for pod in pods:
            place = place_of.get(pod.node_name)
            seconds = run_seconds(pod.metadata.annotations)
            if place is not None and seconds is not None and not pod.is_finished:
                infos[place].remove_pod(pod)
                kind = self.kinds.of(msgspec.structs.replace(pod, node_name=""))
                self.ending.append((kind, place, self.started + seconds))
        self.nodes = {next(node_numbers): info for info in infos}

    @property
    def infos(self) -> Sequence[NodeInfo]:
        """The nodes with the pods that never end, in row order."""
        return list(self.nodes.values())

    @property
    def has_changed(self) -> bool:
        """Whether a plugin has reported that its verdicts may differ now."""
        frameworks = self._run.simulation.scheduler.frameworks.values()
        return any(framework.handle.reported_changes for framework in frameworks)

    def close(self) -> None:
        """Close the plugins."""
        self._run.close()


class InitialClusters:
    """Makes the initial clusters of workloads; equal ones are made once.

    Args:
        config: The scheduler's configuration.
        registry: Where plugins are found by name.

    Attributes:
        kinds: All kinds of pods, by their numbers.
    """

    def __init__(self, config: SchedulerConfig, registry: PluginRegistry) -> None:
        self._config, self._registry = config, registry
        self._node_numbers = count()
        self.kinds: list[PodKind] = []
        self._clusters: dict[bytes, InitialCluster] = {}
        # The objects are kept, so that no other object gets the same id.
        self._by_ids: dict[
            tuple[int, ...], tuple[InitialCluster, Sequence[ApiObject]]
        ] = {}

    def __len__(self) -> int:
        """Return the number of different clusters."""
        return len(self._clusters)

    def of(self, objects: Sequence[ApiObject]) -> InitialCluster:
        """Return the cluster with some objects.

        Raises:
            AdmissionError: Some objects are invalid.
            UnsupportedWorkloadError: See `InitialCluster`.
        """
        ids = tuple(map(id, objects))
        entry = self._by_ids.get(ids)
        if entry is None:
            if len(self._by_ids) >= _MOST:
                self._by_ids.clear()
            entry = self._by_ids[ids] = self._equal(objects), tuple(objects)
        return entry[0]

    @property
    def has_changed(self) -> bool:
        """Whether a plugin has reported that its verdicts may differ now."""
        return any(cluster.has_changed for cluster in self._clusters.values())

    def close(self) -> None:
        """Close the plugins of all clusters."""
        for cluster in self._clusters.values():
            cluster.close()
        self._clusters.clear()
        self._by_ids.clear()

    def _equal(self, objects: Sequence[ApiObject]) -> InitialCluster:
        content = ENCODER.encode([(obj.kind, obj) for obj in objects])
        cluster = self._clusters.get(content)
        if cluster is None:
            cluster = self._clusters[content] = InitialCluster(
                objects,
                config=self._config,
                registry=self._registry,
                node_numbers=self._node_numbers,
                kinds=self.kinds,
            )
        return cluster
