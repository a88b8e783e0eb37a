"""Asks whether events wake the pods that Permit or full nodes reject, or let wait."""

from collections.abc import Callable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import Step, own_steps, steps
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.reported import requeues_itself
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PermitWait
from quaymaster._core.contract.status import Status

__all__ = ["After", "IsWoken", "ask_permit", "crowded"]

_MOST_COPIES: Final = 8

IsWoken = Callable[[Bench, Pod, Step], bool]
After = Callable[[SmallCluster, Step], SmallCluster]


def ask_permit(
    subject: Subject,
    cluster: SmallCluster,
    other: SmallCluster,
    is_woken: IsWoken,
    after: After,
) -> None:
    """Check that something wakes the pods that Reserve or Permit rejects.

    Permit also rejects the pods whose wait times out.

    Args:
        subject: The plugin, which registers events.
        cluster: The cluster.
        other: A cluster with new objects.
        is_woken: Returns whether a change of the cluster of a bench wakes a pod.
        after: Returns a cluster after a change.
    """
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        node_name = first_open_node(bench, pod)
        hook, answer = _last_answer(bench, pod, node_name)
        if hook and not bench.ask("events_to_register"):
            _ask_without_events(bench, pod, hook, answer)
        is_wait = isinstance(answer, PermitWait)
        is_accepted = _passes if is_wait else _lets_go_on
        if is_accepted(answer) or (is_wait and pod.uid != cluster.pending[0].uid):
            continue  # most waiting pods wait for the same: one of them is enough
        for step in (
            *steps(cluster, other, subject.objects),
            *own_steps(cluster, other, pod),
        ):
            later, updated = Bench(subject, after(cluster, step)), step.updated(pod)
            if later.snapshot.get(node_name) is None:
                continue
            if first_open_node(later, updated) != node_name:
                continue
            changed = _last_answer(later, updated, node_name)[1]
            is_stuck = is_accepted(changed) and not is_woken(later, updated, step)
            if is_stuck and not requeues_itself(subject, cluster, step):
                text = (
                    f"{step} makes {hook} accept pod '{pod.key}', "
                    "but neither event nor hint wakes it"
                )
                if is_wait:
                    text = f"{text} once its wait has timed out"
                example = [obj for obj in (step.old, step.new) if obj is not None]
                fail("events_to_register", text, pod, example, cluster.nodes)


def _ask_without_events(bench: Bench, pod: Pod, hook: str, answer: object) -> None:
    if bench.handle.reported_changes:
        return  # it wakes pods by Handle.changed
    is_wait = isinstance(answer, PermitWait)
    if is_wait or _rejects(answer):
        verb = "lets it wait until a timeout" if is_wait else f"says {shown(answer)}"
        text = (
            f"there are none, but {hook} {verb} for pod '{pod.key}': a pod that it "
            "rejects waits for the flush of the queue, which comes after five minutes"
        )
        fail("events_to_register", text, pod)


def _last_answer(bench: Bench, pod: Pod, node_name: str) -> tuple[str, object]:
    """Return the last of Reserve and Permit that was called, and its answer."""
    if not node_name:
        return "", None
    actual = reserve_and_return(bench, pod, node_name)
    return list(actual.items())[-1] if actual else ("", None)


def _passes(answer: object) -> bool:
    return answer is None


def _lets_go_on(answer: object) -> bool:
    """Return whether an answer is a wait, or lets a pod pass."""
    return not _rejects(answer)


def _rejects(answer: object) -> bool:
    return isinstance(answer, Status) and answer.is_rejected


def crowded(subject: Subject, cluster: SmallCluster, pod: Pod) -> SmallCluster | None:
    """Return the cluster with copies of a pod, so that the next copy is rejected.

    Args:
        subject: The plugin.
        cluster: The cluster.
        pod: The pod.

    Returns:
        The cluster whose only pending pod is rejected; None if a few copies fit.
    """
    bench = Bench(subject, attrs.evolve(cluster, pending=()))
    placed: list[Pod] = []
    for number in range(_MOST_COPIES):
        copy = _copy(pod, number)
        bench.add(copy)
        node_name = first_open_node(bench, copy)
        if not node_name:
            pods = (*cluster.pods, *placed)
            return attrs.evolve(cluster, pods=pods, pending=(copy,)) if placed else None
        state = CycleState()
        bench.pre_filter(state, copy)
        with bench.assuming(copy, node_name) as assumed:
            if subject.has("reserve"):
                bench.ask("reserve", state, assumed, node_name)
        annotations = {**copy.annotations, **(state.annotations or {})}
        metadata = replace(assumed.metadata, annotations=annotations)
        placed.append(replace(assumed, metadata=metadata))
        bench.add(placed[-1])
    return None


def _copy(pod: Pod, number: int) -> Pod:
    name = f"{pod.name}-{number}"
    uid = make_uid(Pod, name, pod.namespace)
    metadata = replace(pod.metadata, name=name, uid=uid)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, scheduling_gates=()))
