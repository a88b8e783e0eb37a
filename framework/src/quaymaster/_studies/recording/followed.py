"""The state of each kind while a live cluster is recorded."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.pool import SpecPool
from quaymaster._base.errors import counted
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.driver.frames import Message
from quaymaster._clusters.driver.packing import Unpacker
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.resources import resource_of

__all__ = ["Followed", "GoneError", "MarkedReader", "Reached"]

_UNREAD: Final = NoticeReason.UNREAD_KINDS
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404


class GoneError(Exception):
    """Recording has ended."""


class Reached(Message):
    """All changes up to a version have been reported."""

    resource: int
    version: str


@attrs.define(eq=False)
class Followed:
    """A kind that is recorded.

    Attributes:
        kind: The class of its objects.
        number: Its number in messages.
        keys: The keys of its objects -> their keys in the record.
        is_listed: Whether the whole list has been reported.
        trouble: Why it cannot be followed now, or empty.
        code: The HTTP status of that problem.
        unreadable: How many objects could not be read.
    """

    kind: type[ApiObject]
    number: int
    keys: dict[str, str] = attrs.field(factory=dict)
    is_listed: bool = False
    trouble: str = ""
    code: int = 0
    unreadable: int = 0
    unpacker: Unpacker[ApiObject] = attrs.Factory(
        lambda self: Unpacker(self.kind), takes_self=True
    )
    pool: SpecPool = attrs.field(factory=SpecPool)

    def notices(self, access: Access) -> Iterator[Notice]:
        """Yield notices about objects that could not be read."""
        name, where = resource_of(self.kind).full_name, access.name
        # A server that does not know the kind has no objects of it.
        if self.trouble and self.code != _NOT_FOUND:
            message = f"{name} could not be followed in the end: {self.trouble}"
            if self.code == _FORBIDDEN:
                message = f"the right to list and watch {name} is missing; "
                message += "the record has none"
            yield Notice(reason=_UNREAD, where=where, message=message)
        if self.unreadable:
            message = f"{counted(self.unreadable, 'object')} of {name} cannot be read"
            yield Notice(reason=_UNREAD, where=where, message=message)


class MarkedReader:
    """Reads a server, and marks the end of each block of a stream.

    Args:
        client: Reads the server.
        mark: Called after each block, before the next is read.
    """

    def __init__(self, client: ApiClient, mark: Callable[[], None]) -> None:
        self._client = client
        self._mark = mark

    def get(self, path: str, query: Mapping[str, str | int]) -> bytes:
        """Read one resource."""
        return self._client.get(path, query)

    @contextmanager
    def stream(
        self, path: str, query: Mapping[str, str | int]
    ) -> Iterator[Iterator[bytes]]:
        """Read one resource as a stream."""
        with self._client.stream(path, query) as blocks:
            yield self._marked(blocks)

    def _marked(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            yield block
            self._mark()
