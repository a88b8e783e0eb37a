"""Chooses the objects of a first cluster, before it is made smaller."""

from collections.abc import Sequence

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._core.engine.attempts import Attempt

__all__ = ["cluster_of", "useful_nodes"]


def useful_nodes(attempt: Attempt) -> set[str]:
    """Return the most useful nodes: the best two, and one for each reason."""
    nodes = {attempt.node, attempt.nominated_node}
    explanation = attempt.explanation
    if explanation is not None:
        nodes |= {score.node for score in explanation.scores[:2]}
        first: dict[tuple[str, tuple[str, ...]], str] = {}
        for rejection in explanation.rejections:
            first.setdefault((rejection.plugin, rejection.reasons), rejection.node)
        nodes |= set(first.values())
    return nodes


def cluster_of(
    objects: Sequence[ApiObject], key: str, nodes: set[str] | None
) -> list[ApiObject]:
    """Return the pod, the nodes with their pods, and all other objects."""
    kept = []
    for obj in objects:
        node = ""
        if isinstance(obj, Pod):
            node = obj.node_name
            if obj.key != key and (not node or obj.is_finished):
                continue
        elif isinstance(obj, Node):
            node = obj.name
        if not node or nodes is None or node in nodes:
            kept.append(obj)
    return kept
