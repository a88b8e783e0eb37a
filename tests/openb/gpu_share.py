"""GPU sharing as a plugin: filters, rates and reserves devices.

It does what the simulator's Open-Gpu-Share and its score plugins do together. Only the
plugin stores the devices of pods, because a pod has no field for them. So it has no
devices for pods that had a node before.
"""

from collections.abc import Hashable
from typing import ClassVar, Final

import attrs

from quaymaster import (
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.config import one_of
from tests.openb.devices import Devices, Taken
from tests.openb.fragmentation import TypicalPod
from tests.openb.gpus import Demand, GpuNode, demand_of, suiting_devices
from tests.openb.policies import POLICIES, make_policy

__all__ = ["GpuShare", "GpuShareArgs"]

_DEMAND: Final = StateKey[Demand]("GpuShareDemand")
_NO_DEVICES: Final = Status.unschedulable("node(s) didn't have enough idle GPU devices")


@attrs.frozen(kw_only=True)
class GpuShareArgs:
    """The arguments of GpuShare.

    Attributes:
        policy: The policy that rates the nodes.
        typical_pods: The pods by which fragmentation is measured.
    """

    policy: str = attrs.field(validator=one_of(*POLICIES))
    typical_pods: tuple[TypicalPod, ...] = ()


class GpuShare:
    """Gives pods GPU devices, or a part of one.

    Args:
        args: The arguments.
        handle: The handle, for the current nodes when devices are chosen.
    """

    Args: ClassVar = GpuShareArgs
    scope = Scope.NODE

    def __init__(self, args: GpuShareArgs, handle: Handle) -> None:
        self._policy = make_policy(args.policy, args.typical_pods)
        self._handle = handle
        self._devices = Devices()

    def taken_by(self, pod: Pod) -> Taken | None:
        """Return the devices of a pod, or None if this plugin did not reserve it."""
        return self._devices.taken.get(pod.uid)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return demand_of(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        wanted = state[_DEMAND] = demand_of(pod)
        return None if wanted.count else Status.skip()

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        wanted = state[_DEMAND]
        suiting = list(suiting_devices(self._devices.node(node), wanted))
        return None if len(suiting) >= wanted.count else _NO_DEVICES

    @hookimpl
    def filter_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts:
        wanted = state[_DEMAND]
        left = self._devices.nodes(nodes, rows).left
        suiting = (left >= wanted.milli).sum(axis=1)
        return NodeVerdicts.reject_where(suiting < wanted.count, _NO_DEVICES)

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return self._policy.score(self._devices.node(node), state[_DEMAND])

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        columns = self._devices.nodes(nodes, rows)
        return self._policy.score_nodes(columns, state[_DEMAND])

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> None:
        wanted = demand_of(pod)
        info = self._handle.snapshot.get(node_name)
        assert info is not None  # the pod has just been put on it
        now = self._devices.node(info)
        before = attrs.evolve(now, cpu=now.cpu + wanted.cpu)
        self._devices.taken[pod.uid] = Taken(
            devices=self._chosen(before, wanted),
            milli=wanted.milli,
            tag=wanted.tag,
            score=self._policy.score(before, wanted),
        )

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self._devices.taken.pop(pod.uid, None)

    def _chosen(self, node: GpuNode, wanted: Demand) -> tuple[int, ...]:
        if wanted.is_share:
            return (self._policy.share_device(node, wanted),)
        return tuple(suiting_devices(node, wanted))[: wanted.count]
