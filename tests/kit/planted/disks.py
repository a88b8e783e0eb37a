"""A plugin that shares the speed of disks among pods, and mistakes in it."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from quaymaster import (
    MAX_NODE_SCORE,
    Change,
    ClusterEventWithHint,
    Int64Array,
    NodeInfo,
    Pod,
    Scope,
    Status,
    default_normalize,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["DISK_MISTAKES", "OWN", "Disks"]

SPEED = "example.com/disk-speed"
BUSY = Status.unschedulable("node(s) had a busy disk")


class Disks(Plugin):
    """Correct: a node has a speed, of which each pod takes a part."""

    scope = Scope.NODE
    reads = ()

    def number(self, annotations: Mapping[str, str]) -> int:
        """Read the annotation."""
        text = annotations.get(SPEED, "")
        return int(text) if text.isdecimal() and len(text) < 9 else 0

    def left(self, pod: Pod, node: NodeInfo) -> int:
        """Return what a node has left with the pod."""
        used = sum(self.number(other.annotations) for other in node.pods.values())
        return self.number(node.node.annotations) - used - self.number(pod.annotations)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return self.number(pod.annotations)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_busy = self.number(pod.annotations) and self.left(pod, node) < 0
        return BUSY if is_busy else None

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        return max(self.left(pod, node), 0)

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_ANNOTATION),
            on_pod(Change.DELETE | Change.UPDATE),
        ]


class SignsHundreds(Disks):
    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return -(-self.number(pod.annotations) // 100)


class SignsThatItNeedsSomething(Disks):
    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return self.number(pod.annotations) > 0


class DividesByTheHighest(Disks):
    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        normalized: Int64Array = MAX_NODE_SCORE * scores // scores.max()
        return normalized


class DividesByTheRange(Disks):
    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        least = scores.min()
        shares = (scores - least) / (scores.max() - least)
        normalized: Int64Array = np.nan_to_num(shares * MAX_NODE_SCORE).astype(np.int64)
        return normalized


class DividesByTheSpeed(Disks):
    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        if SPEED not in node.node.annotations:
            return 0
        return super().score(pod, node) * 10 // self.number(node.node.annotations)


class TestsDigits(Disks):
    def number(self, annotations: Mapping[str, str]) -> int:
        text = annotations.get(SPEED, "")
        return int(text) if text.isdigit() and len(text) < 9 else 0


class ReadsNumbersOfAnyLength(Disks):
    def number(self, annotations: Mapping[str, str]) -> int:
        text = annotations.get(SPEED, "")
        return min(int(text), 10_000) if text.isdecimal() else 0


OWN = clusters(
    nodes=nodes(*({"annotations": {SPEED: text}} for text in ("500", "1000", "fast"))),
    pods=pods(*({"annotations": {SPEED: text}} for text in ("300", "600", "0"))),
)
DISK_MISTAKES: Sequence[Mistake] = (
    Mistake(SignsHundreds, ["signature"], OWN),
    Mistake(SignsThatItNeedsSomething, ["signature"], OWN),
    Mistake(DividesByTheHighest, ["score range"], OWN),
    Mistake(DividesByTheRange, ["score range"], OWN),
    Mistake(DividesByTheSpeed, ["score range"], OWN),
    Mistake(TestsDigits, ["failures"], OWN),
    Mistake(ReadsNumbersOfAnyLength, ["failures"], OWN),
)
