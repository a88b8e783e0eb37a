"""Nodes by the JSON that they came as: the same text is decoded once."""

from collections.abc import Iterable
from typing import Final

import msgspec

from quaymaster.objects import Node, decode

__all__ = ["NAME_FIRST", "KnownNode", "NodeTexts"]

NAME_FIRST: Final = b'{"metadata":{"name":"'
"""How kube-scheduler begins the text of a node, since Go writes fields in order."""

_READS_TO_FORGET: Final = 4096


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Named(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class KnownNode:
    """A node with its text.

    Attributes:
        name: The node's name.
        text: What it came as.
        node: What it means.
    """

    __slots__ = ("name", "node", "text")

    def __init__(self, text: bytes, node: Node) -> None:
        self.name = node.metadata.name
        self.text = text
        self.node = node


class NodeTexts:
    """Decodes nodes; those whose text is the same as last time are the same objects.

    The whole text is compared, so nothing is taken on trust: a node that was changed
    without another ``resourceVersion`` is decoded again. A node that nobody sends any
    more is forgotten in the end.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, KnownNode] = {}
        self._seen: set[bytes] = set()
        self._reads = 0

    def read(self, texts: Iterable[msgspec.Raw]) -> list[KnownNode]:
        """Read nodes, whatever the form of their text.

        Raises:
            ObjectError: A node is wrong.
            msgspec.DecodeError: A text is no JSON, or no object with a name.
        """
        found = [self._read(bytes(text)) for text in texts]
        self.note_use(found)
        return found

    def get(self, name: bytes) -> KnownNode | None:
        """The node that came last under a name; its text may differ by now."""
        return self._known.get(name)

    def learn(self, name: bytes, text: bytes) -> KnownNode:
        """Decode a node, and keep it under a name.

        Raises:
            ObjectError: The node is wrong.
            msgspec.DecodeError: The text is no JSON.
        """
        known = self._known[name] = KnownNode(text, decode(text, Node))
        return known

    def note_use(self, found: Iterable[KnownNode]) -> None:
        """Note who was sent, and forget now and then who was not for long."""
        self._seen.update(one.name.encode() for one in found)
        self._reads += 1
        if self._reads % _READS_TO_FORGET == 0:
            seen = self._seen
            self._known = {key: self._known[key] for key in self._known if key in seen}
            self._seen = set()

    def _read(self, text: bytes) -> KnownNode:
        name = _name_in(text)
        known = self._known.get(name)
        if known is not None and known.text == text:
            return known
        return self.learn(name, text)


def _name_in(text: bytes) -> bytes:
    """The node's name, to look up what is known; found without reading it all."""
    if text.startswith(NAME_FIRST):
        start = len(NAME_FIRST)
        return text[start : text.find(b'"', start)]
    return msgspec.json.decode(text, type=_Named).metadata.name.encode()
