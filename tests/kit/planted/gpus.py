"""Mistakes in a plugin that shares GPUs: devices on nodes, choices on pods."""

import time
from collections.abc import Hashable, Sequence

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    QueueingHint,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.columns import PodColumn
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["GPU_MISTAKES", "Gpus"]

DEVICES, MEMORY, DEVICE = "gpu/devices", "gpu/memory", "gpu/device"
FULL = Status.unschedulable("no GPU has so much memory left")
OWN = clusters(
    nodes=nodes(*({"annotations": {DEVICES: text}} for text in ("10", "10,6", "4"))),
    pods=pods(*({"annotations": {MEMORY: text}} for text in ("6", "4"))),
)


def wish_of(pod: Pod) -> int:
    return int(pod.annotations.get(MEMORY, "0"))


def part_of(pod: Pod) -> tuple[int, int] | None:
    """Return the number of a pod's device, and the memory that the pod gets."""
    device = pod.annotations.get(DEVICE)
    return None if device is None else (int(device), wish_of(pod))


def left_on(node: NodeInfo, parts: Sequence[tuple[int, int]]) -> list[int]:
    """Return the memory that is left on each device of a node."""
    text = node.node.metadata.annotations.get(DEVICES, "")
    left = [int(each) for each in text.split(",") if each]
    for device, memory in parts:
        if device < len(left):
            left[device] -= memory
    return left


def most_left_on(node: NodeInfo, parts: Sequence[tuple[int, int]]) -> list[int]:
    return [max(left_on(node, parts), default=-1)]


def after_pod(pod: Pod, _old: Pod, new: Pod | None) -> QueueingHint:
    """Queue a pod after its own updates, and once others are gone."""
    is_gone = new is None or new.uid == pod.uid
    return QueueingHint.QUEUE if is_gone else QueueingHint.SKIP


class Gpus(Plugin):
    """Correct: a pod gets a part of one device."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.most_left = PodColumn(part_of, most_left_on, width=1)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return wish_of(pod)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_ANNOTATION
        return [on_node(updates), on_pod(Change.DELETE | Change.UPDATE)]

    def _free(self, node: NodeInfo) -> list[int]:
        parts = (part_of(pod) for pod in node.pods.values())
        return left_on(node, [part for part in parts if part is not None])

    def _rejects(self, pod: Pod, node: NodeInfo) -> bool:
        wish = wish_of(pod)
        return bool(wish) and not any(part >= wish for part in self._free(node))

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return FULL if self._rejects(pod, node) else None

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        wish = wish_of(pod)
        if not wish:
            return None
        return NodeVerdicts.reject_where(
            self.most_left.of(nodes)[rows][:, 0] < wish, FULL
        )

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return min(100, max(0, *self._free(node), 0))

    def _choose(self, state: CycleState, pod: Pod, node_name: str) -> str | None:
        node = self.handle.snapshot.get(node_name)
        assert node is not None
        # The pod is assumed there, maybe with an annotation that its user wrote.
        others = node.clone()
        others.remove_pod(pod)
        for number, left in enumerate(self._free(others)):
            if left >= wish_of(pod):
                return str(number)
        return None

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        if not wish_of(pod):
            return None
        device = self._choose(state, pod, node_name)
        if device is None:
            return FULL
        state.annotate(DEVICE, device)
        return None

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        return None


class WritesToNodes(Gpus):
    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        node.requested.milli_cpu += 1
        return super().filter(pod, node)


class CountsInFilter(Gpus):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.calls: dict[str, int] = {}

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        self.calls[node.name] = self.calls.get(node.name, 0) + 1
        return FULL if self.calls[node.name] > 3 else super().filter(pod, node)


class TwinWithGreater(Gpus):
    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        wish = wish_of(pod)
        codes = [
            bool(wish) and not any(part > wish for part in self._free(info))
            for info in nodes.infos_at(rows)
        ]
        return NodeVerdicts.reject_where(np.array(codes, dtype=np.bool_), FULL)


class ForgetsThatPodsGo(Gpus):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_ANNOTATION
        return [on_node(updates), on_pod(Change.UPDATE)]


class ForgetsAnnotations(Gpus):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_ANNOTATION
        return [on_node(updates), on_pod(Change.DELETE | Change.UPDATE_POD_LABEL)]


class ForgetsTheAnnotationsOfTheWaiting(Gpus):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_ANNOTATION
        return [on_node(updates), on_pod.assigned(Change.DELETE | Change.UPDATE)]


class ForgetsTheAnnotationsOfTheRunning(Gpus):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_ANNOTATION
        return [on_node(updates), on_pod(Change.DELETE | Change.UPDATE, after_pod)]


class LeaksInUnreserve(Gpus):
    scope = Scope.CLUSTER

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.taken: dict[str, str] = {}

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self.taken[pod.uid] = node_name
        return super().reserve(state, pod, node_name)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 50 if node.name in self.taken.values() else super().score(node)


class ScoresByTheWallClock(Gpus):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return time.time_ns() % 100


class ScoresByTheClock(Gpus):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(self.handle.clock.now() // 60) % 100


class FiltersByTheClock(Gpus):
    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_late = self.handle.clock.now() % 100 > 50
        return FULL if is_late else super().filter(pod, node)

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        if self.handle.clock.now() % 100 > 50:
            everything = np.ones(nodes.count(rows), dtype=np.bool_)
            return NodeVerdicts.reject_where(everything, FULL)
        return super().filter_nodes(pod, nodes, rows)


class PrefersAnAnnotatedDevice(Gpus):
    def _choose(self, state: CycleState, pod: Pod, node_name: str) -> str | None:
        return pod.annotations.get(DEVICE) or super()._choose(state, pod, node_name)


class KeepsChoicesInMemory(Gpus):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.devices: dict[str, str] = {}

    def _free(self, node: NodeInfo) -> list[int]:
        left = super()._free(node)
        for pod in node.pods.values():
            device = self.devices.get(pod.uid)
            if device is not None and int(device) < len(left):
                left[int(device)] -= wish_of(pod)
        return left

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        if not wish_of(pod):
            return None
        device = self._choose(state, pod, node_name)
        if device is None:
            return FULL
        self.devices[pod.uid] = device
        state.annotate("gpu/seen", "yes")
        return None

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.devices.pop(pod.uid, None)


GPU_MISTAKES: Sequence[Mistake] = (
    Mistake(PrefersAnAnnotatedDevice, ["choices"], OWN),
    Mistake(WritesToNodes, ["purity"], OWN),
    Mistake(CountsInFilter, ["determinism"], OWN),
    Mistake(TwinWithGreater, ["twin"], OWN),
    Mistake(ForgetsThatPodsGo, ["events"], OWN),
    Mistake(ForgetsAnnotations, ["events"], OWN),
    Mistake(ForgetsTheAnnotationsOfTheWaiting, ["events"], OWN),
    Mistake(ForgetsTheAnnotationsOfTheRunning, ["events"], OWN),
    Mistake(LeaksInUnreserve, ["unreserve"], OWN),
    Mistake(ScoresByTheWallClock, ["determinism"], OWN),
    Mistake(ScoresByTheClock, ["time"], OWN),
    Mistake(FiltersByTheClock, ["time"], OWN),
    Mistake(KeepsChoicesInMemory, ["choices", "memory"], OWN),
)
