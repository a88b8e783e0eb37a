"""Plugins that close nodes for a while, and timers of theirs that run too late."""

from collections.abc import Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    Node,
    NodeInfo,
    Pod,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.scheduler import Timer
from quaymaster.testing import clusters, make_metadata, nodes
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["HOLD_MISTAKES", "NODES", "OWN", "ClosesNodes", "Holds"]

UNTIL = "example.com/closed-until"
CLOSED = Status.unresolvable("node(s) were closed for a while")
START = 1767225600.0  # where virtual time begins
SOON, LATE = START + 20, START + 3000


class Hold(ApiObject, frozen=True, kw_only=True):
    """Closes a node until a time."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Hold"
    plural: ClassVar[str] = "holds"
    namespaced: ClassVar[bool] = False

    node: str = ""
    until: float = 0


class Holds(Plugin):
    """Correct: closes the nodes that objects name, and opens them by timers."""

    followed: ClassVar[type[ApiObject]] = Hold
    kinds: ClassVar[Sequence[type[ApiObject]]] = (Hold,)

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.closed: dict[str, str] = {}
        self.timers: dict[str, Timer] = {}
        handle.informers.on_change(self.followed, self.follow)

    def follow(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Read a change of an object."""
        if old is not None:
            self.closed.pop(old.key, None)
            self.forget(old)
        if new is not None:
            node, until = self.read(new)
            if until > self.handle.clock.now():
                self.closed[new.key] = node
                self.open_at(new, until)
        self.handle.changed()

    def read(self, obj: ApiObject) -> tuple[str, float]:
        """Return the node that an object closes, and until when."""
        assert isinstance(obj, Hold)
        return obj.node, obj.until

    def open_at(self, obj: ApiObject, until: float) -> None:
        """Set the timer of an object."""
        self.timers[obj.key] = self.handle.clock.call_at(
            until, lambda: self.end(obj), background=True
        )

    def forget(self, old: ApiObject) -> None:
        """Cancel the timer of an object."""
        timer = self.timers.pop(old.key, None)
        if timer is not None:
            timer.cancel()

    def end(self, obj: ApiObject) -> None:
        """Open a node."""
        self.closed.pop(obj.key, None)
        self.timers.pop(obj.key, None)
        self.handle.changed()

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return CLOSED if node.name in self.closed.values() else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [EventsOf(Hold)(Change.UPDATE | Change.DELETE), on_node(Change.ADD)]


class ClosesNodes(Holds):
    """Correct: closes the nodes whose annotations say so."""

    followed: ClassVar[type[ApiObject]] = Node
    kinds: ClassVar[Sequence[type[ApiObject]]] = ()

    def read(self, obj: ApiObject) -> tuple[str, float]:
        """Read the annotation of a node."""
        text = obj.metadata.annotations.get(UNTIL, "")
        return obj.name, float(text) if text.isdecimal() and len(text) < 12 else 0.0

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD | Change.UPDATE_NODE_ANNOTATION)]


class KeepsTimersOfOldVersions(Holds):
    def forget(self, old: ApiObject) -> None:
        self.timers.pop(old.key, None)


class KeepsTheFirstTimer(ClosesNodes):
    def open_at(self, obj: ApiObject, until: float) -> None:
        if obj.key not in self.timers:
            super().open_at(obj, until)

    def forget(self, old: ApiObject) -> None:
        """Leave the timer."""


def _hold(name: str, node: str, until: float) -> Hold:
    return Hold(metadata=make_metadata(Hold, name=name), node=node, until=until)


OWN = clusters(
    objects=st.builds(
        _hold,
        st.sampled_from(["a", "b"]),
        st.sampled_from(["n0", "n1"]),
        st.sampled_from([SOON, LATE, 0.0]),
    )
)
NODES = clusters(
    nodes=nodes(*({"annotations": {UNTIL: f"{until:.0f}"}} for until in (SOON, LATE)))
)
HOLD_MISTAKES: Sequence[Mistake] = (
    Mistake(KeepsTimersOfOldVersions, ["uptime"], OWN),
    Mistake(KeepsTheFirstTimer, ["uptime"], NODES),
)
