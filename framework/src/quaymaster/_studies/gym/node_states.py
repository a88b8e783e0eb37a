"""States of nodes, and the real filters' verdict of each kind of pod on each state.

A filter with ``Scope.NODE`` depends on the pod's kind and on one node alone, so its
verdict on a node in the same state is the same in every run and in every episode. The
plugins are called once for each pair of a state and a kind.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from quaymaster._api.objects import Pod
from quaymaster._base.errors import PluginError
from quaymaster._core.state.arrays import Float64Array, Int64Array
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.gym.pod_kinds import PodKind

__all__ = ["UNKNOWN", "NodeStates"]

UNKNOWN: Final = -1
"""The verdict of plugins that have not been called yet."""


class NodeStates:
    """Numbers the states of nodes; caches what adding and removing a pod leads to.

    Two nodes have the same state if they are the same node of the same cluster, and the
    sums of their pods are equal. If `exact`, they need pods of the same kinds.

    Args:
        resources: The resources whose usage is written to `used`.
        exact: Whether some filter reads more of the pods on a node than sums.

    Attributes:
        exact: As above.
        verdicts: Shape ``(S, P)``, dtype int8: for each state and each kind 1 if the
            node is feasible, 0 if it is not, and `UNKNOWN`.
        used: Shape ``(S, R)``: the requested amount of each resource.
    """

    def __init__(self, resources: Sequence[str], *, exact: bool = False) -> None:
        self.exact = exact
        self.verdicts: npt.NDArray[np.int8] = np.full((64, 16), UNKNOWN, np.int8)
        self.used: Float64Array = np.zeros((64, len(resources)))
        self._resources = resources
        self._infos: list[NodeInfo] = []
        self._nodes: list[int] = []
        self._counts: list[dict[int, int]] = []
        self._numbers: dict[Hashable, int] = {}
        self._when_empty: dict[tuple[int, int], Sequence[int]] = {}
        self._with: dict[tuple[int, int], int] = {}
        self._without: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self._infos)

    def add_node(self, node: int, info: NodeInfo) -> int:
        """Return the state of a node with the pods that never end.

        Args:
            node: The number of the node, unique among all clusters.
            info: The node; it must not change later.
        """
        return self._number(node, info, {})

    def feasible_when_empty(
        self, nodes: Mapping[int, NodeInfo], kind: PodKind
    ) -> Sequence[int]:
        """Return the places of the nodes that are feasible without pods that end.

        Args:
            nodes: Number -> node, as for `add_node`.
            kind: The kind of pods.
        """
        first = next(iter(nodes))
        places = self._when_empty.get((first, kind.number))
        if places is None:
            states = [self.add_node(number, info) for number, info in nodes.items()]
            places = [
                place for place, state in enumerate(states) if self.fits(state, kind)
            ]
            self._when_empty[first, kind.number] = places
        return places

    def with_pod(self, state: int, kind: PodKind) -> int:
        """Return the state of the same node with one more pod."""
        pair = (state, kind.number)
        following = self._with.get(pair)
        if following is None:
            counts = dict(self._counts[state])
            # A state is shared by all runs that reach it, so it must not be changed.
            info = self._infos[state].clone()
            number = len(info.pods)
            if self.exact:
                number = counts[kind.number] = counts.get(kind.number, 0) + 1
            info.add_pod(_named(kind, number))
            following = self._number(self._nodes[state], info, counts)
            self._with[pair] = following
        return following

    def without_pod(self, state: int, kind: PodKind) -> int:
        """Return the state of the same node with one pod fewer."""
        pair = (state, kind.number)
        following = self._without.get(pair)
        if following is None:
            following = self._without[pair] = self._removed(state, kind)
        return following

    def fits(self, state: int, kind: PodKind) -> bool:
        """Return whether all filters accept a pod of a kind on a node.

        Raises:
            PluginError: A plugin failed.
        """
        number = kind.number
        if number >= self.verdicts.shape[1]:
            self._widen(number + 1)
        verdict = self.verdicts.item(state, number)
        if verdict == UNKNOWN:
            verdict = int(self._passes(self._infos[state], kind))
            self.verdicts[state, number] = verdict
        return bool(verdict)

    def lookup(
        self, states: Int64Array, numbers: Int64Array, kinds: Sequence[PodKind]
    ) -> npt.NDArray[np.int8]:
        """Return the verdicts of states and kinds, which are broadcast.

        Args:
            states: The states.
            numbers: The numbers of the kinds.
            kinds: All kinds, by their numbers.
        """
        if len(kinds) > self.verdicts.shape[1]:
            self._widen(len(kinds))
        verdicts: npt.NDArray[np.int8] = self.verdicts[states, numbers]
        if verdicts.min(initial=0) < 0:
            where = np.nonzero(verdicts == UNKNOWN)
            states, numbers = np.broadcast_arrays(states, numbers)
            pairs = zip(states[where].tolist(), numbers[where].tolist(), strict=True)
            for state, number in dict.fromkeys(pairs):
                self.fits(state, kinds[number])
            verdicts = self.verdicts[states, numbers]
        return verdicts

    def _removed(self, state: int, kind: PodKind) -> int:
        counts = dict(self._counts[state])
        info = self._infos[state].clone()
        if self.exact:
            number = counts[kind.number]
            info.remove_pod(info.pods[_uid(kind, number)])
            counts[kind.number] = number - 1
            if number == 1:
                del counts[kind.number]
        else:
            # The pods of a state are an example: only their number and the sums of
            # what they request are those of the node.
            usage = kind.usage
            info.pods.popitem()
            info.requested.add(usage.requests, -1)
            info.non_zero_milli_cpu -= usage.non_zero_milli_cpu
            info.non_zero_memory -= usage.non_zero_memory
        return self._number(self._nodes[state], info, counts)

    def _number(self, node: int, info: NodeInfo, counts: dict[int, int]) -> int:
        kinds = frozenset(counts.items()) if self.exact else len(info.pods)
        key = (node, kinds, *_sums(info))
        number = self._numbers.get(key)
        if number is not None:
            return number
        number = self._numbers[key] = len(self._infos)
        self._infos.append(info)
        self._nodes.append(node)
        self._counts.append(counts if self.exact else {})
        if number >= len(self.verdicts):
            self._lengthen(2 * number)
        requested = info.requested
        for column, resource in enumerate(self._resources):
            self.used[number, column] = requested.get(resource)
        return number

    def _passes(self, info: NodeInfo, kind: PodKind) -> bool:
        if kind.node_names is not None and info.name not in kind.node_names:
            return False
        for call in kind.calls:
            status = call.judge(kind.state, kind.pod, info)
            if status is None:
                continue
            if not status.is_rejected:
                raise PluginError(call.plugin, "filter", f"failed: {status.message}")
            return False
        return True

    def _widen(self, kinds: int) -> None:
        states, width = self.verdicts.shape
        more = max(kinds - width, width)
        new = np.full((states, more), UNKNOWN, np.int8)
        self.verdicts = np.concatenate([self.verdicts, new], axis=1)

    def _lengthen(self, states: int) -> None:
        more = states - len(self.verdicts)
        new = np.full((more, self.verdicts.shape[1]), UNKNOWN, np.int8)
        self.verdicts = np.concatenate([self.verdicts, new])
        self.used = np.pad(self.used, ((0, more), (0, 0)))


def _sums(info: NodeInfo) -> tuple[Hashable, ...]:
    requested = info.requested
    return (
        requested.milli_cpu,
        requested.memory,
        requested.ephemeral_storage,
        info.non_zero_milli_cpu,
        info.non_zero_memory,
        tuple(sorted(item for item in requested.scalars.items() if item[1])),
    )


def _uid(kind: PodKind, number: int) -> str:
    return f"kind-{kind.number}-{number}"


def _named(kind: PodKind, number: int) -> Pod:
    """Return a pod of a kind with a name of its own."""
    replace, uid = msgspec.structs.replace, _uid(kind, number)
    return replace(kind.pod, metadata=replace(kind.pod.metadata, name=uid, uid=uid))
