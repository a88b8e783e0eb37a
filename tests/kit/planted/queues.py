"""Mistakes in plugins that approve, sort, evict, and look at other pods."""

import functools
import math
import random
import time
from collections.abc import Hashable, Sequence
from typing import Any

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    Handle,
    NodeInfo,
    NodeStatuses,
    NominatingInfo,
    NominatingMode,
    PermitWait,
    Pod,
    PostFilterResult,
    QueuedPodInfo,
    QueueingHint,
    Scope,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.cluster import Verb, Write
from quaymaster.objects import PodDisruptionBudget
from quaymaster.preemption import (
    DryRun,
    Evictions,
    VictimRule,
    best_candidates,
    why_not_eligible,
)
from quaymaster.testing import clusters, make_node, make_pod, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = [
    "QUEUE_MISTAKES",
    "Approves",
    "DeletesTagsLate",
    "DeletesTagsNowAndThen",
    "Evicts",
    "FairShare",
    "HoldsBack",
    "Neighbours",
]

DENIED = Status.unschedulable("its approval was denied")
TENANTS = clusters(
    nodes=st.just(make_node()),
    pods=st.builds(
        make_pod,
        namespace=st.sampled_from(["a", "b"]),
        requests=st.just({"cpu": "1"}),
    ),
)


class Approves(Plugin):
    """Correct: denies pods by a label, and lets the others wait."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.UPDATE_POD_LABEL)]

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        return DENIED if pod.labels.get("app") == "web" else PermitWait(60)


class FailsToUnreserve(Approves):
    @hookimpl
    def reserve(self) -> None:
        return None

    @hookimpl
    def unreserve(self) -> None:
        raise RuntimeError("no")


class ReservesOnce(Approves):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.held: set[str] = set()

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        if pod.uid in self.held:
            return Status.unschedulable("held")
        self.held.add(pod.uid)
        return None

    @hookimpl
    def unreserve(self) -> None:
        return None


class PermitsThree(Approves):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.held = 0

    @hookimpl
    def reserve(self) -> None:
        self.held += 1

    @hookimpl
    def unreserve(self) -> None:
        return None

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        return Status.unschedulable("too many") if self.held > 3 else None


class WaitsByTheWallClock(Approves):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        return PermitWait(timeout_seconds=time.time() % 60)


class DeniesWithoutEvents(Approves):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return []


class DeniesWithoutLabelEvents(Approves):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.DELETE)]


class FairShare(Plugin):
    """Correct: a tag for each pod when it enters the queue, by its namespace."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.tags: dict[str, int] = {}
        handle.informers.on_change(Pod, self._follow)

    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is None:
            self.tags.pop(old.uid, None)

    def _share(self, namespace: str) -> int:
        return sum(
            pod.namespace == namespace
            for node in self.handle.snapshot
            for pod in node.pods.values()
        )

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        pod = queued.pod
        if pod.uid not in self.tags:
            self.tags[pod.uid] = self._share(pod.namespace)
        return self.tags[pod.uid], queued.timestamp

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.tags.pop(pod.uid, None)


class FollowsTheLiveShare(FairShare):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        return self._share(queued.pod.namespace), queued.timestamp


class SortsAtRandom(FairShare):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        return (random.random(),)


class SortsByTheWallClock(FairShare):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        return (time.time_ns(),)


class DeletesTagsOfBoundPodsOnly(FairShare):
    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        return None


class NeverDeletesTags(DeletesTagsOfBoundPodsOnly):
    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        return None


class DeletesTagsNowAndThen(DeletesTagsOfBoundPodsOnly):
    """Correct: deletes the tags of deleted pods by a timer."""

    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(600, self._prune, background=True)

    def _prune(self) -> None:
        pods = {pod.uid for pod in self.handle.informers.list(Pod)}
        self.tags = {uid: tag for uid, tag in self.tags.items() if uid in pods}
        self.start()


class DeletesTagsInTheForeground(DeletesTagsNowAndThen):
    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(600, self._prune)


class DeletesTagsLate(FairShare):
    """Correct: its timer in the foreground is set for each deleted pod, and ends."""

    def _follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is None:
            uid = old.uid
            self.handle.clock.call_later(1, lambda: self._forget(uid))

    def _forget(self, uid: str) -> None:
        self.tags.pop(uid, None)


class SortsByNotANumber(Plugin):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        weight = 1 / queued.pod.priority if queued.pod.priority else math.nan
        return weight, queued.timestamp


class SaysAlwaysLess(Plugin):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> Any:  # noqa: ANN401 - any key
        return functools.cmp_to_key(lambda _left, _right: -1)(queued)


class Evicts(Plugin):
    """Correct: evicts pods of lower priority by the kit."""

    reads: Sequence[type[ApiObject]] = (PodDisruptionBudget,)
    writes: Sequence[Write] = (
        Write(Verb.DELETE, Pod),
        Write(Verb.PATCH, Pod, "status"),
    )

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.dry_run = DryRun(handle)
        self.evictions = Evictions(handle, "Evicts")

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        problem = why_not_eligible(self.handle, state, pod, statuses)
        if problem:
            return Status.unschedulable(problem)
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        search = self.dry_run.find(state, pod, rows, wanted=100)
        if not search.candidates:
            return Status.unschedulable("no event helps")
        best = best_candidates(search.candidates)[0]
        self.evictions.start(pod, best)
        nominating = NominatingInfo(best.node_name, NominatingMode.OVERRIDE)
        return PostFilterResult(nominating=nominating)


