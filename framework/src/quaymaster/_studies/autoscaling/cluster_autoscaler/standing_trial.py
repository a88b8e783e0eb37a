"""A trial whose expected nodes stand from one loop to the next."""

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import AbstractContextManager
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.cycle.filtering import KindOnNode
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.autoscaling.trial_cluster import Fork, TrialCluster

__all__ = ["StandingTrial"]

# Nodes that stand come after those of the cluster, and before others of a trial.
_FIRST: Final = 1 << 40


class StandingTrial(TrialCluster):
    """A trial with nodes that stand: they stay when a part of the trial ends.

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
        # Before the first changes come.
        self._standing: set[str] = set()
        self._fallen: set[str] = set()
        self._hidden: dict[str, tuple[Node, Sequence[Pod]]] = {}
        super().__init__(cluster, config, registry, counts=counts)

    def fork_on_standing(self) -> AbstractContextManager[Fork]:
        """Run a block as `fork` does; pods that it adds to nodes that stand stay."""
        return self._part({*self._standing})

    def catch_up(self) -> None:
        """Read the changes of the cluster; nothing stands then."""
        self.end_standing()
        super().catch_up()

    def catch_up_beneath(self) -> None:
        """Read the changes of the cluster, and keep what stands.

        A hidden node is shown again if it has changed, or if its pods have.
        """
        super().catch_up()

    def stand(self, node: Node, pods: Iterable[Pod], place: int) -> None:
        """Add a node with pods that stays until `fall`, `end_standing` or `catch_up`.

        To add and remove all expected nodes in each loop took a tenth of the time of a
        day with the cluster autoscaler, and to place the waiting pods on them a sixth.

        Args:
            node: The node.
            pods: The pods.
            place: Its place in the order of the nodes that stand, which come after all
                nodes of the cluster.
        """
        name = node.name
        self._standing.add(name)
        self._put(node, _FIRST + place)
        for pod in pods:
            self._snapshot.add_pod(replace(pod, node_name=name))

    def fall(self, name: str) -> None:
        """Remove a node that stands, with its pods."""
        self._standing.remove(name)
        self._fallen.add(name)
        self._drop_node(name)

    def hide(self, name: str) -> None:
        """Remove a node of the cluster for as long as `stand` adds one."""
        info = self._snapshot.get(name)
        if info is not None:
            self._changed.add(name)
            pods = [*info.pods.values()]
            self._hidden[name] = info.node, pods
            for pod in pods:
                self._snapshot.remove_pod(pod)
            self._snapshot.remove_node(name)

    def show(self, name: str) -> None:
        """Add a hidden node again; nothing happens if it is not hidden."""
        if name in self._hidden:
            self._changed.add(name)
            node, pods = self._hidden.pop(name)
            self._put(node, self._arrivals[name])
            for pod in pods:
                self._snapshot.add_pod(pod)

    @property
    def standing_names(self) -> Set[str]:
        """The names of the nodes that stand."""
        return self._standing

    @property
    def hidden(self) -> Set[str]:
        """The names of the nodes that are hidden."""
        return self._hidden.keys()

    def end_standing(self) -> None:
        """Remove all nodes that stand, and show those that are hidden."""
        for name in [*self._standing]:
            self.fall(name)
        for name in [*self._hidden]:
            self.show(name)

    def stands(self, name: str) -> bool:
        """Return whether a node stands."""
        return name in self._standing

    def take_fallen(self) -> Set[str]:
        """Return the names of the nodes that have fallen since the last call.

        Other nodes may have their names now.
        """
        fallen, self._fallen = self._fallen, set()
        return fallen

    def take_away(self, pods: Iterable[Pod], node_name: str) -> None:
        """Remove pods from a node that stands; that is not reverted."""
        self._changed.add(node_name)
        for pod in pods:
            self._snapshot.remove_pod(replace(pod, node_name=node_name))

    def kind_of(self, pod: Pod) -> KindOnNode | None:
        """Return what decides about a pod on a node, beside the node and its pods.

        Returns:
            None if a plugin looks at other nodes, too, or signs no pods.
        """
        attempt, algorithm = self._attempt(pod)
        return algorithm.filters.kind_on_node(attempt)

    def _before_change(self, name: str) -> None:
        """Show a hidden node, so that it changes as all others do."""
        self.show(name)
