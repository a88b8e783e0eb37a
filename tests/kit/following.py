"""The way in of a real cluster, from a server to the engine's copy, in one thread."""

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

__all__ = ["Following", "ToldChanges", "version_of"]

MESSAGES: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(ToEngine)

ObjT = TypeVar("ObjT", bound=ApiObject)


class ToldChanges:
    """Writes down what is told of one kind, and that none of it contradicts itself.

    Attributes:
        told: What was told, in words.
        objects: Key -> object, as it follows from what was told.
    """

    def __init__(self, kind: type[ApiObject]) -> None:
        self._kind = kind
        self.told: list[str] = []
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
            known = self.objects.pop(old.key)  # a deletion is told once
            assert known.uid == old.uid
            self.told.append(f"gone {old.name}{' (missed)' if missed else ''}")
            return
        known_one = self.objects.get(new.key)
        assert old is known_one, "what was known is told"
        if known_one is not None:
            assert known_one.uid == new.uid
            assert version_of(known_one) < version_of(new), "nothing is taken back"
        self.objects[new.key] = new
        self.told.append(f"{'added' if old is None else 'changed'} {new.name}")


class Following:
    """Follows one resource of a scripted server.

    Args:
        server: The server.
        kind: The class of its objects.

    Attributes:
        waits: For how long it has waited, after each failure.
        waits_for_server: Those of them that end when the server is back.
        followed: The engine's end.
        told: What the engine was told, and what follows from it.
        seconds: The time.
        messages: What one process told the other.
        informers: The engine's copy.
    """

    def __init__(self, server: ScriptedServer, kind: type[ApiObject] = Pod) -> None:
        self.waits: list[float] = []
        self.waits_for_server: list[float] = []
        self.messages: list[Message] = []
        self.seconds = 0.0
        self.told = ToldChanges(kind)
        self.followed: Followed[Any] = Followed(kind)
        packer = PodPacker(lambda number, text: self._tell(Spec(0, number, text)))
        self.reflector = Reflector(
            server,
            0,
            "/things",
            packer.packed if kind is Pod else as_text,
            self._tell,
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
        """Let the reflector do its next thing, and the engine hear of it."""
        for _ in range(count):
            self.reflector.step()
        self.hear()

    def hear(self) -> None:
        """Let the engine look at what it was told."""
        retries, self._retries[:] = list(self._retries), []
        for retry in retries:
            retry()
        self.informers.start(self.told)
        while self.informers.sync():
            pass

    def settle(self) -> None:
        """Go on until a watch ends well, and nothing is left to be heard."""
        for _ in range(100):
            before = len(self.waits)
            self.step()
            if len(self.waits) == before and self.followed.is_listed:
                break
        # That may have found that versions have expired: a list, and a watch.
        self.step(3)

    def names(self) -> list[str]:
        """The names of all objects, as the engine has them."""
        return sorted(obj.name for obj in self.told.objects.values())

    def _tell(self, message: Message) -> None:
        text = msgspec.msgpack.encode(message)
        self.messages.append(message)
        self.followed.receive(MESSAGES.decode(text))

    def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


class _Cluster(InMemoryCluster):
    """An empty cluster, but for one kind."""

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
    """The version of an object, which is a number at this server."""
    return int(obj.metadata.resource_version)
