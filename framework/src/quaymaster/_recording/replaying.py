"""Replays a record: each decision in it is made again, on the state that it met."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._config.kinds import declared_kinds
from quaymaster._config.model import SchedulerConfig
from quaymaster._contract.clock import VirtualClock
from quaymaster._contract.cluster import NotFoundError
from quaymaster._cycle.explanation import Explanation, NodeScores
from quaymaster._objects import Node, Pod, Time
from quaymaster._objects.kind_set import KindSet
from quaymaster._recording.compared import (
    Agreement,
    ComparedDecision,
    Decided,
    ReplayProgress,
    ReplayResult,
)
from quaymaster._recording.files import RecordFile
from quaymaster._recording.judge import Judge, Verdict
from quaymaster._recording.moments import Moments
from quaymaster._recording.notices import notices_of, unknown_of
from quaymaster._recording.ordering import put_in_order
from quaymaster._recording.searching import Search, bound_as
from quaymaster._recording.state import Entry, RecordState
from quaymaster._recording.supposing import Doubts, Moved
from quaymaster._recording.survey import Outcome, Survey, survey
from quaymaster._recording.world import RecordedWorld
from quaymaster._registry.registry import PluginRegistry

__all__ = ["replay"]

_AGREED: Final = frozenset({Agreement.SAME, Agreement.TIE})
_DECISIONS_PER_REPORT: Final = 64


def replay(
    record: str | os.PathLike[str],
    *,
    config: SchedulerConfig,
    registry: PluginRegistry,
    seed: int = 0,
    on_progress: ReplayProgress | None = None,
    is_brief: bool = False,
) -> ReplayResult:
    """Make each decision of a record again, and compare.

    After each comparison the record is followed, whatever ours decided: so each
    decision is made on the state that the recorded scheduler met, as far as it can be
    seen from outside.

    Args:
        record: The file.
        config: The configuration of our scheduler.
        registry: Where plugins are found by name.
        seed: Seeds what is random in plugins; ties are told, not drawn.
        on_progress: Called with the progress.
        is_brief: Decisions that differ are told without scores, and are not made again
            on states nearby. It is for records of simulations, whose order is exact.

    Raises:
        RecordError: The file cannot be read, or is no record.
        ProfileError: A profile's plugins cannot be built.
    """
    file = RecordFile(record)
    kinds = KindSet(declared_kinds(config, registry))
    state = RecordState(kinds)
    lines = file.lines()
    first = next(lines)
    state.take(first)
    run = _Replay(state, config, registry, seed, on_progress, is_brief=is_brief)
    with closing(run):
        run.survey(state.entries(lines))
        run.follow(RecordState(kinds).entries(file.lines()))
    return attrs.evolve(
        run.result(),
        unknown=unknown_of(run.found, state, config, run.most_nodes),
        notices=notices_of(file, state),
    )


class _Replay:
    """One replay.

    Args:
        state: The record, whose first line has been read.
        config: The configuration.
        registry: Where plugins are found.
        seed: Seeds what is random in plugins.
        on_progress: Called with the progress, or None.
        is_brief: Whether what differs is told without a closer look.

    Attributes:
        found: The decisions of the record.
        most_nodes: How many nodes there were at most when something was decided.
    """

    def __init__(
        self,
        state: RecordState,
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int,
        on_progress: ReplayProgress | None,
        *,
        is_brief: bool,
    ) -> None:
        self.most_nodes = 0
        self.found = Survey()
        self._state = state
        self._on_progress = on_progress
        self._is_brief = is_brief
        self._world = RecordedWorld()
        self._start = Time.parse(state.begins[0].time)
        self._clock = VirtualClock(self._start)
        self._judge = Judge(self._world, self._clock, config, registry, seed)
        self._others: Counter[str] = Counter()
        self._decisions: list[tuple[int, ComparedDecision]] = []
        # The pods that have been decided about and are not bound yet, by uid.
        self._assumed: dict[str, Moved] = {}
        self._shown: dict[int, Outcome] = {}
        self._differing: set[int] = set()

    def close(self) -> None:
        """Close the plugins."""
        self._judge.close()

    def survey(self, entries: Iterator[Entry]) -> None:
        """Find the decisions."""
        self.found = survey(entries, self._judge.place_in_queue)
        self._shown = {one.seen: one for one in self.found.outcomes}

    def follow(self, entries: Iterator[Entry]) -> None:
        """Go through the record, and make its decisions again."""
        due = put_in_order(self.found.outcomes)
        moments = Moments(entries)
        for number, entry in moments:
            self._pass_time(entry.at)
            for outcome in due.get(number, ()):
                self._take(outcome, number, moments)
            self._apply(entry)

    def result(self) -> ReplayResult:
        """What it came to."""
        ordered = sorted(self._decisions, key=lambda one: one[0])
        pods = self._state.objects.get(Pod.kind, {}).values()
        waiting = [
            pod
            for pod in pods
            if isinstance(pod, Pod)
            and not (pod.node_name or pod.is_finished or pod.is_terminating)
        ]
        return ReplayResult(
            decisions=tuple(decision for _, decision in ordered),
            seconds=self._state.end,
            pods=len(self.found.lives),
            others=dict(sorted(self._others.items())),
            with_node=self.found.with_node,
            waiting=len(waiting),
        )

    def _pass_time(self, at: float) -> None:
        seconds = self._start + at - self._clock.now()
        if seconds > 0:
            self._clock.advance(seconds)

    def _apply(self, entry: Entry) -> None:
        new = entry.new
        if isinstance(new, Pod) and new.uid in self._assumed:
            if new.node_name:
                del self._assumed[new.uid]
            else:
                node = self._assumed[new.uid].outcome.node
                new = replace(new, node_name=node)
                entry = attrs.evolve(entry, new=new)
        self._world.apply(entry)

    def _take(self, outcome: Outcome, number: int, moments: Moments) -> None:
        if outcome.scheduler not in self._judge.schedulers:
            self._others[outcome.scheduler] += 1
            return
        pod = self._pod(outcome)
        if pod is None:
            return
        self.most_nodes = max(self.most_nodes, len(self._world.list(Node).items))
        self._decisions.append((outcome.seen, self._compared(outcome, pod, moments)))
        if outcome.node and outcome.seen > number:
            bound = bound_as(outcome, pod)
            self._assumed[outcome.uid] = Moved(outcome, (bound,))
            self._world.apply(bound)
        done = len(self._decisions)
        if self._on_progress is not None and done % _DECISIONS_PER_REPORT == 0:
            self._on_progress(done, len(self.found.outcomes))

    def _pod(self, outcome: Outcome) -> Pod | None:
        """The pod as it is now; None if there is another one of that name."""
        try:
            pod = self._world.get(Pod, outcome.pod)
        except NotFoundError:
            return None
        return pod if pod.uid == outcome.uid and not pod.node_name else None

    def _compared(
        self, outcome: Outcome, pod: Pod, moments: Moments
    ) -> ComparedDecision:
        theirs = _theirs(outcome)
        verdict = self._judge.decide(pod, theirs)
        agreement = _agreement(theirs, verdict)
        compared = ComparedDecision(
            pod=outcome.pod,
            scheduler=outcome.scheduler,
            at=outcome.at,
            agreement=agreement,
            theirs=theirs,
            ours=verdict.decided,
            best=verdict.best,
        )
        if agreement in _AGREED or self._is_brief:
            return compared
        compared = _explained(compared, self._judge.explain(pod))
        doubts = Doubts(outcome, moments, self._shown, self._assumed)
        search = Search(self._world, self._is_decided_so, self._differing)
        width = search.width_of(outcome, pod, doubts)
        order = Agreement.ORDER if width else agreement
        if order is Agreement.DIFFERS:
            self._differing.add(outcome.rank)
        return attrs.evolve(compared, agreement=order, tried=search.tried, width=width)

    def _is_decided_so(self, outcome: Outcome) -> bool:
        """Whether ours decides the same about a pod as things stand."""
        try:
            pod = self._world.get(Pod, outcome.pod)
        except NotFoundError:
            return False
        theirs = _theirs(outcome)
        return _agreement(theirs, self._judge.decide(pod, theirs)) in _AGREED


def _theirs(outcome: Outcome) -> Decided:
    return Decided(
        node=outcome.node,
        message=outcome.message,
        nominated_node=outcome.nominated_node,
        victims=tuple(sorted(outcome.victims)),
    )


def _agreement(theirs: Decided, verdict: Verdict) -> Agreement:
    ours = verdict.decided
    if theirs.node or ours.node:
        if theirs.node != ours.node:
            return Agreement.DIFFERS
        return Agreement.TIE if verdict.best > 1 else Agreement.SAME
    if theirs.nominated_node != ours.nominated_node:
        return Agreement.DIFFERS
    if theirs.victims and ours.victims and theirs.victims != ours.victims:
        return Agreement.DIFFERS
    if verdict.best > 1:
        return Agreement.TIE
    return Agreement.SAME if theirs.message == ours.message else Agreement.REASONS


def _explained(compared: ComparedDecision, found: Explanation) -> ComparedDecision:
    """Add how ours rates both nodes, and why it leaves out theirs."""
    scores = {one.node: one for one in found.scores}
    theirs = compared.theirs.node or compared.theirs.nominated_node
    rejections = (one for one in found.rejections if one.node == theirs)
    ours: NodeScores | None = scores.get(compared.ours.node)
    return attrs.evolve(
        compared,
        our_scores=ours,
        their_scores=scores.get(theirs),
        rejection=next(rejections, None),
    )
