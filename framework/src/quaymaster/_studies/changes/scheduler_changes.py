"""Changes of how pods are scheduled, not of what there is."""

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ObjectMeta, Pod, PodStatus
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._studies.changes.change import Effect
from quaymaster._studies.changes.pods import is_of_daemon_set, is_of_node
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Repack", "UseConfig"]


@attrs.frozen(kw_only=True)
class Repack:
    """Removes all pods from their nodes, and schedules them again together.

    Pods of DaemonSets and static pods stay where they are; so do pods that have ended
    or are about to. Volumes stay, so a pod may be held to a zone by its own.
    """

    def __str__(self) -> str:
        return "repack"

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        cluster, now = simulation.cluster, simulation.now
        effect = Effect(change=str(self), at=now, ended=now)
        pods = [pod for pod in cluster.list(Pod).items if _may_move(pod)]
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
        name: What to call it: a file, say.
    """

    config: SchedulerConfig = attrs.field(repr=False)
    name: str = ""

    def __str__(self) -> str:
        return f"config {self.name}".rstrip()

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now; see `ClusterChange.apply`."""
        simulation.use_config(self.config)
        return Effect(change=str(self), at=simulation.now, ended=simulation.now)


def _may_move(pod: Pod) -> bool:
    is_free = not is_of_daemon_set(pod) and not is_of_node(pod)
    is_alive = not pod.is_finished and not pod.is_terminating
    return bool(pod.node_name) and is_free and is_alive


def _take_away(pod: Pod, cluster: InMemoryCluster) -> None:
    """Remove a pod at once; controllers look again only when all are back."""
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
        # With it, admission knows the pod as one that a cluster had already.
        creation_timestamp=old.creation_timestamp,
    )
    return replace(pod, metadata=metadata, node_name="", status=PodStatus())
