"""The requests of pods that are nominated to nodes."""

from collections.abc import Callable, Sequence

from quaymaster._contract.handle import Handle
from quaymaster._objects import Pod
from quaymaster._objects.resources import PodUsage
from quaymaster._state.node_info import NodeInfo

__all__ = ["Promises"]


class Promises:
    """The pods that are nominated to each node, computed anew when they change.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._known: dict[str, _Promised] = {}

    def ahead_of(
        self, pod: Pod, infos: Sequence[NodeInfo]
    ) -> Sequence[tuple[PodUsage, Sequence[int]]]:
        """The nominated pods that another pod must leave room for, by their requests.

        Args:
            pod: The other pod.
            infos: The nodes.

        Returns:
            Pairs of requests, and the rows that have a pod with them. A row with
            several such pods is in several pairs.
        """
        nominated_pods, known = self._handle.nominated_pods, self._known
        priority, uid = pod.priority, pod.uid
        first: dict[int, tuple[PodUsage, dict[int, None]]] = {}
        more: list[tuple[PodUsage, Sequence[int]]] = []
        for info in infos:
            pods = nominated_pods(info.name)
            if not pods:
                continue
            promised = known.get(info.name)
            # Identity: the nominator gives the same sequence until it changes.
            if promised is None or promised.pods is not pods:
                promised = known[info.name] = _Promised(pods, info.usage_of)
            for its_priority, its_uid, usage in promised.requests:
                if its_priority < priority or its_uid == uid:
                    continue
                rows = first.setdefault(id(usage), (usage, {}))[1]
                if info.row in rows:
                    more.append((usage, (info.row,)))
                else:
                    rows[info.row] = None
        return [*((usage, tuple(rows)) for usage, rows in first.values()), *more]


class _Promised:
    """The pods that are nominated to one node; at least one."""

    __slots__ = ("pods", "requests")

    def __init__(
        self, pods: Sequence[Pod], usage_of: Callable[[Pod], PodUsage]
    ) -> None:
        self.pods = pods
        self.requests = [(pod.priority, pod.uid, usage_of(pod)) for pod in pods]
