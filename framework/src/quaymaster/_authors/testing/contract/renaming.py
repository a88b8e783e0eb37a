"""A check: answers are the same when arguments and objects have other keys."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    Answers,
    answers,
    difference,
    shown,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import Step, is_of, own_steps, steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.renamed_keys import Renaming, renamings
from quaymaster._authors.testing.contract.reserving import (
    binding_answers,
    first_open_node,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.twin import compare_twins
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.config.records import record_fields
from quaymaster._core.contract.cluster_events import ClusterEventWithHint
from quaymaster._core.contract.status import Status

__all__ = ["RENAMING"]

_COMPARED: Final = "clusters with other names of keys"
_MOST_STEPS: Final = 12
"""The changes for which hints are compared."""


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    for renaming in renamings(subject, cluster):
        subject.exercised[_COMPARED] += 1
        trial = _Trial(
            renaming=renaming,
            cluster=cluster,
            here=Bench(subject, cluster),
            there=Bench(renaming.subject, renaming.cluster(cluster)),
        )
        trial.compare_keys()
        for pod in cluster.pending:
            trial.compare_answers(pod)
        trial.compare_twins()
        if subject.has("events_to_register"):
            trial.compare_hints(other)
        renaming.subject.close()


@attrs.frozen
class _Trial:
    """One plugin with two names of the same keys.

    Attributes:
        renaming: The other names.
        cluster: The cluster with the usual names.
        here: The plugin and the cluster with the usual names.
        there: The plugin and the cluster with the other names.
    """

    renaming: Renaming
    cluster: SmallCluster
    here: Bench
    there: Bench

    def compare_keys(self) -> None:
        """Compare which pods have equal fragments, and in which order pods are."""
        pods = (*self.cluster.pending, *self.cluster.pods)
        others = [self.renaming.renamed(pod) for pod in pods]
        if self.here.subject.has("sign_pod"):
            here = _groups(self.here, pods)
            there = _groups(self.there, others)
            for pod, number, expected in zip(pods, there, here, strict=True):
                if number != expected:
                    first = pods[min(number, expected)]
                    verb = "shares" if number < expected else "does not share"
                    text = f"pod '{pod.key}' {verb} a fragment with pod '{first.key}'"
                    self._fail("sign_pod", text, pod, first)
        has_keys = self.here.subject.has("queue_sort")
        if has_keys and _order(self.here, pods) != _order(self.there, others):
            self._fail("queue_sort", "the pods have another order", *pods)

    def compare_answers(self, pod: Pod) -> None:
        """Compare the answers of all hooks up to Permit for a pod."""
        other = self.renaming.renamed(pod)
        expected = answers(self.here, pod)
        changed = difference(
            _restored(answers(self.there, other), self.renaming),
            _restored(expected, None),
        )
        if changed is not None:
            self._fail(changed.hook, str(changed), pod)
        node_name = first_open_node(self.here, pod)
        if not node_name:
            return
        before = binding_answers(self.here, pod, node_name)
        for hook, answer in binding_answers(self.there, other, node_name).items():
            actual = self.renaming.restored(shown(answer))
            if actual != shown(before.get(hook)):
                text = f"{actual}, expected {shown(before.get(hook))}"
                self._fail(hook, text, pod)

    def compare_twins(self) -> None:
        """Compare the twins with the scalar hooks, where the keys have other names."""
        cluster = self.renaming.cluster(self.cluster)
        bench = Bench(self.renaming.subject, cluster)
        when = (
            f", with the arguments {self._arguments} and the same names in all "
            "objects: the twin has to read the argument, too"
        )
        compare_twins(bench, cluster.pending, cluster, when)

    def compare_hints(self, other: SmallCluster) -> None:
        """Compare which changes wake pods."""
        pairs = list(zip(_hints(self.here), _hints(self.there), strict=True))
        for pod in self.cluster.pending[:1]:
            changes = (
                *own_steps(self.cluster, other, pod),
                *steps(self.cluster, other, self.here.subject.objects),
            )
            for step in islice(changes, _MOST_STEPS):
                for registered, renamed in pairs:
                    if _is_meant(registered, step, self.here.subject):
                        self._compare_hint(registered, renamed, pod, step)

    def _compare_hint(
        self,
        registered: ClusterEventWithHint,
        renamed: ClusterEventWithHint,
        pod: Pod,
        step: Step,
    ) -> None:
        old, new = (
            None if obj is None else self.renaming.renamed(obj)
            for obj in (step.old, step.new)
        )
        if registered.hint is None or renamed.hint is None:
            return
        try:
            expected: object = registered.hint(pod, step.old, step.new)
            actual: object = renamed.hint(self.renaming.renamed(pod), old, new)
        except Exception:
            return  # another check reports hints that raise
        if actual != expected:
            label = registered.event.label
            text = f"the hint for {label} gives {actual} on {step}, expected {expected}"
            self._fail("events_to_register", text, pod)

    @property
    def _arguments(self) -> str:
        pairs = self.renaming.arguments.items()
        return ", ".join(f"{key}: {value!r}" for key, value in pairs)

    def _fail(self, hook: str, problem: str, *pods: Pod) -> None:
        text = (
            f"{problem}, with the arguments {self._arguments} and the same names in "
            "all objects: the answer must be the same as with the usual names, so read "
            "the argument in each hook, and neither its default nor a fixed name"
        )
        cluster = self.renaming.cluster(self.cluster)
        renamed = map(self.renaming.renamed, pods)
        fail(hook, text, renamed, cluster.nodes, cluster.pods)


def _groups(bench: Bench, pods: Sequence[Pod]) -> Sequence[int]:
    """Return for each pod the number of the first one that has its fragment."""
    fragments = [bench.ask("sign_pod", pod) for pod in pods]
    return [fragments.index(fragment) for fragment in fragments]


def _order(bench: Bench, pods: Sequence[Pod]) -> Sequence[int]:
    # Any: plugins return any keys that compare with each other.
    keys: list[Any] = [bench.ask("queue_sort", make_queued_pod(pod)) for pod in pods]
    return sorted(range(len(pods)), key=lambda at: keys[at])


def _hints(bench: Bench) -> tuple[ClusterEventWithHint, ...]:
    registered = bench.ask("events_to_register")
    assert isinstance(registered, tuple)
    return registered


def _is_meant(registered: ClusterEventWithHint, step: Step, subject: Subject) -> bool:
    event = registered.event
    return is_of(event.resource, step.subject) and any(
        event.matches(change) for change in step.events(subject.kubernetes)
    )


def _restored(actual: Answers, renaming: Renaming | None) -> Answers:
    """Return answers whose reasons have the usual names, in a fixed order."""

    def restored(answer: object) -> object:
        if not isinstance(answer, Status) or not answer.reasons:
            return answer
        texts = answer.reasons
        if renaming is not None:
            texts = tuple(map(renaming.restored, texts))
        return Status(answer.code, tuple(sorted(texts)))

    def all_restored(each: Mapping[str, object]) -> Mapping[str, object]:
        return {name: restored(answer) for name, answer in each.items()}

    return attrs.evolve(
        actual,
        pre_enqueue=restored(actual.pre_enqueue),
        pre_filter=restored(actual.pre_filter),
        rejected=all_restored(actual.rejected),
        score=all_restored(actual.score),
        normalized=all_restored(actual.normalized),
    )


def _has_texts(plugin: type) -> bool:
    args: object = getattr(plugin, "Args", None)
    if not isinstance(args, type) or not attrs.has(args):
        return False
    return any("str" in str(field.type) for field in record_fields(args))


RENAMING: Final = Check(
    name="renaming",
    promise="answers are the same when arguments and objects name keys otherwise",
    ask=_ask,
    needs_other=True,
    only_for=_has_texts,
)
