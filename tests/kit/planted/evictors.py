"""Mistakes in plugins that evict pods, and declare no access."""

import random
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st

from quaymaster import (
    BoolArray,
    Code,
    CycleState,
    Handle,
    NodeInfo,
    NodeStatuses,
    NominatingInfo,
    NominatingMode,
    Pod,
    PostFilterResult,
    Status,
    hookimpl,
)
from quaymaster.cluster import ApiError, ConflictError, NotFoundError
from quaymaster.objects import pod_request_list
from quaymaster.preemption import (
    Candidate,
    DryRun,
    Evictions,
    PodColumns,
    VictimRule,
    best_candidates,
    why_not_eligible,
)
from quaymaster.testing import clusters, make_node, make_pod
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = [
    "EVICTOR_MISTAKES",
    "OWN",
    "RANKED",
    "Evictors",
    "EvictsByItself",
    "EvictsCheaper",
    "EvictsLessImportant",
    "EvictsLowRanks",
]


class Evictors(Plugin):
    """Correct: evicts the victims of the best candidate in the background."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.dry_run = DryRun(handle)
        self.evictions = Evictions(handle, handle.plugin_name)

    def ranked(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates from which to choose one."""
        return best_candidates(candidates)

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return one of the candidates."""
        return candidates[0]

    def evict(self, pod: Pod, candidate: Candidate) -> None:
        """Evict the victims of a candidate."""
        self.evictions.start(pod, candidate)

    def result(self, candidate: Candidate) -> PostFilterResult:
        """Return the result of the hook."""
        nominating = NominatingInfo(candidate.node_name, NominatingMode.OVERRIDE)
        return PostFilterResult(nominating=nominating)

    def problem(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> str:
        """Return why a pod must not preempt, or empty."""
        return why_not_eligible(self.handle, state, pod, statuses)

    def codes(self, statuses: NodeStatuses) -> Sequence[Code]:
        """Return the codes of the nodes on which an eviction may help."""
        return [Code.UNSCHEDULABLE]

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status:
        problem = self.problem(state, pod, statuses)
        if problem:
            return Status.unschedulable(problem)
        rows = statuses.rows_with(*self.codes(statuses))
        search = self.dry_run.find(state, pod, rows, wanted=100)
        if not search.candidates:
            return Status.unschedulable("no eviction helps")
        best = self.choose(self.ranked(search.candidates))
        self.evict(pod, best)
        return self.result(best)


class NominatesNothing(Evictors):
    def result(self, candidate: Candidate) -> PostFilterResult:
        return PostFilterResult()


class NominatesWithoutAMode(Evictors):
    def result(self, candidate: Candidate) -> PostFilterResult:
        return PostFilterResult(nominating=NominatingInfo(candidate.node_name))


class NominatesAndKeeps(Evictors):
    """Says that it could not help, and keeps the nomination that the pod has."""

    def result(self, candidate: Candidate) -> PostFilterResult:
        nominating = NominatingInfo(candidate.node_name, NominatingMode.NOOP)
        status = Status.unschedulable("waiting for its victims")
        return PostFilterResult(status, nominating)


class NominatesForTwoVictims(Evictors):
    """Nominates no node if a single pod makes room."""

    def result(self, candidate: Candidate) -> PostFilterResult:
        if len(candidate.victims) > 1:
            return super().result(candidate)
        return PostFilterResult()


class LooksEverywhere(Evictors):
    def codes(self, statuses: NodeStatuses) -> Sequence[Code]:
        return [Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE]


class LooksWhereNothingHelps(Evictors):
    """Falls back to the nodes that never fit."""

    def codes(self, statuses: NodeStatuses) -> Sequence[Code]:
        if statuses.nodes_with(Code.UNSCHEDULABLE):
            return [Code.UNSCHEDULABLE]
        return [Code.UNSCHEDULABLE_AND_UNRESOLVABLE]


class TakesTheLeast(Evictors):
    """Evicts the pod of the lowest priority, wherever it is."""

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status:
        problem = self.problem(state, pod, statuses)
        pods = [each for info in self.handle.snapshot for each in info.pods.values()]
        if problem or not pods:
            return Status.unschedulable(problem or "no pods")
        least = min(pods, key=lambda each: (each.priority, each.key))
        candidate = Candidate(node_name=least.node_name, victims=(least,))
        self.evict(pod, candidate)
        return self.result(candidate)


class TakesTheCheapest(Evictors):
    """Ranks the candidates by the sum of the victims' priorities only."""

    def ranked(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        return best_candidates(candidates, cost=_priorities)


class TakesTheFirst(Evictors):
    """Takes the first candidate, whatever it violates."""

    def ranked(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        return sorted(candidates, key=lambda each: each.node_name)


class CountsViolationsLast(Evictors):
    """Compares violations only after the names of nodes, so never."""

    def ranked(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        return sorted(
            candidates, key=lambda each: (each.node_name, each.violations), reverse=True
        )


def _priorities(candidate: Candidate) -> tuple[float, ...]:
    return (sum(pod.priority for pod in candidate.victims),)


class DeletesInTheHook(Evictors):
    def evict(self, pod: Pod, candidate: Candidate) -> None:
        for victim in candidate.victims:
            self.handle.cluster.delete(Pod, victim.key, uid=victim.uid)


class IgnoresThePolicy(Evictors):
    """Evicts pods for a pod that must not preempt, and again for any pod."""

    def problem(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> str:
        return ""


class EvictsAgain(Evictors):
    """Evicts further pods while the victims of a pod are terminating."""

    def problem(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> str:
        return "must not preempt" if pod.spec.preemption_policy == "Never" else ""


class TriesLater(Evictors):
    """Sets a timer for each attempt that finds no victims."""

    def problem(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> str:
        problem = super().problem(state, pod, statuses)
        if not problem and statuses.nodes_with(Code.UNSCHEDULABLE):
            self.handle.clock.call_later(3600, lambda: self.handle.activate([pod]))
        return problem


class Cheaper(VictimRule):
    """Selects pods that are less important by their priority."""

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return [each for each in node.pods.values() if each.priority < 5]

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        cheaper: BoolArray = pods.priority < 5
        return cheaper


class CheaperOrEqual(Cheaper):
    """Has a twin that selects more pods."""

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        cheaper: BoolArray = pods.priority <= 5
        return cheaper


class LessImportant(VictimRule):
    """Selects pods of a lower priority than that of the pod."""

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return [each for each in node.pods.values() if each.priority < pod.priority]


class ForgetsPriority(LessImportant):
    """Has a twin that selects all pods."""

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        return pods.is_pod


class EvictsCheaper(Evictors):
    """Correct: has a rule of its own, with a twin."""

    rule: ClassVar[VictimRule] = Cheaper()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.dry_run = DryRun(handle, rule=self.rule)

    def problem(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> str:
        """Return the same by its own rule."""
        return why_not_eligible(self.handle, state, pod, statuses, rule=self.rule)


class EvictsWithAnotherTwin(EvictsCheaper):
    rule: ClassVar[VictimRule] = CheaperOrEqual()


class EvictsLessImportant(EvictsCheaper):
    """Correct: its rule depends on the priority of the pod."""

    rule: ClassVar[VictimRule] = LessImportant()


class EvictsMoreImportant(EvictsCheaper):
    rule: ClassVar[VictimRule] = ForgetsPriority()


class Light(VictimRule):
    """Selects pods that request less than 10 GB."""

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        pods = node.pods.values()
        return [each for each in pods if _memory(each) < _HEAVY]

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        quarters = (pods.requested("memory") // 4).astype(np.int32)
        light: BoolArray = quarters < _HEAVY // 4
        return light


def _memory(pod: Pod) -> int:
    memory = pod_request_list(pod).get("memory")
    return memory.value if memory else 0


_HEAVY = 10_000_000_000


class EvictsLightInInt32(EvictsCheaper):
    rule: ClassVar[VictimRule] = Light()


class ChoosesAtRandom(Evictors):
    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        return random.choice(candidates)


class EvictsByItself(Evictors):
    """Correct: deletes the victims by their uids, and wakes the pod after a failure."""

    def problem(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> str:
        """Return the same, and wait for victims that have no condition."""
        node = self.handle.snapshot.get(pod.status.nominated_node_name)
        if node and any(each.is_terminating for each in node.pods.values()):
            return "its victims are terminating"
        return super().problem(state, pod, statuses)

    def evict(self, pod: Pod, candidate: Candidate) -> None:
        """Delete the victims in the background."""

        def task() -> bool:
            try:
                for victim in candidate.victims:
                    with suppress(NotFoundError):
                        self.delete(victim)
            except ApiError:
                return False
            return True

        self.handle.run_in_background(task, lambda is_done: self.end(pod, is_done))

    def delete(self, victim: Pod) -> None:
        """Delete a victim, on a worker."""
        self.handle.cluster.delete(Pod, victim.key, uid=victim.uid)

    def end(self, pod: Pod, is_done: bool) -> None:
        """Take the result of an eviction."""
        if not is_done:
            self.handle.activate([pod])


class EvictsByName(EvictsByItself):
    def delete(self, victim: Pod) -> None:
        self.handle.cluster.delete(Pod, victim.key)


class EvictsWhatIsThere(EvictsByItself):
    """Reads the uid when the task runs."""

    def delete(self, victim: Pod) -> None:
        stored = self.handle.cluster.get(Pod, victim.key)
        self.handle.cluster.delete(Pod, victim.key, uid=stored.uid)


class EvictsTheNameAfterAConflict(EvictsByItself):
    """Tries again without the uid."""

    def delete(self, victim: Pod) -> None:
        try:
            super().delete(victim)
        except ConflictError:
            self.handle.cluster.delete(Pod, victim.key)


class IgnoresFailedEvictions(EvictsByItself):
    def end(self, pod: Pod, is_done: bool) -> None:
        pass


class RaisesInTheTask(EvictsByItself):
    def evict(self, pod: Pod, candidate: Candidate) -> None:
        def task() -> None:
            for victim in candidate.victims:
                self.delete(victim)

        self.handle.run_in_background(task, lambda _: None)


class SwallowsFailures(EvictsByItself):
    """Takes each failure for a pod that has gone by itself."""

    def delete(self, victim: Pod) -> None:
        with suppress(ApiError):
            super().delete(victim)


RANK = "acme.dev/rank"


class EvictsLowRanks(Evictors):
    """Correct: evicts the pods with the lowest ranks, by their annotations."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.known: dict[str, int] = {}

    def rank(self, pod: Pod) -> int:
        """Return the rank of a running pod."""
        return len(pod.annotations.get(RANK, ""))

    def ranked(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates with the lowest ranks."""
        return best_candidates(candidates, cost=self.cost)

    def cost(self, candidate: Candidate) -> tuple[float, ...]:
        """Return the violations first, as upstream does."""
        return candidate.violations, sum(map(self.rank, candidate.victims))


class KeepsRanksByKey(EvictsLowRanks):
    def rank(self, pod: Pod) -> int:
        return self.known.setdefault(pod.key, super().rank(pod))


class KeepsRanksByUid(EvictsLowRanks):
    """Knows new pods of a name, and not that an annotation has changed."""

    def rank(self, pod: Pod) -> int:
        return self.known.setdefault(pod.uid, super().rank(pod))


class KeepsRanksOfAdditions(EvictsLowRanks):
    """Follows new pods only."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        handle.informers.on_change(Pod, self._on_pod)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        if old is None and new is not None:
            self.known[new.key] = super().rank(new)

    def rank(self, pod: Pod) -> int:
        return self.known.get(pod.key, 0)


class RanksPods(VictimRule):
    """Keeps the ranks of pods in a field."""

    def __init__(self) -> None:
        self.known: dict[str, float] = {}

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return [each for each in node.pods.values() if each.priority < pod.priority]

    def importance(self, pod: Pod) -> tuple[float, ...]:
        rank = len(pod.annotations.get(RANK, ""))
        return (self.known.setdefault(pod.key, -rank),)


class KeepsRanksInARule(Evictors):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.dry_run = DryRun(handle, rule=RanksPods())


RANKED = clusters(
    nodes=st.just(make_node()),
    pods=st.builds(
        make_pod, annotations=st.sampled_from([{}, {RANK: "high"}, {RANK: "highest"}])
    ),
)
OWN = clusters(
    nodes=st.just(make_node()), pods=st.builds(make_pod, priority=st.integers(0, 9))
)
HEAVY = clusters(
    nodes=st.just(make_node()),
    pods=st.builds(make_pod, requests=st.just({"memory": "1Gi"})),
)
EVICTOR_MISTAKES: Sequence[Mistake] = (
    Mistake(NominatesNothing, ["effects", "evicting"], OWN),
    Mistake(NominatesWithoutAMode, ["evicting"], OWN),
    Mistake(NominatesAndKeeps, ["evicting"], OWN),
    Mistake(NominatesForTwoVictims, ["evicting"], OWN),
    Mistake(LooksEverywhere, ["evicting"], OWN),
    Mistake(LooksWhereNothingHelps, ["evicting"], OWN),
    Mistake(TakesTheLeast, ["evicting"], OWN),
    Mistake(TakesTheCheapest, ["evicting"], OWN),
    Mistake(TakesTheFirst, ["evicting"], OWN),
    Mistake(CountsViolationsLast, ["evicting"], OWN),
    Mistake(KeepsRanksByKey, ["staleness"], RANKED),
    Mistake(KeepsRanksByUid, ["staleness"], RANKED),
    Mistake(KeepsRanksOfAdditions, ["staleness"], RANKED),
    Mistake(KeepsRanksInARule, ["staleness"], RANKED),
    Mistake(EvictsByName, ["evicting"], OWN),
    Mistake(EvictsWhatIsThere, ["evicting"], OWN),
    Mistake(EvictsTheNameAfterAConflict, ["evicting"], OWN),
    Mistake(IgnoresFailedEvictions, ["evicting"], OWN),
    Mistake(RaisesInTheTask, ["evicting"], OWN),
    Mistake(SwallowsFailures, ["evicting"], OWN),
    Mistake(DeletesInTheHook, ["timers"], OWN),
    Mistake(ChoosesAtRandom, ["other process"], OWN),
    Mistake(IgnoresThePolicy, ["evicting"], OWN),
    Mistake(EvictsAgain, ["evicting"], OWN),
    Mistake(TriesLater, ["registrations"], OWN),
    Mistake(EvictsWithAnotherTwin, ["victim twins"], OWN),
    Mistake(EvictsMoreImportant, ["victim twins"], OWN),
    Mistake(EvictsLightInInt32, ["victim twins"], HEAVY),
)
