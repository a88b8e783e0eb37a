"""A plugin that lets few pods start at once, and mistakes in it."""

from collections.abc import Sequence

import attrs
from msgspec.structs import replace

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    PermitWait,
    Pod,
    hookimpl,
    on_pod,
)
from quaymaster.testing import SmallCluster, clusters, make_pod, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["IN_LINES", "OWN", "START_MISTAKES", "Lines", "Starts"]

MOST = 1
LINE = "example.com/line"


class Slots:
    """The pods that start, by uid, shared by all profiles."""

    def __init__(self) -> None:
        self.starting: dict[str, str] = {}


class Starts(Plugin):
    """Correct: a pod waits on Permit until the one before it has started."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.starting = handle.shared(Slots, Slots).starting
        handle.informers.on_change(Pod, self.follow)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Read a change of a pod."""
        if old is not None and (new is None or new.uid != old.uid):
            self.starting.pop(old.uid, None)
        if new is not None and new.node_name:
            if new.status.phase in ("", "Pending"):
                self.book(new)
            else:
                self.starting.pop(new.uid, None)
        self.release()

    def book(self, pod: Pod) -> None:
        """Count a pod as one that starts."""
        self.starting[pod.uid] = pod.key

    def has_room(self, pod: Pod) -> bool:
        """Return whether a pod may start."""
        return len(self.starting.keys() - {pod.uid}) < MOST

    def release(self) -> None:
        """Let waiting pods start."""
        for waiting in self.handle.waiting_pods():
            is_ours = self.handle.plugin_name in waiting.pending_plugins
            if is_ours and self.has_room(waiting.pod):
                self.book(waiting.pod)
                waiting.allow(self.handle.plugin_name)

    @hookimpl
    def reserve(self) -> None:
        """Required, so that unreserve is called."""

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        if self.has_room(pod):
            self.book(pod)
            return None
        return PermitWait(60)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.starting.pop(pod.uid, None)
            self.release()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod.assigned(Change.DELETE | Change.UPDATE)]


class Lines(Starts):
    """Correct: the pods of each line start one after the other."""

    def book(self, pod: Pod) -> None:
        """Count a pod in its line."""
        self.starting[pod.uid] = self.line_of(pod)

    def line_of(self, pod: Pod) -> str:
        """Return the line of a pod."""
        return f"{pod.namespace}/{pod.labels.get(LINE, '')}"

    def has_room(self, pod: Pod) -> bool:
        """Return whether a pod is the next one of its line."""
        line = self.line_of(pod)
        lines = [of for uid, of in self.starting.items() if uid != pod.uid]
        return lines.count(line) < MOST

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.DELETE | Change.UPDATE)]


class LooksAtTheFirstOnly(Lines):
    def release(self) -> None:
        for waiting in self.handle.waiting_pods():
            if not self.has_room(waiting.pod):
                break
            self.book(waiting.pod)
            waiting.allow(self.handle.plugin_name)


class IgnoresUpdates(Lines):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is None or new is None:
            super().follow(old, new)


class BooksWaitingPods(Lines):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        answer = super().permit(pod)
        self.book(pod)
        return answer


class BooksNoReleasedPods(Starts):
    def release(self) -> None:
        for waiting in self.handle.waiting_pods():
            is_ours = self.handle.plugin_name in waiting.pending_plugins
            if is_ours and self.has_room(waiting.pod):
                waiting.allow(self.handle.plugin_name)


class KeepsALineOfItsOwn(Starts):
    """It does not remove the pods that leave."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.line: list[Pod] = []
        super().__init__(args, handle)

    def release(self) -> None:
        for pod in list(self.line):
            if self.has_room(pod):
                self.line.remove(pod)
                self.book(pod)
                waiting = self.handle.waiting_pod(pod.uid)
                if waiting is not None:
                    waiting.allow(self.handle.plugin_name)

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        answer = super().permit(pod)
        if answer is not None:
            self.line.append(pod)
        return answer


class ReleasesNobodyAfterDeletions(Starts):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None:
            super().follow(old, new)
        elif old is not None:
            self.starting.pop(old.uid, None)


class ReleasesNobodyAfterFailures(Starts):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.starting.pop(pod.uid, None)


class WakesNoPodsWhoseWaitTimedOut(Starts):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod.target(Change.UPDATE_POD_LABEL)]


def _with_a_starting_pod(cluster: SmallCluster) -> SmallCluster:
    starting = make_pod(name="starting", node=cluster.nodes[0].name, labels={LINE: "1"})
    status = replace(starting.status, phase="Pending")
    return attrs.evolve(cluster, pods=(replace(starting, status=status),))


_LINES = clusters(pods=pods({"labels": {LINE: "1"}}, {"labels": {LINE: "2"}}))
IN_LINES = _LINES.map(_with_a_starting_pod)
OWN = clusters().map(_with_a_starting_pod)
START_MISTAKES: Sequence[Mistake] = (
    Mistake(LooksAtTheFirstOnly, ["releases"], IN_LINES),
    Mistake(IgnoresUpdates, ["releases"], IN_LINES),
    Mistake(BooksWaitingPods, ["releases"], IN_LINES),
    Mistake(BooksNoReleasedPods, ["releases"], OWN),
    Mistake(KeepsALineOfItsOwn, ["releases"], OWN),
    Mistake(ReleasesNobodyAfterDeletions, ["releases"], OWN),
    Mistake(ReleasesNobodyAfterFailures, ["releases"]),
    Mistake(WakesNoPodsWhoseWaitTimedOut, ["events"], OWN),
)
