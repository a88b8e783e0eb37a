"""The JSON that the serving side of the extender protocol reads and writes.

Mirrors k8s.io/kube-scheduler v0.36, ``extender/v1/types.go``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec

from quaymaster._extenders.wire import (
    FilterAnswer,
    WireError,
    decoded,
    fields_of,
    list_of,
    text_of,
)
from quaymaster.objects import Node, Pod, from_wire

__all__ = [
    "NodesRequest",
    "filter_answer",
    "filter_error",
    "read_nodes_request",
    "scores_answer",
]


@attrs.frozen(kw_only=True)
class NodesRequest:
    """What a scheduler asks (``ExtenderArgs``).

    Attributes:
        pod: The pod to be scheduled.
        names: The nodes in question.
        nodes: The same in full; None if the scheduler sends names only.
        trees: Node name -> the node as it came, with all that is not understood here.
    """

    pod: Pod
    names: Sequence[str]
    nodes: Sequence[Node] | None = None
    trees: Mapping[str, object] = {}


def read_nodes_request(body: bytes) -> NodesRequest:
    """Read a request.

    Raises:
        WireError: It is something else.
        ObjectError: The pod or a node is wrong.
    """
    fields = fields_of(decoded(body), "the request")
    if fields.get("pod") is None:
        raise WireError("Pod: expected a pod, got none")
    pod = from_wire(fields["pod"], Pod)
    if fields.get("nodes") is None:
        given = list_of(fields.get("nodenames"), "NodeNames")
        return NodesRequest(
            pod=pod, names=[text_of(name, "NodeNames[]") for name in given]
        )
    trees = list_of(fields_of(fields["nodes"], "Nodes").get("items"), "Nodes.items")
    nodes = [from_wire(tree, Node) for tree in trees]
    names = [node.metadata.name for node in nodes]
    if not all(names):
        raise WireError("Nodes.items[].metadata.name: expected a name, got none")
    return NodesRequest(
        pod=pod, names=names, nodes=nodes, trees=dict(zip(names, trees, strict=True))
    )


def filter_answer(request: NodesRequest, answer: FilterAnswer) -> bytes:
    """Write what filter found, in the form in which the scheduler asked."""
    items: Mapping[str, Any] | None = None
    if request.nodes is not None:
        trees = [request.trees[name] for name in answer.passed]
        items = {"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": trees}
    return msgspec.json.encode(
        {
            "Nodes": items,
            "NodeNames": answer.passed if items is None else None,
            "FailedNodes": answer.failed,
            "FailedAndUnresolvableNodes": answer.unresolvable,
            "Error": answer.error,
        }
    )


def filter_error(problem: str) -> bytes:
    """Write why there is no answer."""
    return msgspec.json.encode({"Error": problem})


def scores_answer(scores: Sequence[tuple[str, int]]) -> bytes:
    """Write what prioritize found (``HostPriorityList``)."""
    return msgspec.json.encode(
        [{"Host": name, "Score": score} for name, score in scores]
    )
