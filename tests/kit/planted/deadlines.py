"""A plugin that orders pods by deadlines, and mistakes in it."""

import re
from collections.abc import Sequence
from typing import ClassVar

from quaymaster import Handle, Pod, QueuedPodInfo, Status, hookimpl
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["DEADLINE_MISTAKES", "OWN", "Deadlines", "SortsByATextAtLast"]

WITHIN = "example.com/within"
PERIOD = 10
_seen: list[str] = []
_count = 0


class _Clerk:
    """A class that all instances use."""

    last: ClassVar[Pod | None] = None


class Deadlines(Plugin):
    """Correct: pods that are due first come first, and late ones come last."""

    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.late: dict[str, bool] = {}
        handle.informers.on_change(Pod, self.follow)

    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(PERIOD, self.refresh, background=True)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Forget pods that no longer wait."""
        if old is not None and (new is None or new.node_name or new.uid != old.uid):
            self.late.pop(old.uid, None)

    def refresh(self) -> None:
        """Look for late pods."""
        stored = {pod.uid: pod for pod in self.handle.informers.list(Pod)}
        waiting = [stored[uid] for uid in self.late if uid in stored]
        changed = [pod for pod in waiting if self.is_late(pod) != self.late[pod.uid]]
        self.late |= {pod.uid: self.is_late(pod) for pod in changed}
        self.report(changed)
        self.again(changed)

    def report(self, changed: Sequence[Pod]) -> None:
        """Report pods whose keys have changed."""
        if changed:
            self.handle.changed(pods=changed)

    def again(self, _changed: Sequence[Pod]) -> None:
        """Set the timer again."""
        self.start()

    def due(self, pod: Pod) -> float:
        """Return when a pod is due."""
        created = pod.metadata.creation_timestamp or 0.0
        return created + self.within(pod.annotations.get(WITHIN, ""))

    def within(self, text: str) -> float:
        """Read the annotation."""
        return float(text) if text.isdecimal() and len(text) < 9 else 3600.0

    def is_late(self, pod: Pod) -> bool:
        """Return whether a pod is late now."""
        return self.due(pod) <= self.handle.clock.now()

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[bool, float]:
        pod = queued.pod
        return self.late.setdefault(pod.uid, self.is_late(pod)), self.due(pod)


class SortsByATextAtLast(Deadlines):
    """Correct: the parts of keys before the last differ where that one is None."""

    @hookimpl
    def queue_sort(  # type: ignore[override]  # one part more
        self, queued: QueuedPodInfo
    ) -> tuple[bool, float, str, str | None]:
        uid, text = queued.pod.uid, queued.pod.labels.get("none")
        return (*super().queue_sort(queued), uid, text)


class ReportsNoChange(Deadlines):
    def report(self, changed: Sequence[Pod]) -> None:
        pass


class StopsItsTimer(Deadlines):
    def again(self, changed: Sequence[Pod]) -> None:
        if changed:
            self.start()


class AcceptsNan(Deadlines):
    def within(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return 3600.0


class ReadsDigitsOfAnyLength(Deadlines):
    def within(self, text: str) -> float:
        return min(int(text), 10**9) if re.fullmatch("[0-9]+", text) else 3600.0


class CountsFromFirstSight(Deadlines):
    def __init__(self, args: object, handle: Handle) -> None:
        self.dues: dict[str, float] = {}
        super().__init__(args, handle)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        super().follow(old, new)
        if old is not None and old.uid not in self.late:
            self.dues.pop(old.uid, None)

    def due(self, pod: Pod) -> float:
        within = self.within(pod.annotations.get(WITHIN, ""))
        return self.dues.setdefault(pod.uid, self.handle.clock.now() + within)


class HoldsBackFromFirstSight(Plugin):
    """It lets pods in a minute after it has seen them first."""

    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.first: dict[str, float] = {}
        handle.informers.on_change(Pod, self.follow)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Forget pods that are gone."""
        if old is not None and (new is None or new.uid != old.uid):
            self.first.pop(old.uid, None)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        now = self.handle.clock.now()
        is_new = now < self.first.setdefault(pod.uid, now) + 60
        return Status.unschedulable("the pod is new") if is_new else None


class SetsATimerInItsConstructor(Deadlines):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.start()


class KeepsPodsOnItsClass(Deadlines):
    late: ClassVar[dict[str, bool]] = {}  # type: ignore[misc]  # the mistake

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle


class KeepsPodsInADefault(Deadlines):
    def __init__(
        self,
        args: object,
        handle: Handle,
        late: dict[str, bool] = {},  # noqa: B006 - the mistake
    ) -> None:
        super().__init__(args, handle)
        self.late = late


class KeepsPodsInItsModule(Deadlines):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[bool, float]:
        _seen.append(queued.pod.uid)
        return super().queue_sort(queued)


class IndexesInAHook(Deadlines):
    reads = (Pod,)  # type: ignore[assignment]  # the base reads nothing else

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> None:
        self.handle.informers.index(Pod, by=_namespace).count(pod.namespace)


class FollowsInAHook(Deadlines):
    @hookimpl
    def pre_enqueue(self, pod: Pod) -> None:
        self.handle.informers.on_change(Pod, lambda _old, _new: None)


class SetsATimerForEachPod(Deadlines):
    @hookimpl
    def pre_enqueue(self, pod: Pod) -> None:
        self.start()


class CountsPodsInItsModule(Deadlines):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[bool, float]:
        global _count  # noqa: PLW0603 - the mistake
        _count += 1
        return super().queue_sort(queued)


class KeepsAPodOnAnotherClass(Deadlines):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[bool, float]:
        _Clerk.last = queued.pod
        return super().queue_sort(queued)


class KeepsItsHandleOnItsClass(Deadlines):
    shared: ClassVar[Handle]

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        type(self).shared = handle


def _namespace(pod: Pod) -> str:
    return pod.namespace


TEXTS = ("0", "30", "86400", "soon")
OWN = clusters(pods=pods(*({"annotations": {WITHIN: text}} for text in TEXTS)))
DEADLINE_MISTAKES: Sequence[Mistake] = (
    Mistake(ReportsNoChange, ["sort keys"], OWN),
    Mistake(AcceptsNan, ["sort keys"], OWN),
    Mistake(ReadsDigitsOfAnyLength, ["failures"], OWN),
    Mistake(StopsItsTimer, ["uptime"], OWN),
    Mistake(CountsFromFirstSight, ["uptime"], OWN),
    Mistake(HoldsBackFromFirstSight, ["uptime"], OWN),
    Mistake(SetsATimerInItsConstructor, ["leaks"], OWN),
    Mistake(KeepsPodsOnItsClass, ["shared state"], OWN),
    Mistake(KeepsPodsInADefault, ["shared state"], OWN),
    Mistake(KeepsPodsInItsModule, ["shared state"], OWN),
    Mistake(CountsPodsInItsModule, ["shared state"], OWN),
    Mistake(KeepsAPodOnAnotherClass, ["shared state"], OWN),
    Mistake(KeepsItsHandleOnItsClass, ["shared state"], OWN),
    Mistake(IndexesInAHook, ["registrations"], OWN),
    Mistake(FollowsInAHook, ["registrations"], OWN),
    Mistake(SetsATimerForEachPod, ["registrations"], OWN),
)
