"""Compares what a scheduler was told with what the API server has."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import attrs
import msgspec

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._surfaces.operation.drift import Difference
from quaymaster._surfaces.operation.engine_probe import EngineProbe

__all__ = ["Seen", "ServerComparer", "told", "view_of"]

T = TypeVar("T")

_PATHS: Final = {"Node": "/api/v1/nodes", "Pod": "/api/v1/pods"}
_AT_ONCE: Final = 500  # as the informers of client-go


class Seen(msgspec.Struct, frozen=True):
    """What tells whether two see the same object.

    Attributes:
        uid: Its uid.
        version: Its resource version.
    """

    uid: str
    version: str


View: TypeAlias = Mapping[tuple[str, str], Seen]
"""(kind, key) -> what is seen of the object."""


class ViewError(QuaymasterError):
    """A list of the API server that cannot be understood."""


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    resource_version: str
    namespace: str = ""


class _Item(msgspec.Struct):
    metadata: _Metadata


class _ListMetadata(msgspec.Struct):
    # The word is Python's own.
    further: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    items: list[_Item]
    metadata: _ListMetadata


def view_of(read: Callable[[str], bytes]) -> View:
    """Read which nodes and pods the server has, page by page.

    Args:
        read: Reads a path with a query.
    """
    return {
        (kind, key): seen
        for kind, path in _PATHS.items()
        for key, seen in _listed(read, path)
    }


def _listed(read: Callable[[str], bytes], path: str) -> Iterator[tuple[str, Seen]]:
    target = f"{path}?limit={_AT_ONCE}"
    while target:
        try:
            page = msgspec.json.decode(read(target), type=_List)
        except msgspec.DecodeError as error:
            raise ViewError(f"{path}: {error}") from error
        for item in page.items:
            found = item.metadata
            key = f"{found.namespace}/{found.name}" if found.namespace else found.name
            yield key, Seen(found.uid, found.resource_version)
        further = page.metadata.further
        target = f"{path}?limit={_AT_ONCE}&continue={further}" if further else ""


def told(scheduler: Scheduler) -> View:
    """Return what the scheduler was told; on its thread."""
    kinds: tuple[type[ApiObject], ...] = (Node, Pod)
    return {
        (kind.kind, obj.key): Seen(obj.uid, str(obj.metadata.resource_version))
        for kind in kinds
        for obj in scheduler.informers.list(kind)
    }


@attrs.frozen
class ServerComparer:
    """Finds what the scheduler and the API server see differently, and go on to.

    They are asked one after the other, and again after a moment: what is only on its
    way is no difference.

    Attributes:
        scheduler: The scheduler.
        probe: Asks its thread.
        view: Reads the server's view.
        pause: Lets some seconds pass.
    """

    scheduler: Scheduler
    probe: EngineProbe
    view: Callable[[], View]
    pause: Callable[[float], None] = time.sleep

    def differences(self, seconds: float) -> Sequence[Difference]:
        """Compare twice, and return what was different both times in the same way.

        Args:
            seconds: How long to wait in between.

        Raises:
            ApiError: The server cannot be asked.
            EngineBusyError: The scheduler does not answer.
        """
        first = self._compared()
        if not first:
            return []
        self.pause(seconds)
        again = self._compared()
        return [one for name, one in sorted(first.items()) if name in again]

    def _compared(self) -> Mapping[tuple[str, str, str], Difference]:
        """Compare; (kind, key, what the scheduler has) -> difference."""
        theirs = self.view()
        ours = self.probe.ask(lambda: told(self.scheduler))
        found = {}
        for kind, key in {*theirs, *ours}:
            server, known = theirs.get((kind, key)), ours.get((kind, key))
            if server == known:
                continue
            uid = server.uid if server else ""
            if known is None:
                detail = f"the server has uid {uid}"
                found[kind, key, uid] = Difference(kind, key, "missing", detail)
            elif server is None:
                detail = f"uid {known.uid} is not on the server"
                found[kind, key, known.uid] = Difference(kind, key, "extra", detail)
            else:
                detail = f"version {known.version}, on the server {server.version}"
                name = f"{known.uid} {known.version}"
                found[kind, key, name] = Difference(kind, key, "changed", detail)
        return found
