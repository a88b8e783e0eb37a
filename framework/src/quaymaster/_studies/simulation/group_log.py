"""Keeps the attempts of a group while they are made."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.contract.pod_groups import PodGroupInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.decisions import Decision, FitError
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.explanation import NodeRejection, PluginScore
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.group_reports import (
    GroupReport,
    member_facts,
    trial_scores,
)
from quaymaster._core.groups.results import MemberResult, PlacementTrial
from quaymaster._studies.simulation.explained_groups import (
    GroupAttempt,
    TriedPlacement,
    UnplacedMember,
)

__all__ = ["GroupLog"]

_Explains: TypeAlias = Callable[[Pod], bool]


class GroupLog:
    """Follows the attempts of some groups.

    Args:
        takes: Whether to follow a group; by default all are followed.
        with_nodes: Whether to keep why each node was rejected.
        keeps_last: Whether to keep only the last attempt of each group.
        explains: Whether to keep why nodes were rejected for a pod; for the first and
            the last pod that got no node it is kept in any case.

    Attributes:
        calls_hooks: Whether it calls hooks.
    """

    calls_hooks = False

    def __init__(
        self,
        takes: Callable[[PodGroupInfo], bool] = lambda _group: True,
        *,
        with_nodes: bool = True,
        keeps_last: bool = False,
        explains: Callable[[Pod], bool] = lambda _pod: False,
    ) -> None:
        self._takes = takes
        self._with_nodes = with_nodes
        self._keeps_last = keeps_last
        self._explains = explains
        self._attempts: dict[str, list[GroupAttempt]] = {}
        self._awaiting: set[str] = set()

    def begin(self, _pod: Pod, _framework: Framework, _now: float) -> None:
        """Do nothing: attempts of a group are reported as a whole."""

    def fail(self, _pod: Pod, _failure: Failure) -> None:
        """Do nothing, as above."""

    def bind(self, _pod: Pod, _node_name: str) -> None:
        """Do nothing, as above."""

    def preempt(self, victim: str, by: str) -> None:
        """Add a victim to the last attempt of a group.

        Victims are evicted after the attempt, while the group waits for its next one.
        """
        if by in self._awaiting:
            attempts = self._attempts[by]
            preempted = (*attempts[-1].preempted, victim)
            attempts[-1] = attrs.evolve(attempts[-1], preempted=preempted)

    def decided(self, report: GroupReport, now: float) -> None:
        """Keep an attempt of a group, if the group is followed."""
        key = report.info.key
        if not self._takes(report.info):
            return
        attempts = self._attempts.setdefault(key, [])
        # Before earlier attempts are dropped, so that numbers go on.
        number = attempts[-1].number + 1 if attempts else 1
        explains = self._explains if self._with_nodes else None
        if self._keeps_last:
            attempts.clear()
        attempts.append(_attempt(report, now, number, explains))
        if report.result.is_waiting:
            self._awaiting.add(key)
        else:
            self._awaiting.discard(key)

    def of(self, key: str) -> tuple[GroupAttempt, ...]:
        """Return the attempts of a group, in their order."""
        return tuple(self._attempts.get(key, ()))


def _attempt(
    report: GroupReport, now: float, number: int, explains: _Explains | None
) -> GroupAttempt:
    result = report.result
    fitting = [trial for trial in report.trials if trial.result.status is None]
    scores = dict(zip(map(id, fitting), trial_scores(report, fitting), strict=True))
    return GroupAttempt(
        number=number,
        at=now,
        outcome=_outcome(result.status),
        message="" if result.status is None else result.status.message,
        tried=tuple(pod.key for pod in report.info.pods),
        scheduled=len(report.scheduled),
        placements=tuple(
            _placement(report, trial, scores.get(id(trial), {}), explains)
            for trial in report.trials
        ),
        nominated={
            member.queued.key: member.nominating.node_name
            for member in result.members
            if result.is_waiting and member.nominating and member.nominating.node_name
        },
    )


def _outcome(status: Status | None) -> AttemptOutcome:
    if status is None:
        return AttemptOutcome.SCHEDULED
    if status.is_rejected:
        return AttemptOutcome.UNSCHEDULABLE
    return AttemptOutcome.ERROR


def _placement(
    report: GroupReport,
    trial: PlacementTrial,
    scores: Mapping[str, PluginScore],
    explains: _Explains | None,
) -> TriedPlacement:
    result = trial.result
    tried = [member for member in result.members if member.is_tried]
    names = report.nodes.names_at(trial.placement.rows)
    status = result.status
    return TriedPlacement(
        name=trial.placement.name,
        nodes=len(names),
        is_feasible=status is None,
        # Identity: the result of the cycle is that of the chosen placement.
        is_chosen=result is report.result and status is None,
        message="" if status is None else status.message,
        assigned={
            member.queued.key: member.outcome.node.name
            for member in tried
            if isinstance(member.outcome, Decision)
        },
        unplaced=tuple(_unplaced_members(report, trial, names, explains)),
        untried=len(report.info.pods) - len(tried),
        scores=scores,
        total=sum(score.weighted for score in scores.values()) if scores else None,
    )


def _unplaced_members(
    report: GroupReport,
    trial: PlacementTrial,
    names: Sequence[str],
    explains: _Explains | None,
) -> Iterator[UnplacedMember]:
    """Yield the pods that got no node; the first and the last have facts."""
    members = [
        member
        for member in trial.result.members
        if member.is_tried and not member.has_node
    ]
    explained = {id(member) for member in (*members[:1], *members[-1:])}
    for member in members:
        is_explained = explains is not None and (
            id(member) in explained or explains(member.queued.pod)
        )
        unplaced = _unplaced(member, names if is_explained else ())
        if unplaced.rejections:
            facts = member_facts(report, trial, member)
            unplaced = attrs.evolve(
                unplaced, rejections=_merged(unplaced.rejections, facts)
            )
        yield unplaced


def _merged(
    rejections: Iterable[NodeRejection], facts: Iterable[NodeRejection]
) -> tuple[NodeRejection, ...]:
    """Take the details of the same rejections, since the attempt itself counts."""
    by_node = {each.node: each for each in facts}
    merged = []
    for rejection in rejections:
        other = by_node.get(rejection.node)
        is_same = other is not None and (other.plugin, other.reasons) == (
            rejection.plugin,
            rejection.reasons,
        )
        details = other.details if other is not None and is_same else ()
        merged.append(attrs.evolve(rejection, details=details))
    return tuple(merged)


def _unplaced(member: MemberResult, names: Sequence[str]) -> UnplacedMember:
    outcome = member.outcome
    if isinstance(outcome, FitError) and outcome.diagnosis is not None:
        return UnplacedMember(
            pod=member.queued.key,
            message=outcome.diagnosis.message(),
            rejections=_rejections(outcome.diagnosis, names),
        )
    status = outcome.status if isinstance(outcome, FitError) else outcome
    message = status.message if isinstance(status, Status) else ""
    return UnplacedMember(pod=member.queued.key, message=message)


def _rejections(
    diagnosis: Diagnosis, names: Iterable[str]
) -> tuple[NodeRejection, ...]:
    verdicts = [(name, diagnosis[name]) for name in names]
    return tuple(
        NodeRejection(
            node=name, plugin=status.plugin, code=status.code, reasons=status.reasons
        )
        for name, status in verdicts
    )
