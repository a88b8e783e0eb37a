"""Requests as kube-scheduler writes them, read by what is known of their nodes.

A request with thousands of nodes is megabytes of JSON, of which next to nothing has
changed since the last one. To parse it takes many times as long as to compare it: as a
whole with the last list of nodes, since prioritize follows filter with the nodes that
filter left, or else node by node with the texts that have been decoded before.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs
import msgspec

from quaymaster._errors import ObjectError
from quaymaster._extender_server.bodies import Body
from quaymaster._extenders.node_texts import NAME_FIRST, KnownNode, NodeTexts

__all__ = ["NodeList", "NodeLists", "ReadNodes"]

_LIST: Final = b',"Nodes":{"metadata":{},"items":['
_END: Final = b']},"NodeNames":null}'
_NEXT: Final = b"," + NAME_FIRST
_COMMA: Final = ord(",")


class NodeList:
    """Nodes of a request.

    Args:
        nodes: The nodes.

    Attributes:
        nodes: The nodes.
    """

    def __init__(self, nodes: Sequence[KnownNode]) -> None:
        self.nodes = nodes

    @cached_property
    def names(self) -> Sequence[str]:
        """Their names."""
        return [one.name for one in self.nodes]

    @cached_property
    def texts(self) -> Sequence[bytes]:
        """The JSON that they came as, in parts, with commas between any two nodes."""
        parts: list[bytes] = []
        for one in self.nodes:
            parts += (one.text, b",")
        return parts[:-1]


@attrs.frozen
class ReadNodes:
    """A request that was read.

    Attributes:
        pod: The text of the pod.
        nodes: The nodes.
    """

    pod: msgspec.Raw
    nodes: NodeList


class _Head(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    pod: msgspec.Raw = msgspec.field(name="Pod")


@attrs.frozen(eq=False)
class _Latest:
    """The last list that was read node by node, and where its text is.

    Attributes:
        body: The request.
        text: The part of it between the brackets of the list.
        nodes: What it means.
    """

    body: Body
    text: memoryview
    nodes: NodeList


class NodeLists:
    """What is known of nodes and of lists of them, to read requests by.

    Attributes:
        texts: The nodes of earlier requests.
    """

    def __init__(self) -> None:
        self.texts = NodeTexts()
        self._latest: _Latest | None = None
        self._spare: bytearray | None = None

    def read(self, body: Body) -> ReadNodes | None:
        """Read a request with whole nodes, if it has the form that Go gives it.

        No part of it goes unread: what is neither the pod nor a node is compared with
        what has to be there, so this finds what a parser would find.

        Args:
            body: The request. Its buffer must be left alone until `release` gives it
                back.

        Returns:
            The pod and the nodes; None if it has another form, or is wrong: then it
            needs to be parsed.
        """
        buffer = body.buffer
        start = buffer.find(_LIST, 0, body.length)
        end = body.length - len(_END)
        if start < 0 or not buffer.startswith(_END, end):
            return None
        try:
            head = msgspec.json.decode(buffer[:start] + b"}", type=_Head)
            nodes = self._read_list(body, start + len(_LIST), end)
        except (msgspec.DecodeError, ObjectError):
            return None
        return None if nodes is None else ReadNodes(head.pod, nodes)

    def release(self, body: Body) -> bytearray | None:
        """Be done with a request that was read.

        Returns:
            A buffer that is free now. That is the request's own, unless the next one
            is to be compared with it: then what was compared with before, if anything.
        """
        if self._latest is None or self._latest.body is not body:
            return body.buffer
        spare, self._spare = self._spare, None
        return spare

    def _read_list(self, body: Body, at: int, end: int) -> NodeList | None:
        latest, buffer = self._latest, body.buffer
        if (
            latest is not None
            and end - at == len(latest.text)
            and buffer.startswith(latest.text, at)
        ):
            return latest.nodes
        found = _walk(buffer, at, end, self.texts)
        if found is None:
            return None
        nodes = NodeList(found)
        self._spare = None if latest is None else latest.body.buffer
        self._latest = _Latest(body, body.text[at:end], nodes)
        return nodes


def _walk(
    buffer: bytearray, at: int, end: int, texts: NodeTexts
) -> Sequence[KnownNode] | None:
    """The nodes between two places; None if anything else is there."""
    number, found = texts.begin(), []
    startswith = buffer.startswith
    known: KnownNode | None = None
    while True:
        expected = None if known is None else known.successor
        if expected is not None and startswith(expected.text, at):
            known = expected
        else:
            one = _look_up(buffer, at, end, texts)
            if one is None:
                return None
            if known is not None:
                known.successor = one
            known = one
        known.read = number
        found.append(known)
        at += len(known.text)
        if at >= end:  # beyond is what an earlier request has left in the buffer
            return found if at == end else None
        if buffer[at] != _COMMA:
            return None
        at += 1


def _look_up(
    buffer: bytearray, at: int, end: int, texts: NodeTexts
) -> KnownNode | None:
    """The node at a place, by its name; decoded if it has changed."""
    if not buffer.startswith(NAME_FIRST, at):
        return None
    start = at + len(NAME_FIRST)
    name = bytes(buffer[start : buffer.find(b'"', start)])
    known = texts.get(name)
    if known is not None and buffer.startswith(known.text, at):
        return known
    after = buffer.find(_NEXT, at, end)
    return texts.learn(name, bytes(buffer[at : end if after < 0 else after]))
