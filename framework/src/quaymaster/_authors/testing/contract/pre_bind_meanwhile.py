"""Runs another pod while PreBind of a pod waits for a call of the cluster."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.binding_runs import (
    BindingRun,
    begin,
    open_nodes,
    written_objects,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.held_locks import held_locks
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import may_block
from quaymaster._core.contract.status import Code, Status

__all__ = ["ask_meanwhile"]

_MOST_CALLS: Final = 3
"""The calls of the cluster that another pod comes in between."""

_LOCAL: Final = (
    "calls of the cluster take a while, and other pods go on meanwhile, so keep what "
    "belongs to a pod in its CycleState or in a local variable, not in the plugin"
)
_LOCKED: Final = (
    "with blocks = False all pods share one thread, on which the second pod would wait "
    "for the lock of the first for ever: hold no lock during a call of the cluster, or "
    "remove the declaration"
)


def ask_meanwhile(subject: Subject, cluster: SmallCluster) -> None:
    """Check that PreBind of a pod does not depend on pods that come during its calls.

    What it writes has to be as if the pods had come one after the other.

    Raises:
        Finding: It depends on them, or holds a lock for which they wait.
    """
    for pod in cluster.pending[:2]:
        nodes = open_nodes(Bench(subject, cluster), pod)
        if nodes:
            pods = copies_of(pod, 2)
            joined = attrs.evolve(cluster, pending=(*cluster.pending, *pods))
            if _Pair(subject, joined, pods, (nodes[0], nodes[-1])).has_compared():
                return


@attrs.frozen
class _Outcome:
    """What has become of two pods.

    Attributes:
        answers: The kinds of the answers of PreBind.
        objects: The objects that the plugin has written.
    """

    answers: Sequence[object]
    objects: Mapping[tuple[type, str], ApiObject]


def _kind_of(answer: object) -> object:
    return answer.code if isinstance(answer, Status) else type(answer)


@attrs.frozen
class _Pair:
    """Two pods that are alike, and their nodes.

    Attributes:
        subject: The plugin.
        cluster: The cluster, with both.
        pods: The first pod, and the one that comes during its calls.
        nodes: The nodes of the two; the same one if only one fits.
    """

    subject: Subject
    cluster: SmallCluster
    pods: Sequence[Pod]
    nodes: Sequence[str]

    def has_compared(self) -> bool:
        """Compare a pod in between with the pods one after the other.

        Returns:
            Whether PreBind calls the cluster, so that there was anything to compare.
        """
        for is_undone in (False, True):
            first = _Play(self, is_undone=is_undone)
            try:
                expected = [first.outcome(_TURNS[0])]
                if not first.held[0]:
                    return False
                expected += [
                    _Play(self, is_undone=is_undone).outcome(turn)
                    for turn in _TURNS[1:]
                ]
            except HookFailedError:
                return False  # another check reports failures
            self._compare_locks(first)
            for number in range(len(first.held[0])):
                self._compare(number, expected, is_undone=is_undone)
        return True

    def _compare_locks(self, play: "_Play") -> None:
        """Look for a lock for which the second pod would wait."""
        first, second = (frozenset().union(*play.held[at]) for at in (0, 1))
        if first & second and not may_block(self.subject.plugin):
            text = (
                f"holds a lock during a call of handle.cluster for pod "
                f"'{self.pods[0].key}', and wants it for pod '{self.pods[1].key}', "
                f"too: {_LOCKED}"
            )
            fail("pre_bind", text, self.pods)

    def _compare(
        self, number: int, expected: Sequence[_Outcome | None], *, is_undone: bool
    ) -> None:
        play = _Play(self, is_undone=is_undone, number=number)
        ending = "reserve, pre_bind and unreserve run" if is_undone else "pre_bind runs"
        when = (
            f"if {ending} for pod '{self.pods[1].key}' during its {_ORDINALS[number]} "
            f"call of handle.cluster: {_LOCAL}"
        )
        try:
            outcome = play.outcome((("reserve", 0), ("bind", 0)))
        except HookFailedError as failure:
            fail(failure.hook, f"{failure.problem} {when}", self.pods)
        if outcome is None or not play.has_interrupted:
            return
        self.subject.exercised["calls of pre_bind with another pod in between"] += 1
        if Code.ERROR in outcome.answers or outcome in expected:
            return  # an attempt with an error is repeated
        objects = self._differing(outcome, [each for each in expected if each])
        text = (
            f"has other results for pods '{self.pods[0].key}' and "
            f"'{self.pods[1].key}' than if they come one after the other, {when}"
        )
        fail("pre_bind", text, self.pods, objects)

    def _differing(
        self, outcome: _Outcome, expected: Sequence[_Outcome]
    ) -> Sequence[ApiObject]:
        """Return the objects that are never like this, with those of the first turn."""
        usual = expected[0].objects
        shown = []
        for key in dict.fromkeys((*outcome.objects, *usual)):
            obj = outcome.objects.get(key)
            if all(obj != each.objects.get(key) for each in expected):
                shown += [each for each in (obj, usual.get(key)) if each is not None]
        return shown


class _Play:
    """Two pods on one bench.

    Args:
        pair: The pods.
        is_undone: Whether the second one loses its node after PreBind.
        number: The call of PreBind of the first pod, from 0, during which the second
            one comes; by default, none.

    Attributes:
        held: The locks that are held at the first calls of PreBind of each pod.
        has_interrupted: Whether the second pod has come.
    """

    def __init__(
        self, pair: _Pair, *, is_undone: bool, number: int | None = None
    ) -> None:
        self._pair = pair
        self._is_undone = is_undone
        self._number = number
        self._bench = Bench(pair.subject, pair.cluster)
        self._runs: dict[int, BindingRun] = {}
        self._answers: dict[int, object] = {}
        self.held: dict[int, list[frozenset[int]]] = {0: [], 1: []}
        self.has_interrupted = False

    def outcome(self, steps: Sequence[tuple[str, int]]) -> _Outcome | None:
        """Take steps for the pods; None if one of them is rejected.

        Raises:
            HookFailedError: A hook failed.
        """
        for step, at in steps:
            if not self._take(step, at):
                return None
        answers = [_kind_of(self._answers[at]) for at in sorted(self._answers)]
        return _Outcome(answers, written_objects(self._bench))

    def _take(self, step: str, at: int) -> bool:
        if step == "reserve":
            run = begin(self._bench, self._pair.pods[at], self._pair.nodes[at])
            if run is None:
                return False
            self._runs[at] = run
            return True
        cluster, run = self._bench.cluster, self._runs[at]
        before, cluster.before_call = cluster.before_call, lambda: self._call(at)
        try:
            self._answers[at] = run.pre_bind()
        finally:
            cluster.before_call = before
        if at and self._is_undone:
            run.ask("unreserve")
            run.forget()
            self._bench.deliver()
        return True

    def _call(self, at: int) -> None:
        """Note a call of PreBind of a pod, and let the other pod come in between."""
        if len(self.held[at]) == _MOST_CALLS:
            return
        self.held[at].append(held_locks(self._bench.plugin))
        is_due = at == 0 and len(self.held[0]) - 1 == self._number
        # Otherwise the other pod may wait for the lock, as it should.
        if is_due and not self.held[0][-1]:
            self.has_interrupted = self._take("reserve", 1) and self._take("bind", 1)


_TURNS: Final = (
    (("reserve", 0), ("bind", 0), ("reserve", 1), ("bind", 1)),
    (("reserve", 0), ("reserve", 1), ("bind", 1), ("bind", 0)),
    (("reserve", 0), ("reserve", 1), ("bind", 0), ("bind", 1)),
)
"""The ways in which two pods come one after the other: steps of the first and second.
"""
_ORDINALS: Final = ("first", "second", "third")
