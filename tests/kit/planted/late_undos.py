"""Mistakes of plugins whose PreBind is interrupted, or whose undo is late."""

import threading
from collections.abc import Sequence
from typing import Final

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Pod,
    PreBindWait,
    Status,
    hookimpl,
    on_node,
)
from tests.kit.planted.mistake import Mistake
from tests.kit.planted.passes import CONFLICT, LABEL, OWN, Pass, Passes, new_pass

__all__ = ["LATE_UNDO_MISTAKES", "LocksInThreads", "LocksShortly"]

_LOCK: Final = threading.RLock()


class LocksInThreads(Passes):
    """Correct: its pods run in threads of their own, which may wait for each other."""

    blocks = True

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lock = threading.Lock()

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        """Create the pass while no other pod does."""
        with self.lock:
            return super().prepared(pod, node_name)


class LocksShortly(Passes):
    """Correct: holds a lock between its calls, and during none."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lock = threading.Lock()
        self.count = 0

    def stored(self, pod: Pod) -> Pass | None:
        """Return the pass of the pod's name."""
        with self.lock:
            self.count += 1
        return super().stored(pod)


class LocksOnOneThread(LocksInThreads):
    blocks = False


class LocksOfTheModule(Passes):
    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        with _LOCK:
            return super().prepared(pod, node_name)


class LocksInAHelper(Passes):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.rooms = [threading.Semaphore(1)]

    def stored(self, pod: Pod) -> Pass | None:
        with self.rooms[0]:
            return super().stored(pod)


class KeepsThePod(Passes):
    """Keeps the pod on the plugin while it reads the stored pass."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        self.last = pod, node_name
        if self.stored(pod) is not None:
            return super().prepared(pod, node_name)
        self.handle.cluster.create(new_pass(*self.last))
        return self.wait(pod, node_name)


class KeepsTheNode(Passes):
    """Keeps on the plugin for which node it has read the stored pass."""

    node = ""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        self.node = node_name
        stored = self.stored(pod)
        if stored is not None:
            self.handle.cluster.delete(Pass, stored.key, uid=stored.uid)
        self.handle.cluster.create(new_pass(pod, self.node))
        return self.wait(pod, node_name)


class ClearsWhatOthersNeed(Passes):
    """Unreserve of any pod drops what PreBind of another one has noted."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.names: dict[str, str] = {}

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        self.names[pod.uid] = node_name
        if self.stored(pod) is not None:
            return super().prepared(pod, node_name)
        self.handle.cluster.create(new_pass(pod, self.names.pop(pod.uid)))
        return self.wait(pod, node_name)

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        self.names.clear()
        super().unreserve(pod, node_name)


class UndoesAgain(Passes):
    """Begins a second task after its own rejection, and forgets who waits."""

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        if LABEL in pod.labels and not self.is_bound(pod):
            self.begin_to_delete(pod, node_name)


class ForgetsWhoWaits(Passes):
    """Begins no second task, but forgets that the pod waits for the first."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        if pod.uid in self.deleting:
            self.deleting[pod.uid] = False
        super().unreserve(pod, node_name)


class TakesBackItsNote(Passes):
    """Takes the end of the second attempt for that of the first one."""

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        if self.deleting.pop(pod.uid, None) is None:
            super().unreserve(pod, node_name)


class CountsItsTasks(Passes):
    """Correct for one rejection only: a further task for each is left."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.tasks: set[str] = set()

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        return CONFLICT if pod.uid in self.tasks else None

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        if LABEL in pod.labels and not self.is_bound(pod):
            self.tasks.add(pod.uid)
            self.handle.run_in_background(
                lambda: self.delete(pod, node_name), lambda _: self.undone(pod)
            )

    def undone(self, pod: Pod) -> None:
        """Let the pod be tried again."""
        self.tasks.discard(pod.uid)
        self.handle.activate([pod])


LATE_UNDO_MISTAKES: Sequence[Mistake] = (
    Mistake(LocksOnOneThread, ["pre binding"], OWN),
    Mistake(LocksOfTheModule, ["pre binding"], OWN),
    Mistake(LocksInAHelper, ["pre binding"], OWN),
    Mistake(KeepsThePod, ["pre binding"], OWN),
    Mistake(KeepsTheNode, ["pre binding"], OWN),
    Mistake(ClearsWhatOthersNeed, ["pre binding"], OWN),
    Mistake(UndoesAgain, ["pre binding"], OWN),
    Mistake(ForgetsWhoWaits, ["pre binding"], OWN),
    Mistake(TakesBackItsNote, ["pre binding"], OWN),
    Mistake(CountsItsTasks, ["pre binding"], OWN),
)
