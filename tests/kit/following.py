"""The path of an object from a real cluster's server to the engine, in one thread."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from quaymaster import ApiObject, Pod
from quaymaster.cluster import ListResult, Watch
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from tests.kit.internals.driver import (
    Followed,
    Message,
    PodPacker,
    Reflector,
    Spec,
    ToEngine,
    as_text,
)
from tests.kit.internals.engine import EngineInformers
from tests.kit.scripted_server import ScriptedServer

__all__ = ["Following", "RecordedChanges", "version_of"]

MESSAGES: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(ToEngine)

ObjT = TypeVar("ObjT", bound=ApiObject)


class RecordedChanges:
    """Records the changes of one kind, and checks that they are consistent.

    Attributes:
        lines: One line for each change.
        objects: Key -> object after all changes.
    """

    def __init__(self, kind: type[ApiObject]) -> None:
        self._kind = kind
        self.lines: list[str] = []
        self.objects: dict[str, ApiObject] = {}

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """See `ChangeHandler.changed`."""
        if kind is not self._kind:
            return
        if new is None:
            assert old is not None
            removed = self.objects.pop(old.key)  # reported once only
            assert removed.uid == old.uid
            self.lines.append(f"gone {old.name}{' (missed)' if missed else ''}")
            return
        stored = self.objects.get(new.key)
        assert old is stored, "the old object is the one of the last change"
        if stored is not None:
            assert stored.uid == new.uid
            assert version_of(stored) < version_of(new), "versions increase"
        self.objects[new.key] = new
        self.lines.append(f"{'added' if old is None else 'changed'} {new.name}")


class Following:
    """Follows one resource of a scripted server.

    Args:
        server: The server.
        kind: The class of its objects.

    Attributes:
        waits: The seconds of each wait after a failure.
        waits_for_server: The waits that end early when the server is back.
        followed: The engine's side of the connection.
        changes: The changes that the engine's informers reported.
        seconds: The time.
        messages: The messages from the reading process to the engine.
        informers: The engine's copy of the objects.
    """

    def __init__(self, server: ScriptedServer, kind: type[ApiObject] = Pod) -> None:
        self.waits: list[float] = []
        self.waits_for_server: list[float] = []
        self.messages: list[Message] = []
        self.seconds = 0.0
        self.changes = RecordedChanges(kind)
        self.followed: Followed[Any] = Followed(kind)
        packer = PodPacker(lambda number, text: self._send(Spec(0, number, text)))
        self.reflector = Reflector(
            server,
            0,
            "/things",
            packer.packed if kind is Pod else as_text,
            self._send,
            wait=self._wait,
            wait_for_server=self._wait_for_server,
            now=lambda: self.seconds,
            uniform=lambda low, _high: low,
        )
        self._retries: list[Callable[[], None]] = []
        self.informers = EngineInformers(
            _Cluster(kind, self.followed), lambda: None, self._retries.append, [kind]
        )

    def _wait_for_server(self, seconds: float) -> None:
        self.waits_for_server.append(seconds)
        self._wait(seconds)

    def step(self, count: int = 1) -> None:
        """Let the reflector do its next step, and the engine process its messages."""
        for _ in range(count):
            self.reflector.step()
        self.hear()

    def hear(self) -> None:
        """Let the engine process the messages that it has received."""
        retries, self._retries[:] = list(self._retries), []
        for retry in retries:
            retry()
        self.informers.start(self.changes)
        while self.informers.sync():
            pass

    def settle(self) -> None:
        """Go on until a watch ends without an error, and the engine is up to date."""
        for _ in range(100):
            before = len(self.waits)
            self.step()
            if len(self.waits) == before and self.followed.is_listed:
                break
        # The last watch may have expired; then a list and a new watch follow.
        self.step(3)

    def names(self) -> list[str]:
        """Return the names of all objects, as the engine has them."""
        return sorted(obj.name for obj in self.changes.objects.values())

    def _send(self, message: Message) -> None:
        text = msgspec.msgpack.encode(message)
        self.messages.append(message)
        self.followed.receive(MESSAGES.decode(text))

    def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


class _Cluster(InMemoryCluster):
    """An empty cluster, except for the objects of one kind."""

    def __init__(self, kind: type[ApiObject], followed: Followed[Any]) -> None:
        super().__init__(VirtualClock(), controllers=False)
        self._kind = kind
        self._followed = followed

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        return self._followed.listed() if kind is self._kind else super().list(kind)

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        if kind is self._kind:
            return self._followed.watch(notify)
        return super().watch(kind, resource_version, notify)


def version_of(obj: ApiObject) -> int:
    """Return the version of an object as a number."""
    return int(obj.metadata.resource_version)
