"""Replays a record: each of its decisions is made again on the same state."""

import os
from contextlib import closing
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.cycle.explanation import Explanation, NodeScores
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.recording.agreeing import AGREED, compared_with, theirs_of
from quaymaster._studies.recording.compared import (
    Agreement,
    ComparedDecision,
    ReplayProgress,
    ReplayResult,
)
from quaymaster._studies.recording.files import RecordFile
from quaymaster._studies.recording.following import Following
from quaymaster._studies.recording.judge import Judge
from quaymaster._studies.recording.moments import Moments
from quaymaster._studies.recording.notices import (
    notices_of,
    notices_of_groups,
    unknown_of,
)
from quaymaster._studies.recording.searching import Search
from quaymaster._studies.recording.supposing import Doubts
from quaymaster._studies.recording.survey import Outcome

__all__ = ["replay"]

_DECISIONS_PER_REPORT: Final = 64


def replay(
    record: str | os.PathLike[str],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    on_progress: ReplayProgress | None = None,
) -> ReplayResult:
    """Make each decision of a record again, and compare.

    After each comparison the recorded decision is applied, independent of ours. So each
    decision is made on the state that the recorded scheduler had, as far as it is
    visible from outside.

    Args:
        record: The file.
        config: The configuration of our scheduler; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: The seed of random plugins; ties are reported, not drawn.
        on_progress: Called with the progress.

    Raises:
        RecordError: The file is unreadable, or not a record.
        ProfileError: A profile's plugins cannot be built.
    """
    config, registry = with_defaults(config, registry)
    file = RecordFile(record)
    following = Following(file, KindSet(declared_kinds(config, registry)))
    judge = Judge(following.world, following.clock, config, registry, seed)
    run = _Replay(following, judge, on_progress)
    with closing(judge):
        following.go_through(judge.place_in_queue, judge.schedulers, run.take)
    survey, state = following.survey, following.state
    return attrs.evolve(
        run.result(),
        unknown=unknown_of(survey, state, config, following.most_nodes),
        notices=(*notices_of(file, state), *notices_of_groups(run.grouped)),
    )


class _Replay:
    """One replay.

    Args:
        following: Follows the record.
        judge: Makes our decisions.
        on_progress: Called with the progress, or None.

    Attributes:
        grouped: The number of decisions about pods of PodGroups.
    """

    def __init__(
        self, following: Following, judge: Judge, on_progress: ReplayProgress | None
    ) -> None:
        self._following = following
        self._judge = judge
        self._on_progress = on_progress
        self._decisions: list[tuple[int, ComparedDecision]] = []
        self._differing: set[int] = set()
        self.grouped = 0

    def take(self, outcome: Outcome, pod: Pod, moments: Moments) -> None:
        """Make a decision again on the current state."""
        self.grouped += bool(pod.group_key)
        compared = self._compared(outcome, pod, moments)
        self._decisions.append((outcome.seen, compared))
        done = len(self._decisions)
        if self._on_progress is not None and done % _DECISIONS_PER_REPORT == 0:
            self._on_progress(done, len(self._following.survey.outcomes))

    def result(self) -> ReplayResult:
        """Return the result."""
        # Made in the order of the decisions, but reported in the order of the record.
        ordered = sorted(self._decisions, key=lambda decision: decision[0])
        following = self._following
        pods = following.state.objects.get(Pod.kind, {}).values()
        waiting = [
            pod
            for pod in pods
            if isinstance(pod, Pod)
            and not (pod.node_name or pod.is_finished or pod.is_terminating)
        ]
        return ReplayResult(
            decisions=tuple(decision for _, decision in ordered),
            seconds=following.state.end,
            pods=len(following.survey.lives),
            others=dict(sorted(following.others.items())),
            with_node=following.survey.with_node,
            waiting=len(waiting),
        )

    def _compared(
        self, outcome: Outcome, pod: Pod, moments: Moments
    ) -> ComparedDecision:
        following = self._following
        verdict = self._judge.decide(pod, theirs_of(outcome))
        compared = compared_with(outcome, verdict)
        if compared.agreement in AGREED:
            return compared
        compared = _explained(compared, self._judge.explain(pod))
        doubts = Doubts(outcome, moments, following.shown, following.assumed)
        search = Search(following.world, self._is_decided_so, self._differing)
        width = search.width_of(outcome, pod, doubts)
        order = Agreement.ORDER if width else compared.agreement
        if order is Agreement.DIFFERS:
            self._differing.add(outcome.rank)
        return attrs.evolve(compared, agreement=order, tried=search.tried, width=width)

    def _is_decided_so(self, outcome: Outcome) -> bool:
        """Whether ours decides the same about a pod on the current state."""
        try:
            pod = self._following.world.get(Pod, outcome.pod)
        except NotFoundError:
            return False
        verdict = self._judge.decide(pod, theirs_of(outcome))
        return compared_with(outcome, verdict).agreement in AGREED


def _explained(
    compared: ComparedDecision, explanation: Explanation
) -> ComparedDecision:
    """Add our scores of both nodes, and why ours rejects theirs."""
    scores = {score.node: score for score in explanation.scores}
    theirs = compared.theirs.node or compared.theirs.nominated_node
    rejections = (
        rejection for rejection in explanation.rejections if rejection.node == theirs
    )
    ours: NodeScores | None = scores.get(compared.ours.node)
    return attrs.evolve(
        compared,
        our_scores=ours,
        their_scores=scores.get(theirs),
        rejection=next(rejections, None),
    )
