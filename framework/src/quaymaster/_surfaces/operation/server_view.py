"""Compares a scheduler's informers with the objects of the API server."""

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

__all__ = ["Seen", "ServerComparer", "scheduler_view", "view_of"]

T = TypeVar("T")

_PATHS: Final = {"Node": "/api/v1/nodes", "Pod": "/api/v1/pods"}
_AT_ONCE: Final = 500  # as the informers of client-go


class Seen(msgspec.Struct, frozen=True):
    """The identity and version of an object.

    Attributes:
        uid: Its uid.
        version: Its resource version.
    """

    uid: str
    version: str


View: TypeAlias = Mapping[tuple[str, str], Seen]
"""(kind, key) -> the identity and version of the object."""


class ViewError(QuaymasterError):
    """A list of the API server is invalid."""


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    resource_version: str
    namespace: str = ""


class _Item(msgspec.Struct):
    metadata: _Metadata


class _ListMetadata(msgspec.Struct):
    # `continue` is a keyword of Python.
    further: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    items: list[_Item]
    metadata: _ListMetadata


def view_of(read: Callable[[str], bytes]) -> View:
    """Read the server's nodes and pods, page by page.

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
            metadata = item.metadata
            key = (
                f"{metadata.namespace}/{metadata.name}"
                if metadata.namespace
                else metadata.name
            )
            yield key, Seen(metadata.uid, metadata.resource_version)
        further = page.metadata.further
        # Continue tokens are in the base64 of URLs, which needs no quoting.
        target = f"{path}?limit={_AT_ONCE}&continue={further}" if further else ""


def scheduler_view(scheduler: Scheduler) -> View:
    """Return the objects of the scheduler's informers; called on its thread."""
    kinds: tuple[type[ApiObject], ...] = (Node, Pod)
    return {
        (kind.kind, obj.key): Seen(obj.uid, str(obj.metadata.resource_version))
        for kind in kinds
        for obj in scheduler.informers.list(kind)
    }


@attrs.frozen
class ServerComparer:
    """Finds lasting differences between the scheduler and the API server.

    It compares them twice with a pause, so that changes in transit are not reported.

    Attributes:
        scheduler: The scheduler.
        probe: Runs calls on its thread.
        view: Reads the server's objects.
        pause: Waits for some seconds.
    """

    scheduler: Scheduler
    probe: EngineProbe
    view: Callable[[], View]
    pause: Callable[[float], None] = time.sleep

    def differences(self, seconds: float) -> Sequence[Difference]:
        """Compare twice, and return the differences that did not change.

        Args:
            seconds: The pause between the comparisons.

        Raises:
            ApiError: The server cannot be reached.
            EngineBusyError: The scheduler does not respond.
        """
        first = self._compared()
        if not first:
            return []
        self.pause(seconds)
        again = self._compared()
        return [
            difference for name, difference in sorted(first.items()) if name in again
        ]

    def _compared(self) -> Mapping[tuple[str, str, str], Difference]:
        """Compare; return (kind, key, scheduler's version) -> difference."""
        theirs = self.view()
        ours = self.probe.ask(lambda: scheduler_view(self.scheduler))
        differences = {}
        for kind, key in {*theirs, *ours}:
            server, own = theirs.get((kind, key)), ours.get((kind, key))
            if server == own:
                continue
            uid = server.uid if server else ""
            if own is None:
                detail = f"the server has uid {uid}"
                differences[kind, key, uid] = Difference(kind, key, "missing", detail)
            elif server is None:
                detail = f"uid {own.uid} is not on the server"
                differences[kind, key, own.uid] = Difference(kind, key, "extra", detail)
            else:
                detail = f"version {own.version}, on the server {server.version}"
                name = f"{own.uid} {own.version}"
                differences[kind, key, name] = Difference(kind, key, "changed", detail)
        return differences
