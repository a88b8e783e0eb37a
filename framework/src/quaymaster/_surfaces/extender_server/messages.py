"""Reads requests of the extender protocol, and writes answers, as JSON.

Mirrors k8s.io/kube-scheduler v0.36, ``extender/v1/types.go``.
"""

import itertools
from collections.abc import Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import Pod, SpecPool, decode
from quaymaster._core.extenders.wire import (
    NULL,
    FilterAnswer,
    WireError,
    decoded,
    list_of,
    raw_fields_of,
    raw_list_of,
    text_of,
    within_depth,
)
from quaymaster._surfaces.extender_server.bodies import Body, Part
from quaymaster._surfaces.extender_server.node_lists import (
    NodeList,
    NodeLists,
    ReadNodes,
)

__all__ = [
    "NodesRequest",
    "RequestReader",
    "filter_answer",
    "filter_error",
    "scores_answer",
]


_NODES: Final = b'{"Nodes":{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":['
_NAMES: Final = msgspec.json.Decoder(list[str])


@attrs.frozen(kw_only=True)
class NodesRequest:
    """A scheduler's request (``ExtenderArgs``).

    Attributes:
        pod: The pod to be scheduled.
        names: The names of the nodes.
        nodes: The nodes themselves, each with its text; None if the scheduler sends
            names only.
    """

    pod: Pod
    names: Sequence[str]
    nodes: NodeList | None = None


class _HostPriority(msgspec.Struct, gc=False):
    host: str = msgspec.field(name="Host")
    score: int = msgspec.field(name="Score")


class RequestReader:
    """Reads requests, by comparison with earlier ones.

    Pods of one template share their spec, and so the values that plugins cache for it.

    Attributes:
        lists: The nodes of earlier requests.
    """

    def __init__(self) -> None:
        self.lists = NodeLists()
        self._pool = SpecPool()

    def read(self, body: Body | ReadNodes) -> NodesRequest:
        """Read a request.

        Args:
            body: The request, or its contents if they were read before.

        Raises:
            WireError: The text is not a request.
            ObjectError: The pod or a node is invalid.
        """
        with within_depth("the request"):
            request = body if isinstance(body, ReadNodes) else self.lists.read(body)
            if request is not None:
                return _with_nodes(self._pod(request.pod), request.nodes)
            assert isinstance(body, Body)
            return self._parse(body.text)

    def _parse(self, text: memoryview) -> NodesRequest:
        fields = raw_fields_of(text, "the request")
        pod_text = fields.get("pod", NULL)
        if pod_text == NULL:
            raise WireError("Pod: expected a pod, got none")
        pod, nodes = self._pod(pod_text), fields.get("nodes", NULL)
        if nodes == NULL:
            return NodesRequest(pod=pod, names=_names(fields.get("nodenames", NULL)))
        items = raw_fields_of(nodes, "Nodes").get("items", NULL)
        listed = self.lists.texts.read(raw_list_of(items, "Nodes.items"))
        return _with_nodes(pod, NodeList(listed))

    def _pod(self, text: msgspec.Raw) -> Pod:
        return decode(text, Pod, pool=self._pool)


def filter_answer(request: NodesRequest, answer: FilterAnswer) -> Sequence[Part]:
    """Write the response of filter, with nodes or names as in the request.

    Returns:
        The response in parts; nodes have the same text as in the request.
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
    if len(answer.passed) < len(nodes.nodes):
        passed = set(answer.passed)
        nodes = NodeList([node for node in nodes.nodes if node.name in passed])
    return [_NODES, *nodes.texts, b"]},", rest[1:]]


def filter_error(problem: str) -> bytes:
    """Write an error response."""
    return msgspec.json.encode({"Error": problem})


def scores_answer(scores: Sequence[tuple[str, int]]) -> bytes:
    """Write the response of prioritize (``HostPriorityList``)."""
    return msgspec.json.encode(list(itertools.starmap(_HostPriority, scores)))


def _names(text: msgspec.Raw) -> Sequence[str]:
    try:
        return _NAMES.decode(text)
    except msgspec.ValidationError:  # something is null, or wrong
        names = list_of(decoded(text), "NodeNames")
        return [text_of(name, "NodeNames[]") for name in names]


def _with_nodes(pod: Pod, nodes: NodeList) -> NodesRequest:
    return NodesRequest(pod=pod, names=nodes.names, nodes=nodes)
