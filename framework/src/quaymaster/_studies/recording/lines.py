"""The lines of a record, and how they are encoded.

``docs/reference/record-files.md`` describes them for readers in other languages.
"""

from typing import Any, Final, TypeAlias

import msgspec

__all__ = [
    "FORMAT",
    "Added",
    "Begin",
    "Change",
    "Deleted",
    "End",
    "KindName",
    "Line",
    "Modified",
    "Reached",
    "Template",
    "Tree",
    "decode_line",
    "encode_line",
    "full_kind",
]

Tree: TypeAlias = dict[str, Any]
"""A part of an object as in Kubernetes' JSON."""

FORMAT: Final = "quaymaster-record/1"
"""The format in the first line, with its version."""


class KindName(msgspec.Struct, rename="camel", frozen=True):
    """A kind that is recorded."""

    api_version: str
    kind: str


class _Line(
    msgspec.Struct,
    tag_field="type",
    rename="camel",
    omit_defaults=True,
    kw_only=True,
):
    """A line.

    Attributes:
        at: The time, in seconds since the beginning of the record.
    """

    at: float = 0.0


class Begin(_Line, tag="BEGIN", kw_only=True):
    """The first line, also of each continuation.

    Attributes:
        format: The format of the record.
        time: The moment in RFC 3339.
        source: The recorded cluster, in words.
        anonymous: Whether names were replaced.
        kinds: The recorded kinds.
    """

    format: str = ""
    time: str = ""
    source: str = ""
    anonymous: bool = False
    kinds: list[KindName] = []


class Template(_Line, tag="TEMPLATE", kw_only=True):
    """A pod spec, to which later lines refer by its number.

    Attributes:
        number: Its number; a repeated number replaces the earlier spec.
        spec: The spec, without a node.
    """

    number: int
    spec: Tree


class _Changed(_Line, kw_only=True):
    """A change of an object.

    Attributes:
        kind: Its kind with its group, such as ``Deployment.apps``.
        version: The object's resource version, if a server has set it.
    """

    kind: str
    version: str = ""


class Added(_Changed, tag="ADDED", kw_only=True):
    """An object was created, or existed when recording began.

    Attributes:
        object: The object, without a resource version.
        template: The number of its spec; fields of a spec in `object` override it.
        listed: Whether it existed when recording began.
    """

    object: Tree
    template: int | None = None
    listed: bool = False


class Modified(_Changed, tag="MODIFIED", kw_only=True):
    """An object was changed.

    Attributes:
        key: ``namespace/name``, or the name alone.
        patch: The differences, as a JSON merge patch (RFC 7386).
        template: The number of its spec, if that has changed.
    """

    key: str
    patch: Tree = {}
    template: int | None = None


class Deleted(_Changed, tag="DELETED", kw_only=True):
    """An object was deleted.

    Attributes:
        key: ``namespace/name``, or the name alone.
        missed: Whether it was deleted at an unknown earlier moment.
    """

    key: str
    missed: bool = False


class Reached(_Line, tag="BOOKMARK", kw_only=True):
    """All changes of a kind up to a version are recorded.

    Attributes:
        kind: The kind with its group.
        version: The version.
    """

    kind: str
    version: str


class End(_Line, tag="END", kw_only=True):
    """Recording ended regularly, or was interrupted by the user."""


Change: TypeAlias = Added | Modified | Deleted
Line: TypeAlias = Begin | Template | Added | Modified | Deleted | Reached | End

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[Line]] = msgspec.json.Decoder(Line)


def full_kind(api_version: str, kind: str) -> str:
    """Return the name of a kind in lines: ``Pod``, ``Deployment.apps``."""
    group, slash, _ = api_version.rpartition("/")
    return f"{kind}.{group}" if slash else kind


def encode_line(line: Line) -> bytes:
    """Return the text of a line, with its line end."""
    return _ENCODER.encode(line) + b"\n"


def decode_line(text: bytes) -> Line:
    """Read a line.

    Raises:
        msgspec.DecodeError: The text is not a line.
    """
    return _DECODER.decode(text)
