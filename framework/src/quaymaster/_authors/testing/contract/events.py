"""Checks of events and hints: a pod that would fit does not stay unschedulable."""

from collections.abc import Mapping

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.contract.annotation_changes import (
    own_annotation_steps,
    running_annotation_steps,
    written_annotations,
)
from quaymaster._authors.testing.contract.answers import Answers, answers
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import (
    Step,
    is_of,
    own_steps,
    steps,
)
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.other_events import ask_permit, crowded
from quaymaster._authors.testing.contract.reported import requeues_itself
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.victim_events import ask_held_back
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cluster_events import ClusterEventWithHint, QueueingHint
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.results import PreFilterResult
from quaymaster._core.contract.status import Status

__all__ = ["EVENTS", "HINTS"]

_REJECTING = frozenset({"pre_enqueue", "pre_filter", "filter", "reserve", "permit"})


def _events(bench: Bench) -> tuple[ClusterEventWithHint, ...]:
    registered = bench.ask("events_to_register")
    assert isinstance(registered, tuple)
    return registered


def _ask_hints(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    waiting = [
        step
        for pod in cluster.pending
        for step in (
            *own_steps(cluster, other, pod),
            *own_annotation_steps(cluster, other, pod, ()),
        )
    ]
    running = running_annotation_steps(cluster, other, ())
    changes = [*steps(cluster, other, subject.objects), *waiting, *running]
    for registered in _events(bench):
        if registered.hint is None:
            continue
        for step in changes:
            event = registered.event
            is_meant = is_of(event.resource, step.subject) and any(
                event.matches(change) for change in step.events(subject.kubernetes)
            )
            for pod in cluster.pending if is_meant else ():
                _ask_hint(registered, pod, step)


def _ask_hint(registered: ClusterEventWithHint, pod: Pod, step: Step) -> QueueingHint:
    hint = registered.hint
    if hint is None:
        return QueueingHint.QUEUE
    shown = [pod, *(obj for obj in (step.old, step.new) if obj is not None)]
    label = registered.event.label
    try:
        answer: object = hint(pod, step.old, step.new)
    except Exception as error:
        problem = f"the hint for {label} raises {describe_exception(error)}"
        fail("events_to_register", f"{problem} on {step}", shown)
    if answer is QueueingHint.QUEUE and not _is_found(registered, pod, step):
        problem = (
            f"the hint for {label} wakes pod '{pod.key}' on {step}, but the index has "
            "no key that both have"
        )
        fail("events_to_register", problem, shown)
    if not isinstance(answer, QueueingHint):
        problem = f"the hint for {label} gives {answer!r}, expected a QueueingHint"
        fail("events_to_register", problem, shown)
    return answer


def _is_found(registered: ClusterEventWithHint, pod: Pod, step: Step) -> bool:
    index = registered.index
    if index is None:
        return True
    of_pod, given = index.pod_keys(pod), index.event_keys(step.old, step.new)
    return of_pod is None or given is None or not set(of_pod).isdisjoint(given)


def _ask_events(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    written = written_annotations(subject, cluster)
    for pod in cluster.pending:
        # A new instance, as after the change: attempts for other pods are not changes.
        before = answers(Bench(subject, cluster), pod)
        if not _is_rejected(before):
            continue
        for step in steps(cluster, other, subject.objects):
            _ask_step(subject, cluster, pod, before, step)
        for step in (
            *own_steps(cluster, other, pod),
            *own_annotation_steps(cluster, other, pod, written),
        ):
            _ask_step(subject, cluster, step.updated(pod), before, step)
        for step in running_annotation_steps(cluster, other, written):
            _ask_step(subject, cluster, pod, before, step)


def _ask_all(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    if not subject.has("events_to_register"):
        return  # all events wake its pods
    _ask_events(subject, cluster, other)
    if subject.has("reserve") or subject.has("permit"):
        ask_permit(subject, cluster, other, _is_woken, _after)
    if subject.has("pre_enqueue") and subject.has("post_filter"):
        ask_held_back(subject, cluster)
    if subject.has("filter") and subject.pod_use is not PodUse.NONE:
        for pod in (*cluster.pending[:1], *other.pending[:1]):
            full = crowded(subject, cluster, pod)
            if full is not None:
                _ask_events(subject, full, SmallCluster())


def _is_rejected(actual: Answers) -> bool:
    return bool(
        actual.rejected
        or isinstance(actual.pre_filter, PreFilterResult)
        or _rejects(actual.pre_filter)
        or _rejects(actual.pre_enqueue)
    )


def _rejects(answer: object) -> bool:
    return isinstance(answer, Status) and answer.is_rejected


def _ask_step(
    subject: Subject, cluster: SmallCluster, pod: Pod, before: Answers, step: Step
) -> None:
    after = Bench(subject, _after(cluster, step))
    nodes = _open_nodes(after, answers(after, pod))
    gained = nodes - _open_nodes(Bench(subject, cluster), before)
    if not gained or _is_woken(after, pod, step):
        return
    if requeues_itself(subject, cluster, step):
        return
    heard = (
        ", ".join(event.label for event in step.events(subject.kubernetes))
        or "no event"
    )
    text = (
        f"{step} ({heard}) makes pod '{pod.key}' fit on node '{min(gained)}', "
        "but neither event nor hint wakes it"
    )
    if step.subject.namespace not in ("", pod.namespace):
        text += " (they are in different namespaces)"
    example = [obj for obj in (step.old, step.new) if obj is not None]
    fail("events_to_register", text, pod, example, cluster.nodes, cluster.pods)


def _after(cluster: SmallCluster, step: Step) -> SmallCluster:
    """Return the cluster after a change; a waiting pod is not part of it."""
    subject, new = step.subject, () if step.new is None else (step.new,)
    part = _PARTS.get(type(subject), "objects")
    if isinstance(subject, Pod) and not subject.node_name:
        return cluster
    kept = (
        obj
        for obj in getattr(cluster, part)
        if (type(obj), obj.key) != (type(subject), subject.key)
    )
    return attrs.evolve(cluster, **{part: (*kept, *new)})


_PARTS: Mapping[type, str] = {Node: "nodes", Pod: "pods"}


def _open_nodes(bench: Bench, actual: Answers) -> set[str]:
    """Return the nodes that the plugin accepts for a pod."""
    if _rejects(actual.pre_enqueue) or _rejects(actual.pre_filter):
        return set()
    if isinstance(actual.pre_filter, Status) and actual.pre_filter.is_error:
        return set()
    names = {info.name for info in bench.snapshot} - actual.rejected.keys()
    if isinstance(actual.pre_filter, PreFilterResult):
        names &= actual.pre_filter.node_names
    failed = {name for name, score in actual.score.items() if isinstance(score, Status)}
    return names - failed


def _is_woken(bench: Bench, pod: Pod, step: Step) -> bool:
    return any(
        registered.event.matches(event)
        and _ask_hint(registered, pod, step) is QueueingHint.QUEUE
        for registered in _events(bench)
        for event in step.events(bench.subject.kubernetes)
    )


HINTS = Check(
    name="hints",
    tries_fixed=True,
    promise="queueing hints never raise, and return a QueueingHint",
    ask=_ask_hints,
    hooks=frozenset({"events_to_register"}),
    needs_other=True,
)
EVENTS = Check(
    name="events",
    tries_fixed=True,
    promise="no rejected pod stays in the queue when a change makes it fit",
    ask=_ask_all,
    hooks=_REJECTING,
    needs_other=True,
)
