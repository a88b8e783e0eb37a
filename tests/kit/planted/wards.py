"""A plugin that counts the failed pods of nodes, and mistakes in it."""

from collections import Counter
from collections.abc import Hashable, Sequence

from hypothesis import strategies as st

from quaymaster import (
    Handle,
    Int64Array,
    NodeInfo,
    Pod,
    PodUse,
    Scope,
    default_normalize,
    hookimpl,
)
from quaymaster.testing import clusters, make_pod
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "WARD_MISTAKES", "Wards"]


class Wards(Plugin):
    """Correct: prefers nodes with few failed pods."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.failed: dict[str, str] = {}
        handle.informers.on_change(Pod, self.learn)

    def learn(self, old: Pod | None, new: Pod | None) -> None:
        """Read a change of a pod."""
        if old is not None and self.failed.pop(self.name_of(old), ""):
            self.left(old.node_name)
        if new is not None and new.status.phase == "Failed" and new.node_name:
            self.failed[self.name_of(new)] = new.node_name
            self.came(new.node_name)

    def name_of(self, pod: Pod) -> str:
        """Return the key of a pod."""
        return pod.uid

    def count(self, node_name: str) -> int:
        """Return how many pods have failed on a node."""
        return Counter(self.failed.values())[node_name]

    def came(self, node_name: str) -> None:
        """Report a further failed pod."""
        self.handle.changed(nodes=[node_name], requeue=False)

    def left(self, node_name: str) -> None:
        """Report that a failed pod has left."""
        self.handle.changed(nodes=[node_name], requeue=False)

    @hookimpl
    def sign_pod(self) -> Hashable:
        return ""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self.count(node.name)

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores, reverse=True)


class ReportsTheFirstOnly(Wards):
    def came(self, node_name: str) -> None:
        if self.count(node_name) == 1:
            super().came(node_name)


class ReportsTheLastToLeaveOnly(Wards):
    def left(self, node_name: str) -> None:
        if not self.count(node_name):
            super().left(node_name)


class KnowsPodsByName(Wards):
    def name_of(self, pod: Pod) -> str:
        return pod.name


_FAILED = st.builds(
    make_pod,
    name=st.sampled_from(["f0", "f1"]),
    node=st.sampled_from(["n0", "n1"]),
    phase=st.just("Failed"),
)
OWN = clusters(objects=_FAILED)
WARD_MISTAKES: Sequence[Mistake] = (
    Mistake(ReportsTheFirstOnly, ["object changes"], OWN),
    Mistake(ReportsTheLastToLeaveOnly, ["object changes"], OWN),
    Mistake(KnowsPodsByName, ["object changes"], OWN),
)
