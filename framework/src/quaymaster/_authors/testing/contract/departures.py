"""Checks that pods wait on Permit only as long as there is what they wait for."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import (
    copies_of,
    place,
    waits_until_deadline,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.old_pods import aged
from quaymaster._authors.testing.contract.reserving import first_open_node
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import expect_time
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["ask_departures", "has_no_waits"]

_WAITS: Final = "releases waits"
_CLUSTERS: Final = "releases clusters"
_ENOUGH_CLUSTERS: Final = 20
"""As in `effects`: with fewer, the author wants a quick run."""
_MOST_CLUSTERS: Final = 200

_Change: TypeAlias = Callable[[], None]
"""What happens to the other pod at last."""


@attrs.frozen(kw_only=True)
class _Course:
    """What happens to another pod before and after a pod begins to wait.

    Attributes:
        what: What has happened to it in the end, after "pod x".
        begin: Plays the first part; returns the second one, or None if it fails.
        is_there: Whether the other pod exists in the end.
        bind: Gives it its node then; None if it has none.
        is_new: Whether it does not exist at the beginning.
        is_followed: Whether the plugin has to follow pods to notice it.
    """

    what: str
    begin: Callable[[Bench, Pod], _Change | None]
    is_there: bool = False
    bind: Callable[[Bench, Pod], object] | None = None
    is_new: bool = False
    is_followed: bool = False


def ask_departures(subject: Subject, cluster: SmallCluster) -> None:
    """Let pods wait, and let another pod leave or get a node.

    If the pod would not wait afterwards, it has to be released before its deadline: by
    the change itself, or by a timer.
    """
    subject.effects[_CLUSTERS] += 1
    for at, drawn in enumerate(cluster.pending):
        for number, other in enumerate(_others(cluster, drawn), at):
            # The timeout of an old pod may be another one.
            pod = aged(drawn) if number % 2 else drawn
            courses = _OF_RUNNING if other.node_name else _OF_PENDING
            for course in courses:
                _ask_of(subject, cluster, pod, other, course)


def _others(cluster: SmallCluster, pod: Pod) -> Iterator[Pod]:
    yield from copies_of(pod, 1)
    yield from (other for other in cluster.pending if other.uid != pod.uid)
    yield from cluster.pods


def _ask_of(
    subject: Subject, cluster: SmallCluster, pod: Pod, other: Pod, course: _Course
) -> None:
    bench = _bench(subject, cluster, other)
    # Another scheduler binds pods of a group only if a user wants that: a plugin that
    # does not follow pods loses time then, and no more.
    if course.is_followed and Pod not in bench.handle.callbacks.kinds:
        return
    if not course.is_new:
        bench.add(other)
    change = course.begin(bench, other)
    if change is None:
        return
    bench.add(pod)
    expect_time("permit", place(bench, pod))
    entry = bench.room.pods.get(pod.uid)
    is_old = pod.metadata.creation_timestamp is not None
    subject.effects[_WAITS] += is_old and entry is not None
    if entry is None:
        return
    if _node_after(subject, cluster, pod, other, course) != entry.pod.node_name:
        return
    change()
    bench.room.settle()
    if waits_until_deadline(bench, pod):
        text = (
            f"lets pod '{pod.key}' wait until its timeout, although it would not wait "
            f"any more since pod '{other.key}' {course.what}: look at the pods of "
            "handle.waiting_pods() again when other pods change or are deleted "
            "(on_change delivers (old, None)), and in unreserve"
        )
        fail("permit", text, pod, other, cluster.nodes, cluster.pods, cluster.objects)


def has_no_waits(subject: Subject) -> bool:
    """Return whether a plugin may let pods wait, and no old pod has waited yet.

    Pods often wait only for some others, which few clusters have.
    """
    counts = subject.effects
    if counts[_WAITS] or not _ENOUGH_CLUSTERS <= counts[_CLUSTERS] < _MOST_CLUSTERS:
        return False
    permit = getattr(subject.plugin, "permit", None)
    assert callable(permit)
    answer = inspect.signature(permit).return_annotation
    return "PermitWait" in str(answer)


def _node_after(
    subject: Subject, cluster: SmallCluster, pod: Pod, other: Pod, course: _Course
) -> str:
    """Return where the pod is bound at once if it comes after all this, or empty."""
    bench = _bench(subject, cluster, other)
    if course.is_there:
        bench.add(other)
    if course.bind is not None:
        course.bind(bench, other)
        if not _is_bound(bench, other):
            return ""
    bench.add(pod)
    place(bench, pod)
    stored = bench.services.informers.get(Pod, pod.key)
    return stored.node_name if stored is not None else ""


def _bench(subject: Subject, cluster: SmallCluster, without: Pod) -> Bench:
    """Return a bench without one of the pods of its cluster."""

    def rest(pods: Sequence[Pod]) -> tuple[Pod, ...]:
        return tuple(pod for pod in pods if pod.uid != without.uid)

    reduced = attrs.evolve(
        cluster, pods=rest(cluster.pods), pending=rest(cluster.pending)
    )
    return Bench(subject, reduced)


def _is_bound(bench: Bench, pod: Pod) -> bool:
    stored = bench.services.informers.get(Pod, pod.key)
    return stored is not None and bool(stored.node_name)


def _queue(bench: Bench, other: Pod) -> _Change:
    """Leave the pod where it is, and delete it."""
    return partial(_delete, bench, other)


def _place(bench: Bench, other: Pod) -> _Change | None:
    """Place the pod, which may wait, and delete it."""
    place(bench, other)
    has_node = _is_bound(bench, other) or bench.room.pods.get(other.uid) is not None
    return partial(_delete, bench, other) if has_node else None


def _delete(bench: Bench, other: Pod) -> None:
    stored = bench.services.informers.get(Pod, other.key)
    if stored is not None:
        bench.remove(stored)
    bench.room.pods.reject_deleted(other.uid)


def _assume(bench: Bench, other: Pod) -> _Change | None:
    """Assume the pod on a node, and end its attempt before it is bound."""
    node_name, state = first_open_node(bench, other), CycleState()
    if not node_name:
        return None
    bench.filter_on(state, other, node_name)
    assumed = replace(other, node_name=node_name)
    bench.snapshot.add_pod(assumed)
    for hook in ("reserve", "permit"):
        if bench.subject.has(hook):
            if bench.ask(hook, state, assumed, node_name) is not None:
                return None
            assumed = bench.annotate(assumed, state)

    def give_up() -> None:
        if bench.subject.has("unreserve"):
            bench.ask("unreserve", state, assumed, node_name)
        bench.snapshot.remove_pod(assumed)

    return give_up


def _assume_and_delete(bench: Bench, other: Pod) -> _Change | None:
    """Assume the pod on a node, and delete it before it is bound."""
    give_up = _assume(bench, other)
    if give_up is None:
        return None

    def delete() -> None:
        bench.remove(other)
        give_up()

    return delete


def _bind(bench: Bench, other: Pod) -> _Change:
    """Leave the pod in the queue, and place it later."""

    def bind() -> None:
        place(bench, other)

    return bind


def _bind_elsewhere(bench: Bench, other: Pod) -> None:
    """Deliver the pod with a node, which another scheduler has chosen."""
    node_name = other.node_name or first_open_node(bench, other)
    if node_name:
        bench.add(replace(other, node_name=node_name))


def _learn_of_bind(bench: Bench, other: Pod) -> _Change:
    return partial(_bind_elsewhere, bench, other)


_DELETED: Final = _Course(what="was deleted", begin=_queue)
_CREATED: Final = _Course(
    what="was created, with a node that another scheduler has chosen",
    begin=_learn_of_bind,
    bind=_bind_elsewhere,
    is_new=True,
    is_followed=True,
)
_OF_RUNNING: Final[Sequence[_Course]] = (_DELETED, _CREATED)
_OF_PENDING: Final[Sequence[_Course]] = (
    _DELETED,
    _Course(what="was deleted, which had got a node", begin=_place),
    _Course(what="was deleted before it was bound", begin=_assume_and_delete),
    _Course(
        what="was not bound, and is in the queue again", begin=_assume, is_there=True
    ),
    _Course(what="was bound", begin=_bind, is_there=True, bind=place),
    _Course(
        what="was bound by another scheduler",
        begin=_learn_of_bind,
        is_there=True,
        bind=_bind_elsewhere,
        is_followed=True,
    ),
    _CREATED,
)
