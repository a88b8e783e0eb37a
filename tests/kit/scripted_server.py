"""An API server that lists and watches one resource, and fails as a script says."""

import contextlib
import itertools
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from tests.kit.internals.kubernetes import ApiError

__all__ = ["Ending", "ScriptedServer"]

Tree: TypeAlias = dict[str, Any]
Query: TypeAlias = Mapping[str, str | int]


@attrs.frozen(kw_only=True)
class Ending:
    """The way in which a stream ends.

    Attributes:
        after: The highest number of lines before the end.
        code: The code of an ERROR event at the end; 0 for no such event.
        seconds: The seconds after which the client shall retry, in that event.
        is_cut: Whether the connection breaks in the middle of a line.
        is_garbage: Whether the last line is not JSON.
        repeats: Whether each line is followed by the line before it.
    """

    after: int = 1_000_000
    code: int = 0
    seconds: int | None = None
    is_cut: bool = False
    is_garbage: bool = False
    repeats: bool = False


@attrs.define
class ScriptedServer:
    """All objects of one resource, without any socket; a `Reader`.

    Attributes:
        objects: Key -> object, as it is now.
        version: The version of the last change.
        queries: The queries so far.
        waiting: Changes to make while a client reads streams and pages.
        endings: The endings of the next streams; further streams end without an error.
        refusals: The status codes of the next requests; 0 for a normal response.
        offers_lists_by_watch: Whether a watch may begin with a list.
        forgotten: Watches from versions before this one are refused.
        lag: How many changes the next list is behind.
        expired_pages: How many requests for further pages are refused.
        page: The highest number of objects of a page.
    """

    objects: dict[str, Tree] = attrs.field(factory=dict)
    version: int = 100
    queries: list[Query] = attrs.field(factory=list)
    waiting: deque[Callable[[], None]] = attrs.field(factory=deque)
    endings: deque[Ending] = attrs.field(factory=deque)
    refusals: deque[int] = attrs.field(factory=deque)
    offers_lists_by_watch: bool = True
    forgotten: int = 0
    lag: int = 0
    expired_pages: int = 0
    page: int = 500
    _events: list[tuple[int, str, Tree]] = attrs.field(factory=list)
    _states: dict[int, list[Tree]] = attrs.field(factory=dict)
    _uids: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))

    def __attrs_post_init__(self) -> None:
        self._states[self.version] = []

    # Changes of the objects -----------------------------------------------------------

    def put(self, name: str, namespace: str = "default", **more: object) -> None:
        """Create an object, or change it if it exists."""
        key = f"{namespace}/{name}"
        stored = self.objects.get(key)
        uid = stored["metadata"]["uid"] if stored else f"uid-{next(self._uids)}"
        metadata = {"name": name, "namespace": namespace, "uid": uid}
        self.objects[key] = {"metadata": metadata, **more}
        self._change("MODIFIED" if stored else "ADDED", self.objects[key])

    def remove(self, name: str, namespace: str = "default") -> None:
        """Delete an object, if it exists."""
        tree = self.objects.pop(f"{namespace}/{name}", None)
        if tree is not None:
            self._change("DELETED", json.loads(json.dumps(tree)))

    def forget(self) -> None:
        """Forget all changes so far, as etcd does when it is compacted."""
        self.forgotten = self.version

    def _change(self, type_: str, tree: Tree) -> None:
        self.version += 1
        tree["metadata"]["resourceVersion"] = str(self.version)
        self._events.append((self.version, type_, tree))
        self._states[self.version] = list(self.objects.values())

    # Requests -------------------------------------------------------------------------

    def get(self, path: str, query: Query) -> bytes:
        """Return a page of the list."""
        self._admit(path, query)
        if "continue" in query:
            self._happen()
            if self.expired_pages:
                self.expired_pages -= 1
                raise ApiError(path, "the continue token is too old", code=410)
        first, _, version = str(query.get("continue", "0")).partition("@")
        at = int(version) if version else self._listed_version()
        state, begin = self._states[at], int(first)
        end = begin + (
            min(int(query["limit"]), self.page) if "limit" in query else len(state)
        )
        further = f"{end}@{at}" if end < len(state) else ""
        metadata = {"resourceVersion": str(at), "continue": further}
        return json.dumps({"metadata": metadata, "items": state[begin:end]}).encode()

    @contextlib.contextmanager
    def stream(self, path: str, query: Query) -> Iterator[Iterator[bytes]]:
        """Return the stream of a watch."""
        self._admit(path, query)
        is_list = "sendInitialEvents" in query
        if is_list and not self.offers_lists_by_watch:
            raise ApiError(path, "sendInitialEvents is forbidden", code=422)
        if not is_list and int(query["resourceVersion"]) < self.forgotten:
            raise ApiError(path, "too old resource version", code=410)
        ending = self.endings.popleft() if self.endings else Ending()
        lines = self._list() if is_list else self._follow(int(query["resourceVersion"]))
        yield self._blocks(path, lines, ending)

    def _admit(self, path: str, query: Query) -> None:
        self.queries.append(dict(query))
        code = self.refusals.popleft() if self.refusals else 0
        if code:
            raise ApiError(path, "refused", code=code)

    def _blocks(
        self, path: str, lines: Iterator[bytes], ending: Ending
    ) -> Iterator[bytes]:
        before = b""
        for line in itertools.islice(lines, ending.after):
            yield line + before if ending.repeats else line
            before = line
        if ending.code:
            details = (
                {} if ending.seconds is None else {"retryAfterSeconds": ending.seconds}
            )
            status = {"code": ending.code, "message": "as scripted", "details": details}
            yield _line("ERROR", status)
        if ending.is_garbage:
            yield b"<html>\n"
        if ending.is_cut:
            half = next(lines, _line("ADDED", {}))
            yield half[: len(half) // 2]
            raise ApiError(path, "the stream broke")

    def _list(self) -> Iterator[bytes]:
        now, at = self.version, self._listed_version()
        for tree in self._states[at]:
            yield _line("ADDED", tree)
            self._happen()
        for version, type_, tree in list(self._events):
            if version > at == now:  # a list that lags leaves such changes out
                yield _line(type_, tree)
                now = at = version
        annotations = {"k8s.io/initial-events-end": "true"}
        metadata = {"resourceVersion": str(at), "annotations": annotations}
        yield _line("BOOKMARK", {"metadata": metadata})
        yield from self._follow(at)

    def _follow(self, at: int) -> Iterator[bytes]:
        while True:
            events = [event for event in self._events if event[0] > at]
            for version, type_, tree in events:
                at = version
                yield _line(type_, tree)
            if not events and not self._happen():
                return

    def _happen(self) -> bool:
        if not self.waiting:
            return False
        self.waiting.popleft()()
        return True

    def _listed_version(self) -> int:
        at = max(self.version - self.lag, min(self._states))
        self.lag = 0
        return at


def _line(type_: str, tree: Tree) -> bytes:
    return json.dumps({"type": type_, "object": tree}).encode() + b"\n"