class HoldsBack(Evicts):
    """Correct: holds back a pod that waits for its victims, which no cluster shows."""

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        if self.evictions.is_under_way(pod):
            return Status.unresolvable("waiting for its victims to go")
        return None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # The hints of the plugins that rejected the pod wake it.
        return [on_pod.assigned(Change.DELETE, lambda *_change: QueueingHint.SKIP)]


class HoldsBackWithoutEvents(HoldsBack):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return []


class EvictsFromASet(Evicts):
    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        search = self.dry_run.find(state, pod, rows, wanted=100)
        candidates = {each.node_name: each for each in search.candidates}
        for name in {*candidates}:  # the mistake: any of them may be the first
            self.evictions.start(pod, candidates[name])
            nominating = NominatingInfo(name, NominatingMode.OVERRIDE)
            return PostFilterResult(nominating=nominating)
        return Status.unschedulable("no event helps")


class ByHash(VictimRule):
    """Keeps pods by the hashes of their names."""

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Pod]:
        return list(node.pods.values())

    def importance(self, pod: Pod) -> tuple[int]:
        return (hash(pod.name),)


class EvictsByHash(Evicts):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.dry_run = DryRun(handle, rule=ByHash())


class EvictsNothing(Evicts):
    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        rows = statuses.rows_with(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        self.dry_run.find(state, pod, rows, wanted=100)
        return Status.unschedulable("no event helps")


class EvictsWithoutWrites(Evicts):
    writes: Sequence[Write] = ()


class CountsEvictionsByPod(Evicts):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.searches = handle.counter("searches_total", "Searches.", ["pod"])

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        self.searches.add(pod=pod.key)
        answer: PostFilterResult | Status | None
        answer = super().post_filter(state, pod, statuses)
        return answer


class EvictsWithoutReads(Evicts):
    reads: Sequence[type[ApiObject]] = ()


class FailsToPostFilter(Plugin):
    @hookimpl
    def post_filter(self) -> PostFilterResult | Status | None:
        raise RuntimeError("boom")


class Neighbours(Plugin):
    """Correct: prefers nodes while pods of the same app run anywhere."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod.assigned(Change.ALL), on_pod.target(Change.UPDATE_POD_LABEL)]

    def _friends(self, pod: Pod) -> int:
        return sum(
            other.labels.get("app") == pod.labels.get("app")
            for node in self.handle.snapshot
            for other in node.pods.values()
        )

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        lonely = pod.labels.get("app") == "db" and not self._friends(pod)
        return Status.unschedulable("no pod of its app runs") if lonely else None

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        return min(100, self._friends(pod))


class DeclaresNodeAlone(Neighbours):
    scope = Scope.NODE

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.labels.get("app")


class ForgetsPods(Neighbours):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod.target(Change.UPDATE_POD_LABEL)]


FRIENDS = clusters(
    nodes=nodes(), pods=pods({"labels": {"app": "db"}}, {"labels": {"app": "web"}})
)
CROWDED = clusters(
    nodes=st.just(make_node()),
    pods=st.builds(make_pod, namespace=st.sampled_from(["a", "b"])),
)
QUEUE_MISTAKES: Sequence[Mistake] = (
    Mistake(FailsToUnreserve, ["failures", "unreserve"]),
    Mistake(ReservesOnce, ["unreserve"]),
    Mistake(PermitsThree, ["unreserve"]),
    Mistake(WaitsByTheWallClock, ["determinism"]),
    Mistake(DeniesWithoutEvents, ["events"]),
    Mistake(DeniesWithoutLabelEvents, ["events"]),
    Mistake(FollowsTheLiveShare, ["sort keys"], TENANTS),
    Mistake(SortsAtRandom, ["sort keys"], TENANTS),
    Mistake(SortsByTheWallClock, ["sort keys"], TENANTS),
    Mistake(NeverDeletesTags, ["memory"], TENANTS),
    Mistake(DeletesTagsOfBoundPodsOnly, ["memory"], TENANTS),
    Mistake(DeletesTagsInTheForeground, ["periodic timers"], TENANTS),
    Mistake(SaysAlwaysLess, ["sort keys"]),
    Mistake(SortsByNotANumber, ["sort keys"]),
    Mistake(EvictsByHash, ["other process"], CROWDED),
    Mistake(EvictsNothing, ["effects"], CROWDED),
    Mistake(HoldsBackWithoutEvents, ["events"], CROWDED),
    Mistake(EvictsFromASet, ["other process"], CROWDED),
    Mistake(EvictsWithoutWrites, ["rights"]),
    Mistake(EvictsWithoutReads, ["failures"]),
    Mistake(CountsEvictionsByPod, ["metrics"]),
    Mistake(FailsToPostFilter, ["failures"]),
    Mistake(DeclaresNodeAlone, ["scope"], FRIENDS),
    Mistake(ForgetsPods, ["events"], FRIENDS),
)
