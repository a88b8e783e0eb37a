"""A plugin whose arguments name labels, and hooks that do not read an argument."""

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

import attrs
import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    Pod,
    PodUse,
    QueuedPodInfo,
    QueueingHint,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake

__all__ = ["CRATE_MISTAKES", "OWN", "Crates", "QuickCrates"]

SIZE, URGENT = "example.com/crate-size", "example.com/urgent"
SMALL = Status.unresolvable("node(s) had too little space for the crate")


@attrs.frozen(kw_only=True)
class CratesArgs:
    """The settings of crates.

    Attributes:
        size_label: The label of pods and nodes with a size.
        urgent_annotations: Pods with one of these annotations come first.
    """

    size_label: str = SIZE
    urgent_annotations: Sequence[str] = (URGENT,)


def _number(text: str) -> int:
    return int(text) if text in ("1", "2", "3") else 0


def _number_of(text: str | None) -> int:
    return _number(text or "")


class Crates:
    """Correct: a node needs space for the crate of a pod."""

    Args: ClassVar[type] = CratesArgs
    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: CratesArgs, handle: Handle) -> None:
        self.args = args

    def size(self, labels: Mapping[str, str]) -> int:
        """Return the size that a label gives."""
        return _number(labels.get(self.args.size_label, ""))

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[bool, float]:
        return not self.is_urgent(queued.pod), queued.timestamp

    def is_urgent(self, pod: Pod) -> bool:
        """Return whether a pod comes first."""
        return any(key in pod.annotations for key in self.args.urgent_annotations)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return self.size(pod.labels)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        updates = Change.ADD | Change.UPDATE_NODE_LABEL
        return [
            on_node(updates, self.after_node),
            on_pod.target(Change.UPDATE_POD_LABEL),
        ]

    def after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        """Wake a pod for which a node has space now."""
        has_space = self.size(new.metadata.labels) >= self.size(pod.labels)
        return QueueingHint.QUEUE if has_space else QueueingHint.SKIP

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return SMALL if self.size(node.labels) < self.size(pod.labels) else None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 - 10 * self.size(node.labels)


class SignsTheDefaultLabel(Crates):
    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return _number(pod.labels.get(SIZE, ""))


class SignsByTheClassDefault(Crates):
    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return _number(pod.labels.get(CratesArgs().size_label, ""))


class FiltersByTheDefaultLabel(Crates):
    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        own = _number(node.labels.get(SIZE, ""))
        return SMALL if own < self.size(pod.labels) else None


class ScoresByTheDefaultLabel(Crates):
    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 - 10 * _number(node.labels.get(SIZE, ""))


class SortsByTheDefaultAnnotation(Crates):
    def is_urgent(self, pod: Pod) -> bool:
        return URGENT in pod.annotations


class WakesByTheDefaultLabel(Crates):
    def after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        has_space = _number(new.metadata.labels.get(SIZE, "")) >= self.size(pod.labels)
        return QueueingHint.QUEUE if has_space else QueueingHint.SKIP


class QuickCrates(Crates):
    """Correct: with a twin."""

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        sizes = nodes.label(self.label).map(_number_of, rows)
        return np.asarray(100 - 10 * sizes)

    @property
    def label(self) -> str:
        """The label of sizes."""
        return self.args.size_label


class ScoresAllByTheDefaultLabel(QuickCrates):
    @property
    def label(self) -> str:
        return SIZE


SIZES = [{"labels": {SIZE: size}} for size in ("1", "2")]
OWN = clusters(nodes=nodes(*SIZES), pods=pods(*SIZES, {"annotations": {URGENT: "yes"}}))
CRATE_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["renaming"], OWN)
    for plugin in (
        SignsTheDefaultLabel,
        SignsByTheClassDefault,
        FiltersByTheDefaultLabel,
        ScoresByTheDefaultLabel,
        SortsByTheDefaultAnnotation,
        WakesByTheDefaultLabel,
        ScoresAllByTheDefaultLabel,
    )
)
