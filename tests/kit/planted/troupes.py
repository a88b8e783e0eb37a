"""A plugin whose pods wait on Permit for each other, and mistakes in it."""

from collections.abc import Sequence
from typing import Any

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    PermitWait,
    Pod,
    QueuedPodInfo,
    QueueingHint,
    Status,
    WaitingPod,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["LED", "OWN", "TROUPE_MISTAKES", "Leads", "Troupes"]

TROUPE, MEMBERS = "example.com/troupe", "example.com/members"
Troupe = tuple[str, str]


def troupe_of(pod: Pod) -> Troupe | None:
    name = pod.labels.get(TROUPE)
    return (pod.namespace, name) if name else None


def _members(pod: Pod) -> int:
    return int(pod.labels.get(MEMBERS, "1"))


class Troupes(Plugin):
    """Correct: the pods of a troupe are bound once all of them have a node."""

    timeout = 30.0

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.troupes = handle.informers.index(Pod, by=self.key)

    def key(self, pod: Pod) -> Troupe | None:
        """Return the troupe of a pod."""
        return troupe_of(pod)

    def waiting(self, troupe: Troupe) -> Sequence[WaitingPod]:
        """Return the members that wait."""
        waiting = self.handle.waiting_pods()
        return [member for member in waiting if self.key(member.pod) == troupe]

    def count(self, pod: Pod, troupe: Troupe) -> int:
        """Count the members that have a node, with one that gets it now."""
        bound = [member for member in self.troupes.get(troupe) if member.node_name]
        return len(bound) + len(self.waiting(troupe)) + 1

    def allow(self, member: WaitingPod) -> None:
        """Let a member continue; it may wait for other plugins only."""
        if self.handle.plugin_name in member.pending_plugins:
            member.allow(self.handle.plugin_name)

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        return -queued.pod.priority, queued.timestamp

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        troupe = self.key(pod)
        if troupe is None or len(self.troupes.get(troupe)) >= _members(pod):
            return None
        return Status.unresolvable("some of the troupe are missing")

    @hookimpl
    def reserve(self) -> None:
        """Required, so that unreserve is called."""

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        troupe = self.key(pod)
        for member in self.waiting(troupe) if troupe else ():
            member.reject(self.handle.plugin_name, "one of the troupe has no node")

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        troupe = self.key(pod)
        if troupe is None:
            return None
        if self.count(pod, troupe) < _members(pod):
            return PermitWait(self.timeout)
        for member in self.waiting(troupe):
            self.allow(member)
        return None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod(Change.ADD, self.after_arrival),
            on_pod(Change.UPDATE_POD_LABEL | Change.DELETE),
            on_node(Change.ADD | Change.UPDATE_NODE_ALLOCATABLE),
        ]

    def after_arrival(self, pod: Pod, old: None, new: Pod) -> QueueingHint:
        """Queue the pods of a troupe that gets another member."""
        is_member = self.key(new) == self.key(pod)
        return QueueingHint.QUEUE if is_member else QueueingHint.SKIP


class WaitsNoTime(Troupes):
    timeout = 0.0


class AllowsForAnotherPlugin(Troupes):
    def allow(self, member: WaitingPod) -> None:
        member.allow("Troupe")


class AllowsWithoutWait(Troupes):
    def allow(self, member: WaitingPod) -> None:
        member.allow(self.handle.plugin_name)


class CountsInMemory(Troupes):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.seen: dict[Troupe, set[str]] = {}

    def count(self, pod: Pod, troupe: Troupe) -> int:
        self.seen.setdefault(troupe, set()).add(pod.uid)
        return len(self.seen[troupe])


