"""Decodes the JSON of nodes; the same text is decoded only once."""

from collections.abc import Iterable
from typing import Final

import msgspec

from quaymaster._api.objects import Node, decode

__all__ = ["NAME_FIRST", "KnownNode", "NodeTexts"]

NAME_FIRST: Final = b'{"metadata":{"name":"'
"""The beginning of a node's text from kube-scheduler: Go writes fields in order."""

# Chosen, not measured: to forget takes a walk over all nodes, and one walk in this many
# reads does not show.
_READS_TO_FORGET: Final = 4096


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Named(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class KnownNode:
    """A node with its text.

    Attributes:
        name: The node's name.
        text: The JSON that it came as.
        node: The node that the text describes.
        read: The number of the last reading that it was part of.
        successor: The node that came after it then, which is likely to come next again.
    """

    __slots__ = ("name", "node", "read", "successor", "text")

    def __init__(self, text: bytes, node: Node) -> None:
        self.read = 0
        self.successor: KnownNode | None = None
        self.name = node.metadata.name
        self.text = text
        self.node = node


class NodeTexts:
    """Decodes nodes; a node whose text is the same as last time is the same object.

    The whole text is compared, so a node that was changed without a new
    ``resourceVersion`` is decoded again. A node that is not sent any more is forgotten
    in the end.

    Attributes:
        get: Returns the node that came last under a name, or None; its text may differ
            by now.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, KnownNode] = {}
        self._reads = 0
        self.get = self._known.get

    def read(self, texts: Iterable[msgspec.Raw]) -> list[KnownNode]:
        """Read nodes from texts of any form.

        Raises:
            ObjectError: A node is wrong.
            msgspec.DecodeError: A text is no JSON, or no object with a name.
        """
        number = self.begin()
        found = [self._read(bytes(text)) for text in texts]
        for known in found:
            known.read = number
        return found

    def begin(self) -> int:
        """Count a reading, and forget now and then the nodes that were long not sent.

        Returns:
            The number of the reading, for the `read` of each node that is part of it.
        """
        self._reads += 1
        if self._reads % _READS_TO_FORGET == 0:
            oldest = self._reads - _READS_TO_FORGET
            for name in [
                name for name, one in self._known.items() if one.read < oldest
            ]:
                del self._known[name]
        return self._reads

    def learn(self, name: bytes, text: bytes) -> KnownNode:
        """Decode a node, and store it under a name.

        If it means the same as before (a heartbeat was written), it stays the same
        object.

        Raises:
            ObjectError: The node is wrong.
            msgspec.DecodeError: The text is no JSON.
        """
        node, before = decode(text, Node), self._known.get(name)
        if before is not None and before.node == node:
            node = before.node
        known = self._known[name] = KnownNode(text, node)
        known.read = self._reads
        return known

    def _read(self, text: bytes) -> KnownNode:
        name = _name_in(text)
        known = self._known.get(name)
        if known is not None and known.text == text:
            return known
        return self.learn(name, text)


def _name_in(text: bytes) -> bytes:
    """Return the name in a node's text, without reading all of it."""
    if text.startswith(NAME_FIRST):
        start = len(NAME_FIRST)
        return text[start : text.find(b'"', start)]
    return msgspec.json.decode(text, type=_Named).metadata.name.encode()
