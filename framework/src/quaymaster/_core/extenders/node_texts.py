"""Decodes the JSON of nodes; the same text is decoded only once."""

from collections.abc import Iterable
from typing import Final

import msgspec

from quaymaster._api.objects import Node, decode

__all__ = ["MOST_BYTES", "NAME_FIRST", "KnownNode", "NodeTexts"]

NAME_FIRST: Final = b'{"metadata":{"name":"'
"""The beginning of a node's text from kube-scheduler: Go writes fields in order."""

# Chosen, not measured: removing nodes takes a loop over all of them, whose cost does
# not matter once in this many reads.
_READS_TO_FORGET: Final = 4096
MOST_BYTES: Final = 1 << 29
"""The most bytes of texts of nodes that are kept: twice the largest request."""


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Named(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class KnownNode:
    """A node with its text.

    Attributes:
        name: The node's name.
        text: The node's JSON.
        node: The decoded node.
        read: The number of the last reading that it was part of.
        successor: The next node in that reading, which is likely to be next again.
    """

    __slots__ = ("name", "node", "read", "successor", "text")

    def __init__(self, text: bytes, node: Node) -> None:
        self.read = 0
        self.successor: KnownNode | None = None
        self.name = node.metadata.name
        self.text = text
        self.node = node


class NodeTexts:
    """Decodes nodes; a node whose text has not changed stays the same object.

    The whole text is compared, so a node that was changed without a new
    ``resourceVersion`` is decoded again. A node that is no longer sent is removed
    later.

    Attributes:
        get: Returns the last node with a name, or None; its text may be stale.
    """

    def __init__(self) -> None:
        self._nodes: dict[bytes, KnownNode] = {}
        self._reads = 0
        self._bytes = 0  # of the texts since the last removal
        # The method of the dict itself, which the server of extenders calls for each
        # node of a request.
        self.get = self._nodes.get

    def read(self, texts: Iterable[msgspec.Raw]) -> list[KnownNode]:
        """Read nodes from texts of any form.

        Raises:
            ObjectError: A node is not valid.
            msgspec.DecodeError: A text is not JSON, or not an object with a name.
        """
        number = self.begin()
        nodes = [self._read(bytes(text)) for text in texts]
        for node in nodes:
            node.read = number
        return nodes

    def begin(self) -> int:
        """Count a reading, and from time to time remove nodes that are no longer sent.

        Returns:
            The number of the reading, for the `read` of each node that is part of it.
        """
        self._reads += 1
        if self._bytes > MOST_BYTES:
            self._forget(self._reads - 1)
        elif self._reads % _READS_TO_FORGET == 0:
            self._forget(self._reads - _READS_TO_FORGET)
        return self._reads

    def _forget(self, oldest: int) -> None:
        """Remove nodes that were not sent since a reading."""
        for name in [name for name, node in self._nodes.items() if node.read < oldest]:
            # Nodes in a ring of successors would keep each other alive until the next
            # run of the collector.
            self._nodes.pop(name).successor = None
        self._bytes = sum(len(node.text) for node in self._nodes.values())

    def learn(self, name: bytes, text: bytes) -> KnownNode:
        """Decode a node, and store it under a name.

        If it equals the earlier node (only a heartbeat was written), it stays the same
        object.

        Raises:
            ObjectError: The node is not valid.
            msgspec.DecodeError: The text is not JSON.
        """
        node, before = decode(text, Node), self._nodes.get(name)
        # The same object again, so that caches that compare nodes by identity stay
        # valid after a heartbeat.
        if before is not None and before.node == node:
            node = before.node
        entry = self._nodes[name] = KnownNode(text, node)
        entry.read = self._reads
        self._bytes += len(text)
        return entry

    def _read(self, text: bytes) -> KnownNode:
        name = _name_in(text)
        entry = self._nodes.get(name)
        if entry is not None and entry.text == text:
            return entry
        return self.learn(name, text)


def _name_in(text: bytes) -> bytes:
    """Return the name in a node's text, if possible without decoding all of it."""
    if text.startswith(NAME_FIRST):
        start = len(NAME_FIRST)
        return text[start : text.find(b'"', start)]
    return msgspec.json.decode(text, type=_Named).metadata.name.encode()
