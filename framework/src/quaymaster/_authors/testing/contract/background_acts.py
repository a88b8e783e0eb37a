"""Ways in which a plugin writes objects to the cluster for a pod."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    open_nodes,
    written_objects,
)
from quaymaster._authors.testing.contract.stored_objects import next_version
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.registry.access import writes_of_plugin
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.node_table import NodeTable

__all__ = [
    "Act",
    "acts_of",
    "bind_elsewhere",
    "bound",
    "collect_garbage",
    "delete_pod",
    "settle",
    "touch",
    "writes_objects",
]

_MOST_DELIVERIES: Final = 3
"""Callbacks may write again when a watch delivers what a plugin has written."""

_NO_ROOM: Final = Status.unschedulable("no room")


@attrs.frozen
class Act:
    """A way in which a plugin writes objects for a pod.

    Attributes:
        hook: The hook that begins it.
        play: Plays it for a pod that has no node yet, until all is delivered.
    """

    hook: str
    play: Callable[[Bench, Pod], None]


def writes_objects(plugin: type) -> bool:
    """Return whether a plugin declares writes of other objects than pods and nodes."""
    return any(write.kind not in (Pod, Node) for write in writes_of_plugin(plugin))


def acts_of(subject: Subject) -> Iterator[Act]:
    """Yield the acts of a plugin."""
    if subject.has("post_filter"):
        yield Act("post_filter", _post_filter)
    for hook in ("pre_bind", "post_bind", "permit", "reserve"):
        if subject.has(hook):
            yield Act(hook, _bind)
            return


def settle(bench: Bench) -> None:
    """Deliver what a plugin has written, and what its callbacks write then."""
    for _ in range(_MOST_DELIVERIES):
        bench.deliver()
    bench.room.settle()


def bound(bench: Bench, pod: Pod) -> Pod:
    """Return a pod as another scheduler has bound it to the first node."""
    (info, *_) = bench.snapshot
    return replace(pod, node_name=info.name)


def bind_elsewhere(bench: Bench, pod: Pod) -> None:
    """Deliver a pod as another scheduler has bound it, if it has no node."""
    stored = bench.services.informers.get(Pod, pod.key)
    if stored is not None and not stored.node_name:
        bench.add(bound(bench, stored))


def delete_pod(bench: Bench, pod: Pod) -> None:
    """Deliver the deletion of a pod."""
    stored = bench.services.informers.get(Pod, pod.key)
    if stored is not None:
        bench.remove(stored)


def collect_garbage(
    bench: Bench, pod: Pod, before: Collection[tuple[type, str]]
) -> None:
    """Delete all that belongs to a pod that is gone, as controllers do.

    Args:
        bench: The plugin and its cluster.
        pod: The pod.
        before: The objects that were there before the plugin wrote for the pod.
    """
    owners = {pod.uid}
    while owners:
        owned = {
            key: obj
            for key, obj in written_objects(bench).items()
            if key not in before
            and owners.intersection(
                owner.uid for owner in obj.metadata.owner_references
            )
        }
        for kind, key in owned:
            bench.cluster.stored.delete(kind, key)
        owners = {obj.uid for obj in owned.values()} - {""}
        settle(bench)


def touch(bench: Bench) -> None:
    """Deliver a new version of each object that the plugin follows."""
    for kind in bench.handle.callbacks.kinds:
        for obj in tuple(bench.services.informers.list(kind)):
            version = next_version(obj)
            metadata = replace(obj.metadata, resource_version=version)
            bench.add(replace(obj, metadata=metadata))
    settle(bench)


def _post_filter(bench: Bench, pod: Pod) -> None:
    state = CycleState()
    bench.pre_filter(state, pod)
    bench.ask("post_filter", state, pod, _AllRejected(bench.snapshot.nodes))
    settle(bench)


def _bind(bench: Bench, pod: Pod) -> None:
    for node_name in open_nodes(bench, pod)[:1]:
        run = begin(bench, pod, node_name)
        if run is None:
            return
        if isinstance(run.pre_bind(), Status):
            run.give_up()
            return
        run.bind()
        run.end("post_bind")


class _AllRejected:
    """The statuses of nodes that all have no room; implements `NodeStatuses`.

    Args:
        nodes: The nodes.
    """

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes

    def __getitem__(self, node_name: str) -> Status:
        return _NO_ROOM

    def nodes_with(self, *codes: int) -> Sequence[str]:
        return self._nodes.names_at(self.rows_with(*codes))

    def rows_with(self, *codes: int) -> RowArray:
        is_meant = Code.UNSCHEDULABLE in codes
        names = self._nodes.names_at(self._nodes.rows) if is_meant else ()
        return self._nodes.rows_of(names)
