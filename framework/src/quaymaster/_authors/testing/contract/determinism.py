"""Checks: equal calls get equal answers, and answers follow the cluster."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.answers import answers, difference, shown
from quaymaster._authors.testing.contract.attempts import place
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import running_steps, steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.reserving import (
    binding_difference,
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stale_victims import ask_stale_victims
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["DETERMINISM", "STALENESS"]

_STEPS: Final = 3
"""The updates of running pods that are tried for each cluster."""
_MOST_CHANGES: Final = 8
"""The changes that come between PreEnqueue and PreFilter; objects are the last."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench, again = Bench(subject, cluster), Bench(subject, cluster)
    for pod in cluster.pending:
        expected = answers(bench, pod)
        for who, actual in (
            ("when it is called again", answers(bench, pod)),
            ("when another instance is called", answers(again, pod)),
        ):
            changed = difference(actual, expected)
            if changed is not None:
                text = f"{changed} as before, {who} with an unchanged cluster"
                fail(changed.hook, text, pod, cluster.nodes, cluster.pods)
        _ask_permit(subject, cluster, pod)


def _ask_permit(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Compare Reserve and Permit of two new instances."""
    if not subject.has("reserve") and not subject.has("permit"):
        return
    bench, again = Bench(subject, cluster), Bench(subject, cluster)
    node_name = first_open_node(bench, pod)
    if not node_name or first_open_node(again, pod) != node_name:
        return
    expected = reserve_and_return(bench, pod, node_name)
    for hook, answer in reserve_and_return(again, pod, node_name).items():
        if answer != expected.get(hook):
            text = f"{shown(answer)}, expected {shown(expected.get(hook))} as from"
            text = f"{text} another instance with the same cluster"
            fail(hook, text, pod, cluster.nodes, cluster.pods)


def _ask_later(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    _ask_queued(subject, cluster, other)
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        answers(bench, pod)
    if subject.has("reserve") or subject.has("permit"):
        _live(bench, cluster.pending)
    bench.become(cluster, other)
    renewed = bench.renewed()
    shown_objects = [*cluster.nodes, *cluster.pods]
    shown_objects += [*other.nodes, *other.pods, *other.objects]
    _compare_answers(bench, renewed, cluster.pending, shown_objects)
    for step in islice(running_steps(other, cluster), _STEPS):
        bench.add(step.subject)
        _compare_answers(bench, bench.renewed(), cluster.pending[:1], shown_objects)
    if subject.has("reserve") or subject.has("permit"):
        _compare_binding(bench, bench.renewed(), other)
    if subject.has("post_filter"):
        ask_stale_victims(subject, cluster, other)


def _ask_queued(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    """Change the cluster while a pod is in the queue, behind its gate."""
    if not subject.has("pre_enqueue") or not subject.has("pre_filter"):
        return
    changes = list(steps(cluster, other, subject.objects))[-_MOST_CHANGES:]
    for pod in cluster.pending:
        for step in changes:
            bench = Bench(subject, cluster)
            bench.ask("pre_enqueue", pod)
            apply(bench, step)
            renewed = bench.renewed()
            if renewed.ask("pre_enqueue", pod) is not None:
                continue
            expected = renewed.pre_filter(CycleState(), pod)
            actual = bench.pre_filter(CycleState(), pod)
            if actual != expected:
                text = (
                    f"{shown(actual)} after {step}, which came after pre_enqueue, "
                    f"expected {shown(expected)} as from a new instance; it keeps data "
                    "of the earlier cluster"
                )
                example = [obj for obj in (step.old, step.new) if obj is not None]
                fail("pre_filter", text, pod, example)


def _live(bench: Bench, pods: Iterable[Pod]) -> None:
    """Run pods through their lives: they are bound, or time out, and are deleted."""
    for pod in pods:
        place(bench, pod)
    if len(bench.room.pods):
        bench.advance(MAX_PERMIT_TIMEOUT_SECONDS)
    for pod in pods:
        stored = bench.services.informers.get(Pod, pod.key)
        if stored is not None:
            bench.remove(stored)


def _compare_answers(
    bench: Bench, renewed: Bench, pending: Iterable[Pod], example: Iterable[ApiObject]
) -> None:
    for pod in pending:
        changed = difference(answers(bench, pod), answers(renewed, pod))
        if changed is not None:
            text = f"{changed} as from a new instance"
            text = f"{text}; it keeps data of the earlier cluster"
            fail(changed.hook, text, pod, example)


def _compare_binding(bench: Bench, renewed: Bench, other: SmallCluster) -> None:
    """Compare what Reserve and Permit decide with the decisions of a new instance."""
    if bench.subject.has("permit"):
        # It may remember for a while what it has let pass, so that it limits the rate.
        bench.advance(MAX_PERMIT_TIMEOUT_SECONDS)
    for pod in other.pending:
        changed = binding_difference(bench, renewed, pod)
        if changed is not None:
            text = (
                f"{changed} as from a new instance; it keeps data of the earlier "
                "cluster, or of pods that were bound, have timed out or are gone. "
                "Drop what an attempt has noted, such as a deadline, in unreserve and "
                "post_bind, and when on_change reports that the pod is gone"
            )
            fail(changed.hook, text, pod, [*other.nodes, *other.pods, *other.objects])


DETERMINISM = Check(
    name="determinism",
    promise="the same call with the same cluster has the same answer",
    ask=_ask,
)
STALENESS = Check(
    name="staleness",
    tries_fixed=True,
    promise="answers follow the cluster: no outdated data is used",
    ask=_ask_later,
    needs_other=True,
)