class ForgetsBoundMembers(Troupes):
    """It counts the members that it has let pass itself."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.passed: set[str] = set()

    def count(self, pod: Pod, troupe: Troupe) -> int:
        bound = {member.uid for member in self.troupes.get(troupe) if member.node_name}
        self.passed &= bound
        return len(self.passed) + len(self.waiting(troupe)) + 1

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        if self.key(pod) is not None:
            self.passed.add(pod.uid)


class IgnoresNamespaces(Troupes):
    def key(self, pod: Pod) -> Troupe | None:
        name = pod.labels.get(TROUPE)
        return ("", name) if name else None


class IgnoresNamespacesOfAnnotations(Troupes):
    def key(self, pod: Pod) -> Troupe | None:
        name = pod.annotations.get(TROUPE)
        return ("", name) if name else None


class RejectsOtherNamespaces(Troupes):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        name = pod.labels.get(TROUPE)
        for member in self.handle.waiting_pods() if name else ():
            if member.pod.labels.get(TROUPE) == name:
                member.reject(self.handle.plugin_name, "one has no node")


class WakesOtherTroupes(Troupes):
    def after_arrival(self, pod: Pod, old: None, new: Pod) -> QueueingHint:
        is_member = self.key(new) == self.key(pod)
        return QueueingHint.SKIP if is_member else QueueingHint.QUEUE


class SortsByHash(Troupes):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        return hash(queued.pod.name) % 64, queued.timestamp


class Leads(Troupes):
    """Correct: the pods of a troupe wait until one without a number is bound."""

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        return PermitWait(self.timeout) if MEMBERS in pod.labels else None

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        troupe = self.key(pod)
        if troupe is not None and MEMBERS not in pod.labels:
            for member in self.waiting(troupe):
                self.allow(member)


class AllowsForAnotherPluginOnceBound(Leads):
    def allow(self, member: WaitingPod) -> None:
        member.allow("Troupe")


class ActivatesEveryTime(Troupes):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        answer = super().permit(pod)
        troupe = self.key(pod)
        if answer is not None and troupe is not None:
            self.handle.activate(self.troupes.get(troupe))
        return answer


class ActivatesWhoeverIsRejected(Troupes):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        super().unreserve(pod)
        troupe = self.key(pod)
        if troupe is not None:
            self.handle.activate(self.troupes.get(troupe))


class ActivatesItself(Troupes):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        super().unreserve(pod)
        self.handle.activate([pod])


LED = clusters(
    nodes=nodes(),
    pods=pods({"labels": {TROUPE: "a", MEMBERS: "2"}}, {"labels": {TROUPE: "a"}}),
)
ANNOTATED = clusters(
    nodes=nodes(),
    pods=pods({"annotations": {TROUPE: "a"}, "labels": {MEMBERS: "2"}}),
)
OWN = clusters(
    nodes=nodes(),
    pods=pods(
        {"labels": {TROUPE: "a", MEMBERS: "2"}},
        {"labels": {TROUPE: "a", MEMBERS: "3"}},
        {"labels": {TROUPE: "b", MEMBERS: "2"}},
    ),
)
TROUPE_MISTAKES: Sequence[Mistake] = (
    Mistake(WaitsNoTime, ["failures"], OWN),
    Mistake(AllowsForAnotherPlugin, ["restarts"], OWN),
    Mistake(AllowsForAnotherPluginOnceBound, ["waiting pods"], LED),
    Mistake(AllowsWithoutWait, ["waiting pods"], OWN),
    Mistake(CountsInMemory, ["restarts"], OWN),
    Mistake(ForgetsBoundMembers, ["restarts"], OWN),
    Mistake(IgnoresNamespaces, ["namespaces"], OWN),
    Mistake(IgnoresNamespacesOfAnnotations, ["namespaces"], ANNOTATED),
    Mistake(RejectsOtherNamespaces, ["namespaces"], OWN),
    Mistake(WakesOtherTroupes, ["events"], OWN),
    Mistake(SortsByHash, ["other process"], OWN),
    Mistake(ActivatesEveryTime, ["endless attempts"], OWN),
    Mistake(ActivatesWhoeverIsRejected, ["endless attempts"], OWN),
    Mistake(ActivatesItself, ["endless attempts"], OWN),
)
