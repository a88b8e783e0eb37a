"""Follows a collection of an API server, so that tests see at once what changes."""

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

_TURN: Final = 2  # seconds of one watch: so long may the end take


def key_of(tree: Tree) -> str:
    """The namespace and name of an object, or its name."""
    metadata = tree["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


class Follower:
    """A copy of a collection, kept by a thread.

    As a context manager it follows until the end.

    Args:
        client: Whom to ask.
        path: The collection.
        on_change: Told, on the thread, of each object that is added or changed, and of
            all now and then, should it have failed.

    Attributes:
        changed: When something changed last, by the clock that does not jump.
    """

    def __init__(
        self, client: ApiClient, path: str, on_change: React | None = None
    ) -> None:
        self._client = client
        self._path = path
        self._on_change = on_change
        self.changed = time.monotonic()
        self._items: dict[str, Tree] = {}
        self._news = threading.Condition()
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
        """An object by its key, if it is there."""
        return self._items.get(key)

    def all(self) -> list[Tree]:
        """All objects."""
        with self._news:
            return list(self._items.values())

    def wait(
        self,
        holds: Callable[[], object],
        *,
        within: float = 30.0,
        what: str = "the change",
    ) -> None:
        """Wait until something holds that depends on the objects.

        Raises:
            ProcessError: It does not hold in time.
        """
        end = time.monotonic() + within
        with self._news:
            while not holds():
                left = end - time.monotonic()
                if left <= 0:
                    raise ProcessError(f"{what} did not come within {within:g} s")
                self._news.wait(min(left, 0.5))

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
        if kind == "ERROR":  # the server has forgotten what came after
            self._items.clear()
            self._since = "0"
            return
        key = key_of(tree)
        with self._news:
            self._since = tree["metadata"]["resourceVersion"]
            if kind == "DELETED":
                self._items.pop(key, None)
            else:
                self._items[key] = tree
            self.changed = time.monotonic()
            self._news.notify_all()
        if kind != "DELETED":
            self._react(tree)

    def _react(self, tree: Tree) -> None:
        if self._on_change is not None:
            self._on_change(tree)
