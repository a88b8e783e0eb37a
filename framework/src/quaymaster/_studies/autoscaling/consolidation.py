"""Which nodes an autoscaler would remove, and why the others stay."""

from collections.abc import Iterable, Sequence

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.notices import Notice
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.simulation.assumed_controllers import (
    controller_of,
    is_missing,
)
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    Autoscaler,
    AutoscalerFactory,
)
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Consolidation", "MovedPod", "StayingNode", "consolidate"]


@attrs.frozen(kw_only=True)
class MovedPod:
    """A pod of a removed node.

    Attributes:
        node: The node that it was on.
        pod: Its key.
    """

    node: str
    pod: str


@attrs.frozen(kw_only=True)
class StayingNode:
    """A node that stays.

    Attributes:
        node: Its name.
        group: Its group; empty if it is in none.
        why: Why it stays.
        price: Its price per hour; None if it is unknown.
    """

    node: str
    group: str
    why: str
    price: float | None


@attrs.frozen(kw_only=True)
class Consolidation:
    """What an autoscaler would do with a cluster if nothing else changed.

    Attributes:
        removed: The nodes that go, in order, with their times in seconds.
        added: The nodes that come, for pending pods or for moved ones.
        moved: The pods of removed nodes that are created again elsewhere.
        ended: The pods of removed nodes that no controller creates again.
        staying: The nodes that stay, and why.
        pending: The keys of the pods that have no node in the end.
        notices: Warnings for the user.
    """

    removed: tuple[AutoscaledNode, ...]
    added: tuple[AutoscaledNode, ...]
    moved: tuple[MovedPod, ...]
    ended: tuple[MovedPod, ...] = ()
    staying: tuple[StayingNode, ...]
    pending: tuple[str, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def saving(self) -> float | None:
        """The price per hour of the nodes that go, without those that come.

        None if a price is unknown.
        """
        total = 0.0
        for sign, nodes in ((1, self.removed), (-1, self._staying_additions())):
            for node in nodes:
                if node.price is None:
                    return None
                total += sign * node.price
        return total

    def _staying_additions(self) -> Sequence[AutoscaledNode]:
        return [node for node in self.added if node.removed is None]


def consolidate(
    objects: Iterable[ApiObject],
    autoscaler: AutoscalerFactory,
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    max_pods: int = MAX_PODS,
    times: PodTimes = DEFAULT_POD_TIMES,
) -> Consolidation:
    """Let an autoscaler work on a cluster until it changes nothing more.

    Args:
        objects: Nodes, pods, workloads and all else, as for `simulate`.
        autoscaler: Makes the autoscaler.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides what is left to chance.
        on_progress: Called with the progress.
        max_pods: How many pods the workloads may ask for in all.
        times: How long pods need to start and to end.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        AutoscalerError: The autoscaler does not match the cluster.
        ProfileError: A profile's plugins cannot be built.
    """
    with Simulation(
        objects,
        config=config,
        registry=registry,
        seed=seed,
        max_pods=max_pods,
        times=times,
        autoscaler=autoscaler,
    ) as simulation:
        # Before the run, after which evicted pods and their owners may be gone.
        lasting, ending = _partitioned(_pods(simulation), simulation.cluster)
        simulation.settle(on_progress)
        worker = simulation.autoscaler
        if worker is None:
            raise AutoscalerError("autoscaler", "expected one, got none")
        lives = worker.nodes()
        removed = [life for life in lives if life.removed is not None]
        return Consolidation(
            removed=tuple(sorted(removed, key=lambda life: life.removed or 0.0)),
            added=tuple(life for life in lives if life.ordered is not None),
            moved=_of_removed(lasting, removed),
            ended=_of_removed(ending, removed),
            staying=_staying(simulation, worker, lives),
            pending=tuple(pod.pod for pod in simulation.result().unscheduled),
            notices=simulation.notices(),
        )


def _pods(simulation: Simulation) -> Sequence[Pod]:
    """Return the pods that have a node at the beginning, but those of DaemonSets."""
    return [
        pod
        for pod in simulation.cluster.list(Pod).items
        if pod.node_name and not pod.is_finished and not _is_daemon(pod)
    ]


def _is_daemon(pod: Pod) -> bool:
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def _partitioned(
    pods: Iterable[Pod], cluster: InMemoryCluster
) -> tuple[Sequence[Pod], Sequence[Pod]]:
    """Return the pods whose controller creates them again, and the others."""
    lasting: list[Pod] = []
    ending: list[Pod] = []
    for pod in pods:
        owner = controller_of(pod)
        exists = owner is not None and not is_missing(owner, cluster)
        (lasting if exists else ending).append(pod)
    return lasting, ending


def _of_removed(
    pods: Iterable[Pod], removed: Iterable[AutoscaledNode]
) -> tuple[MovedPod, ...]:
    """Return the pods that were on removed nodes."""
    gone = {life.node for life in removed}
    return tuple(
        MovedPod(node=pod.node_name, pod=pod.key)
        for pod in pods
        if pod.node_name in gone
    )


def _staying(
    simulation: Simulation, worker: Autoscaler, lives: Iterable[AutoscaledNode]
) -> tuple[StayingNode, ...]:
    by_name = {life.node: life for life in lives}
    reasons = worker.reasons_to_stay()
    return tuple(
        StayingNode(
            node=node.name,
            group=by_name[node.name].group if node.name in by_name else "",
            why=reasons.get(node.name, ""),
            price=by_name[node.name].price if node.name in by_name else None,
        )
        for node in simulation.cluster.list(Node).items
    )
