"""Changes of how pods are scheduled, and not of the objects."""

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ObjectMeta, Pod, PodStatus
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.changes.change import Effect
from quaymaster._studies.changes.unplaced import may_move
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Repack", "UseConfig"]


@attrs.frozen(kw_only=True)
class Repack:
    """Removes all pods from their nodes, and schedules them again together.

    Pods of DaemonSets, static pods, and pods that have ended or are terminating keep
    their nodes. Volumes stay, so a pod's volume may bind it to a zone.
    """

    def __str__(self) -> str:
        return "repack"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, now = simulation.cluster, simulation.now
        effect = Effect(change=str(self), at=now, ended=now)
        pods = [pod for pod in cluster.list(Pod).items if may_move(pod)]
        for pod in pods:
            _take_away(pod, cluster)
        for pod in pods:
            cluster.create(_as_new(pod))
            effect.objects.append(f"Pod/{pod.key}")
        return effect


@attrs.frozen(kw_only=True)
class UseConfig:
    """Continues with another scheduler configuration.

    Attributes:
        config: The configuration, complete and checked.
        name: Its name in messages, such as a file.
    """

    config: SchedulerConfig = attrs.field(repr=False)
    name: str = ""

    def __str__(self) -> str:
        return f"config {self.name}".rstrip()

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        simulation.use_config(self.config)
        return Effect(change=str(self), at=simulation.now, ended=simulation.now)


def _take_away(pod: Pod, cluster: InMemoryCluster) -> None:
    """Remove a pod at once; controllers run only when all pods exist again."""
    if pod.metadata.finalizers:
        metadata = replace(pod.metadata, finalizers=())
        pod = cluster.update(replace(pod, metadata=metadata))
    cluster.delete(Pod, pod.key, grace_period_seconds=0.0)


def _as_new(pod: Pod) -> Pod:
    """Return a pod as it was before it got its node."""
    old = pod.metadata
    metadata = ObjectMeta(
        name=old.name,
        namespace=old.namespace,
        labels=old.labels,
        annotations=old.annotations,
        owner_references=old.owner_references,
        finalizers=old.finalizers,
        # Admission recognises a pod from a cluster by this field.
        creation_timestamp=old.creation_timestamp,
    )
    return replace(pod, metadata=metadata, node_name="", status=PodStatus())
