"""The cluster port over an API server."""

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from quaymaster._contract.cluster import (
    ConflictError,
    EventNote,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    Watch,
)
from quaymaster._driver import requests
from quaymaster._driver.executor import wait_for
from quaymaster._driver.followed import Followed
from quaymaster._driver.frames import (
    Answered,
    Asked,
    Begin,
    Follow,
    Lane,
    Message,
)
from quaymaster._driver.link import Link
from quaymaster._driver.refusals import error_of
from quaymaster._driver.updating import updated_tree
from quaymaster._kubernetes.resources import resource_of
from quaymaster._objects import ApiObject, Pod
from quaymaster._objects.wire import decode

__all__ = ["KubernetesCluster"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class KubernetesCluster:
    """A cluster behind an API server; see `quaymaster.cluster.Cluster`.

    Args:
        begin: How to reach it.
    """

    def __init__(self, begin: Begin) -> None:
        self._followed: dict[type[ApiObject], Followed[Any]] = {}
        self._by_number: list[Followed[Any]] = []
        self._waiting: dict[int, Callable[[Answered], None]] = {}
        self._calls = itertools.count(1)
        self._has_ended = False
        self._link = Link(begin, self._receive, self._ended)

    def follow(self, kind: type[ApiObject]) -> None:
        """Begin to list and watch a kind, ahead of `list`."""
        if kind in self._followed:
            return
        followed = self._followed[kind] = Followed[Any](kind)
        self._by_number.append(followed)
        path = resource_of(kind).path()
        self._link.send(Follow(len(self._by_number) - 1, path))

    def close(self) -> None:
        """End the other process; calls that wait are left in doubt."""
        self._link.close()

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        """See `Cluster.list`."""
        self.follow(kind)
        return self._followed[kind].listed()

    def watch(
        self, kind: type[ObjT], _resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        """See `Cluster.watch`."""
        return self._followed[kind].watch(notify)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """See `Cluster.get`."""
        return decode(self._asked(requests.get(kind, key)), kind)

    def create(self, obj: ObjT) -> ObjT:
        """See `Cluster.create`."""
        return decode(self._asked(requests.create(obj)), type(obj))

    def update(self, obj: ObjT) -> ObjT:
        """See `Cluster.update`."""
        kind, key = type(obj), obj.key
        # Objects here have the fields that scheduling reads; the others must stay.
        whole = msgspec.json.decode(self._asked(requests.get(kind, key)))
        updated_tree(whole, obj)
        return decode(self._asked(requests.put(kind, key, whole)), kind)

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """See `Cluster.delete`."""
        self._asked(requests.delete(kind, key, uid, grace_period_seconds))

    def bind(self, pod: Pod, node_name: str) -> None:
        """See `Cluster.bind`."""
        self._asked(requests.bind(pod, node_name))

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """See `Cluster.patch_pod_status`."""
        try:
            self._asked(requests.patch_pod_status(pod, patch))
        except ConflictError as error:  # no version is asked for: it is another pod
            raise NotFoundError(str(error)) from error

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """See `Cluster.patch_status`."""
        return decode(self._asked(requests.patch_status(obj, changes)), type(obj))

    def record(self, note: EventNote) -> None:
        """See `Cluster.record`."""
        self._link.send(requests.record(note))

    def post(self, path: str, body: bytes) -> bytes:
        """Send a review to the server, and return its answer.

        Raises:
            ApiError: The server cannot be asked, or refuses.
        """
        return self._asked(Asked(0, Lane.READ, "POST", path, body))

    @property
    def has_ended(self) -> bool:
        """Whether the process for input and output is gone."""
        return self._has_ended

    def _asked(self, asked: Asked) -> bytes:
        """Ask, wait for the answer, and return its content."""
        asked.call = next(self._calls)

        def ask(take: Callable[[Answered], None]) -> None:
            self._waiting[asked.call] = take
            self._link.send(asked)

        answer = wait_for(ask)
        if answer is None:
            answer = _waited(ask)
        if not answer.why:
            return answer.body
        raise error_of(answer)

    def _receive(self, message: Message) -> None:
        if isinstance(message, Answered):
            take = self._waiting.pop(message.call, None)
            if take is not None:
                take(message)
        else:
            self._by_number[message.resource].receive(message)  # type: ignore[attr-defined]

    def _ended(self) -> None:
        self._has_ended = True
        for call in list(self._waiting):
            why = "the process for input and output has ended"
            self._receive(Answered(call, 0, why=why, is_in_doubt=True))


def _waited(ask: Callable[[Callable[[Answered], None]], None]) -> Answered:
    """Ask, and block this thread until the answer is there."""
    answers: list[Answered] = []
    there = threading.Event()

    def take(answer: Answered) -> None:
        answers.append(answer)
        there.set()

    ask(take)
    there.wait()
    return answers[0]
