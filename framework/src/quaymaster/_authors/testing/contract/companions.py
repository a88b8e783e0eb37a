"""Filters beside a plugin, so that its PostFilter hook has work."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import ClassVar, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._core.contract.declarations import PodUse, Scope
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.hook_marks import hookimpl
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_info import NodeInfo

__all__ = [
    "crowded_harnesses",
    "evicting_harnesses",
    "post_filter_harnesses",
    "preempting",
    "signed_harnesses",
]

_HarnessT = TypeVar("_HarnessT", bound=PluginHarness)

_HIGHEST_PRIORITY = 1_000_000_000


class NoRoom:
    """Rejects every node, so that PostFilter is called."""

    reads = ()
    writes = ()

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self) -> Status | None:
        return Status.unschedulable("no room")


class _FirstHarness(PluginHarness):
    """A harness in which no node has room, once the plugin's own filter has run."""

    _after: ClassVar[Sequence[type]] = (NoRoom,)


class Occupied:
    """Rejects nodes with pods, so that preemption of these pods helps."""

    reads = ()
    writes = ()

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("the node is occupied") if node.pods else None


class Full:
    """Rejects nodes that have all their pods, so that one victim makes room."""

    reads = ()
    writes = ()

    def __init__(self, _args: object, handle: Handle) -> None:
        self._informers = handle.informers

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        pods = self._informers.list(Pod)
        most = sum(pod.node_name == node.name for pod in pods)
        is_full = len(node.pods) >= most
        return Status.unschedulable("the node is full") if is_full else None


class SignedNoRoom(NoRoom):
    """Signs pods, so that the framework keeps how attempts have failed."""

    scope = Scope.NODE
    pod_use = PodUse.NONE

    @hookimpl
    def sign_pod(self) -> Hashable:
        return "all pods"


class SignedOccupied(Occupied):
    """Signs pods, see `SignedNoRoom`."""

    scope = Scope.NODE

    @hookimpl
    def sign_pod(self) -> Hashable:
        return "all pods"


class Ranks:
    """Ranks nodes, so that all of them are filtered, as the framework's memo needs."""

    reads = ()
    writes = ()

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def score(self) -> int:
        return 0


def post_filter_harnesses(
    subject: Subject, cluster: SmallCluster
) -> Iterator[PluginHarness]:
    """Yield harnesses in which no node has room, or only once pods have left it.

    If the plugin has a filter, it runs before or after the filter without room.

    Args:
        subject: The plugin.
        cluster: The cluster. Objects that no API server would accept are left out.
    """
    yield from crowded_harnesses(subject, cluster, PluginHarness)
    if subject.has("filter"):
        yield _harness(subject, cluster, _FirstHarness)


def crowded_harnesses(
    subject: Subject, cluster: SmallCluster, kind: type[_HarnessT]
) -> Iterator[_HarnessT]:
    """Yield harnesses whose first filter finds no room, or too little.

    Args:
        subject: The plugin.
        cluster: The cluster; see `post_filter_harnesses`.
        kind: The class of the harnesses.
    """
    yield _harness(subject, cluster, kind, NoRoom)
    yield from evicting_harnesses(subject, cluster, kind)


def evicting_harnesses(
    subject: Subject, cluster: SmallCluster, kind: type[_HarnessT], *before: type
) -> Iterator[_HarnessT]:
    """Yield harnesses in which nodes have room only once pods have left them.

    Args:
        subject: The plugin.
        cluster: The cluster; see `post_filter_harnesses`.
        kind: The class of the harnesses.
        *before: More plugins of the profile, which come first.
    """
    occupied = _occupied(cluster)
    if occupied.nodes:
        for companion in (Occupied, Full):
            yield _harness(subject, occupied, kind, *before, companion)


def signed_harnesses(
    subject: Subject, cluster: SmallCluster, kind: type[_HarnessT]
) -> Iterator[_HarnessT]:
    """Yield harnesses whose framework keeps how attempts have failed.

    Args:
        subject: The plugin. Its own filter, if any, has to sign pods, too.
        cluster: The cluster; see `post_filter_harnesses`.
        kind: The class of the harnesses.
    """
    yield _harness(subject, cluster, kind, SignedNoRoom, Ranks)
    occupied = _occupied(cluster)
    if occupied.nodes:
        yield _harness(subject, occupied, kind, SignedOccupied, Ranks)


def _occupied(cluster: SmallCluster) -> SmallCluster:
    """Return the cluster without its empty nodes."""
    names = {pod.node_name for pod in cluster.pods}
    nodes = tuple(node for node in cluster.nodes if node.name in names)
    return attrs.evolve(cluster, nodes=nodes)


def _harness(
    subject: Subject, cluster: SmallCluster, kind: type[_HarnessT], *beside: type
) -> _HarnessT:
    def make(objects: Iterable[ApiObject]) -> _HarnessT:
        return kind(
            subject.plugin,
            args=subject.args,
            kubernetes=subject.kubernetes,
            nodes=cluster.nodes,
            pods=cluster.pods,
            objects=objects,
            beside=beside,
        )

    try:
        return make(cluster.objects)
    except AdmissionError:
        return make(subject.objects)


def preempting(pod: Pod) -> Pod:
    """Return the pod with a priority that may preempt all others."""
    spec = replace(
        pod.spec, priority=_HIGHEST_PRIORITY, preemption_policy="PreemptLowerPriority"
    )
    return replace(pod, spec=spec)
