"""Requests as kube-scheduler writes them, read by what is known of their nodes.

A request with thousands of nodes is megabytes of JSON, of which next to nothing has
changed since the last one. To parse it takes many times as long as to compare it, node
by node, with the texts of nodes that have been decoded before.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._extenders.node_texts import NAME_FIRST, KnownNode, NodeTexts
from quaymaster.errors import ObjectError

__all__ = ["ReadNodes", "read_known_nodes"]

_LIST: Final = b',"Nodes":{"metadata":{},"items":['
_END: Final = b']},"NodeNames":null}'
_NEXT: Final = b"," + NAME_FIRST
_COMMA: Final = ord(",")


@attrs.frozen
class ReadNodes:
    """A request that was read.

    Attributes:
        pod: The text of the pod.
        nodes: The nodes.
    """

    pod: msgspec.Raw
    nodes: Sequence[KnownNode]


class _Head(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    pod: msgspec.Raw = msgspec.field(name="Pod")


def read_known_nodes(body: bytes | bytearray, texts: NodeTexts) -> ReadNodes | None:
    """Read a request with whole nodes, if it has the form that Go gives it.

    No part of it goes unread: what is neither the pod nor a node is compared with what
    has to be there, so this finds what a parser would find.

    Args:
        body: The request.
        texts: The nodes of earlier requests.

    Returns:
        The pod and the nodes; None if it has another form, or is wrong: then it needs
        to be parsed.
    """
    start = body.find(_LIST)
    end = len(body) - len(_END)
    if start < 0 or not body.startswith(_END, end):
        return None
    try:
        head = msgspec.json.decode(body[:start] + b"}", type=_Head)
        nodes = _walk(body, start + len(_LIST), end, texts)
    except (msgspec.DecodeError, ObjectError):
        return None
    if nodes is None:
        return None
    return ReadNodes(head.pod, nodes)


def _walk(
    body: bytes | bytearray, at: int, end: int, texts: NodeTexts
) -> Sequence[KnownNode] | None:
    """The nodes between two places; None if anything else is there."""
    number, found = texts.begin(), []
    startswith = body.startswith
    known: KnownNode | None = None
    while True:
        expected = None if known is None else known.successor
        if expected is not None and startswith(expected.text, at):
            known = expected
        else:
            one = _look_up(body, at, end, texts)
            if one is None:
                return None
            if known is not None:
                known.successor = one
            known = one
        known.read = number
        found.append(known)
        at += len(known.text)
        if at == end:
            return found
        if body[at] != _COMMA:
            return None
        at += 1


def _look_up(
    body: bytes | bytearray, at: int, end: int, texts: NodeTexts
) -> KnownNode | None:
    """The node at a place, by its name; decoded if it has changed."""
    if not body.startswith(NAME_FIRST, at):
        return None
    start = at + len(NAME_FIRST)
    name = bytes(body[start : body.find(b'"', start)])
    known = texts.get(name)
    if known is not None and body.startswith(known.text, at):
        return known
    after = body.find(_NEXT, at, end)
    return texts.learn(name, bytes(body[at : end if after < 0 else after]))
