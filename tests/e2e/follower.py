"""Follows a collection of an API server, so that tests see changes at once."""

import contextlib
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Final, Self, TypeAlias

from tests.e2e.client import ApiClient, RefusedError, Tree
from tests.e2e.processes import ProcessError

__all__ = ["Follower", "key_of"]

React: TypeAlias = Callable[[Tree], None]

_TURN: Final = 2  # seconds of one watch, which is also the longest time to stop


def key_of(tree: Tree) -> str:
    """Return the namespace and name of an object, or its name."""
    metadata = tree["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


class Follower:
    """A copy of a collection, which a thread keeps up to date.

    As a context manager it follows until the end.

    Args:
        client: The client of the API server.
        path: The collection.
        on_change: Is called on the thread for each object that is added or changed. Now
            and then it is called for all objects, in case a call has failed.

    Attributes:
        changed: The time of the last change, by the monotonic clock.
    """

    def __init__(
        self, client: ApiClient, path: str, on_change: React | None = None
    ) -> None:
        self._client = client
        self._path = path
        self._on_change = on_change
        self.changed = time.monotonic()
        self._items: dict[str, Tree] = {}
        self._condition = threading.Condition()
        self._has_ended = False
        self._since = "0"
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended = True
        self._thread.join()

    def get(self, key: str) -> Tree | None:
        """Return an object by its key, or None."""
        return self._items.get(key)

    def all(self) -> list[Tree]:
        """Return all objects."""
        with self._condition:
            return list(self._items.values())

    def wait(
        self,
        holds: Callable[[], object],
        *,
        within: float = 30.0,
        what: str = "the change",
    ) -> None:
        """Wait for a condition on the objects.

        Raises:
            ProcessError: The condition does not hold in time.
        """
        end = time.monotonic() + within
        with self._condition:
            while not holds():
                left = end - time.monotonic()
                if left <= 0:
                    raise ProcessError(f"{what} did not come within {within:g} s")
                self._condition.wait(min(left, 0.5))

    def _follow(self) -> None:
        while not self._has_ended:
            with contextlib.suppress(OSError, HTTPException, RefusedError):
                for kind, tree in self._client.watch(
                    self._path, since=self._since, within=_TURN
                ):
                    self._take(kind, tree)
                for tree in self.all():
                    self._react(tree)

    def _take(self, kind: str, tree: Tree) -> None:
        if kind == "ERROR":  # the server no longer has the next changes
            self._items.clear()
            self._since = "0"
            return
        key = key_of(tree)
        with self._condition:
            self._since = tree["metadata"]["resourceVersion"]
            if kind == "DELETED":
                self._items.pop(key, None)
            else:
                self._items[key] = tree
            self.changed = time.monotonic()
            self._condition.notify_all()
        if kind != "DELETED":
            self._react(tree)

    def _react(self, tree: Tree) -> None:
        if self._on_change is not None:
            self._on_change(tree)
