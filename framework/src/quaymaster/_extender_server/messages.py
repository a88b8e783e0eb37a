"""The JSON that the serving side of the extender protocol reads and writes.

Mirrors k8s.io/kube-scheduler v0.36, ``extender/v1/types.go``.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._extender_server.node_lists import read_known_nodes
from quaymaster._extenders.node_texts import KnownNode, NodeTexts
from quaymaster._extenders.wire import (
    NULL,
    FilterAnswer,
    WireError,
    decoded,
    list_of,
    raw_fields_of,
    raw_list_of,
    text_of,
)
from quaymaster.objects import Pod, decode

__all__ = [
    "NodesRequest",
    "filter_answer",
    "filter_error",
    "read_nodes_request",
    "scores_answer",
]


_NODES: Final = b'{"Nodes":{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":['


@attrs.frozen(kw_only=True)
class NodesRequest:
    """What a scheduler asks (``ExtenderArgs``).

    Attributes:
        pod: The pod to be scheduled.
        names: The nodes in question.
        nodes: The same in full, each with the text that it came as; None if the
            scheduler sends names only.
    """

    pod: Pod
    names: Sequence[str]
    nodes: Sequence[KnownNode] | None = None


class _HostPriority(msgspec.Struct, gc=False):
    host: str = msgspec.field(name="Host")
    score: int = msgspec.field(name="Score")


def read_nodes_request(body: bytes | bytearray, texts: NodeTexts) -> NodesRequest:
    """Read a request.

    Args:
        body: The request.
        texts: The nodes of earlier requests.

    Raises:
        WireError: It is something else.
        ObjectError: The pod or a node is wrong.
    """
    read = read_known_nodes(body, texts)
    if read is not None:
        return _with_nodes(decode(read.pod, Pod), read.nodes)
    fields = raw_fields_of(body, "the request")
    pod_text = fields.get("pod", NULL)
    if pod_text == NULL:
        raise WireError("Pod: expected a pod, got none")
    pod = decode(pod_text, Pod)
    nodes = fields.get("nodes", NULL)
    if nodes == NULL:
        given = list_of(decoded(fields.get("nodenames", NULL)), "NodeNames")
        return NodesRequest(
            pod=pod, names=[text_of(name, "NodeNames[]") for name in given]
        )
    items = raw_fields_of(nodes, "Nodes").get("items", NULL)
    return _with_nodes(pod, texts.read(raw_list_of(items, "Nodes.items")))


def filter_answer(request: NodesRequest, answer: FilterAnswer) -> Sequence[bytes]:
    """Write what filter found, in the form in which the scheduler asked.

    Returns:
        The answer in parts; whole nodes are the very texts that came.
    """
    nodes = request.nodes
    rest = msgspec.json.encode(
        {
            "NodeNames": answer.passed if nodes is None else None,
            "FailedNodes": answer.failed,
            "FailedAndUnresolvableNodes": answer.unresolvable,
            "Error": answer.error,
        }
    )
    if nodes is None:
        return [b'{"Nodes":null,', rest[1:]]
    if len(answer.passed) < len(nodes):
        passed = set(answer.passed)
        nodes = [one for one in nodes if one.name in passed]
    parts = [_NODES, b""]
    for one in nodes:
        parts += (one.text, b",")
    parts[-1] = b"]},"
    return [*parts, rest[1:]]


def filter_error(problem: str) -> bytes:
    """Write why there is no answer."""
    return msgspec.json.encode({"Error": problem})


def scores_answer(scores: Sequence[tuple[str, int]]) -> bytes:
    """Write what prioritize found (``HostPriorityList``)."""
    return msgspec.json.encode([_HostPriority(*score) for score in scores])


def _with_nodes(pod: Pod, known: Sequence[KnownNode]) -> NodesRequest:
    names = [one.name for one in known]
    if "" in names:
        raise WireError("Nodes.items[].metadata.name: expected a name, got none")
    return NodesRequest(pod=pod, names=names, nodes=known)
