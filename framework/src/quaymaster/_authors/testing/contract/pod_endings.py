"""A check: whatever becomes of a pod, decisions are then those of a new instance."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, difference
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.changes import running_steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.replaced_pods import ask_replaced
from quaymaster._authors.testing.contract.reserving import (
    binding_difference,
    first_open_node,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status

__all__ = ["POD_ENDINGS"]

_MOST_PODS: Final = 2
_MOST_COPIES: Final = 6
"""The pods that come before; a plugin whose limit is higher is tried with one."""
_MOST_UPDATES: Final = 3
_ENDED: Final = "whatever it has booked for the pod has to be released"
_FINISHED: Final = (
    f"on_change delivers a finished pod as an update (is_finished), and {_ENDED}"
)


@attrs.frozen(kw_only=True)
class _Ending:
    """What becomes of a pod.

    Attributes:
        what: What has happened to it, after "once".
        remedy: What a plugin has to do.
        play: Plays it with a pod of the bench that has no node yet.
    """

    what: str
    remedy: str
    play: Callable[[Bench, Pod], None]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not subject.has("reserve") and not _follows_pods(subject, cluster):
        return
    for pod in cluster.pending[:_MOST_PODS]:
        try:
            _ask_of(subject, cluster, pod)
        except HookFailedError as failure:
            fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)


def _follows_pods(subject: Subject, cluster: SmallCluster) -> bool:
    return Pod in Bench(subject, cluster).handle.callbacks.kinds


def _ask_of(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    copies = copies_of(pod, _MOST_COPIES + 1)
    count = _decisive(Bench(subject, cluster), copies)
    if count > 1 and subject.has("reserve"):
        # Later the next pod is often rejected, so that reserve chooses nothing for it.
        _ask_endings(subject, cluster, copies[:2], [_LOST_ANSWER])
    last, following = copies[count - 1 : count + 1]
    endings = [*_ENDINGS, *_updates(cluster, last)]
    _ask_endings(subject, cluster, copies[: count + 1], endings)
    for ask in (_ask_of_finished, _ask_other_profile):
        bench = _prepared(subject, cluster, copies[:count])
        if bench is not None:
            ask(bench, last, following)
    if subject.has("reserve"):
        ask_replaced(subject, cluster, copies, count)


def _ask_endings(
    subject: Subject,
    cluster: SmallCluster,
    copies: Sequence[Pod],
    endings: Iterable[_Ending],
) -> None:
    """Compare what the last copy gets once the one before it has ended."""
    *before, following = copies
    for ending in endings:
        bench = _prepared(subject, cluster, before)
        if bench is None:
            return
        ending.play(bench, before[-1])
        bench.room.drop()
        bench.add(following)
        _compare(bench, before[-1], following, ending)


def _ask_of_finished(bench: Bench, last: Pod, following: Pod) -> None:
    """Check that a finished pod holds nothing that its deletion would free."""
    _finish(bench, last)
    bench.room.drop()
    bench.add(following)
    before = answers(bench, following)
    _remove(bench, last)
    after = answers(bench, following)
    changed = difference(before, after)
    if changed is not None and _is_rejection(changed.actual):
        text = f"{changed} once the pods like it that have finished are deleted"
        fail(changed.hook, f"{text}: {_FINISHED}", following)


def _ask_other_profile(bench: Bench, last: Pod, following: Pod) -> None:
    """Check that a plugin of another profile knows what is reserved here."""
    if not bench.subject.has("reserve"):
        return
    sibling = bench.sibling()
    _reserved(bench, last)
    bench.room.drop()
    bench.add(following)
    changed = difference(answers(sibling, following), answers(bench, following))
    if changed is not None and _is_rejection(changed.expected):
        text = f"{changed} as in the profile that has reserved a node for a pod like it"
        remedy = "profiles share what they reserve by handle.shared"
        fail(changed.hook, f"{text}: {remedy}", following)


def _is_rejection(answer: object) -> bool:
    return isinstance(answer, Status) and answer.is_rejected


def _prepared(
    subject: Subject, cluster: SmallCluster, copies: Sequence[Pod]
) -> Bench | None:
    """Return a bench with placed copies, the last of which still has to be placed."""
    bench = Bench(subject, cluster)
    *before, last = copies
    for copy in before:
        bench.add(copy)
        place(bench, copy)
    bench.add(last)
    return bench if first_open_node(bench, last) else None


def _decisive(bench: Bench, copies: Sequence[Pod]) -> int:
    """Return how many copies get a node until the next one gets another answer."""
    first = answers(bench, copies[0])
    for count, copy in enumerate(copies[:-1], 1):
        bench.add(copy)
        place(bench, copy)
        if difference(answers(bench, copies[count]), first) is not None:
            return count
    return 1


def _compare(bench: Bench, last: Pod, pod: Pod, ending: _Ending) -> None:
    """Compare what the next pod gets with what it gets from a new instance."""
    renewed = bench.renewed()
    stored = bench.services.informers.get(Pod, last.key)
    if stored is not None and not stored.node_name:
        answers(renewed, stored)  # it is in the queue before the next pod
    then = f"once {ending.what}, as from a new instance with the same cluster"
    changed = difference(answers(bench, pod), answers(renewed, pod))
    if changed is not None:
        fail(changed.hook, f"{changed} {then}: {ending.remedy}", pod)
    if not bench.subject.has("reserve") and not bench.subject.has("permit"):
        return
    # It may remember for a while what it has let pass, so that it limits the rate.
    bench.advance(MAX_PERMIT_TIMEOUT_SECONDS)
    changed = binding_difference(bench, renewed, pod)
    if changed is not None:
        fail(changed.hook, f"{changed} {then}: {ending.remedy}", pod)


def _updates(cluster: SmallCluster, pod: Pod) -> Iterator[_Ending]:
    rivals = SmallCluster(pods=(*cluster.pods, *cluster.pending))
    steps = running_steps(SmallCluster(pods=(pod,)), rivals)
    for _, step in zip(range(_MOST_UPDATES), steps, strict=False):
        updated = step.subject
        assert isinstance(updated, Pod)
        yield _Ending(
            what="the labels or requests of a running pod like it have changed",
            remedy="on_change delivers each version of a pod: use the newest",
            play=_update_with(updated),
        )


def _bound(bench: Bench, pod: Pod) -> Pod | None:
    """Place a pod; return it with its node if it was bound."""
    place(bench, pod)
    stored = bench.services.informers.get(Pod, pod.key)
    return stored if stored is not None and stored.node_name else None


def _finish(bench: Bench, pod: Pod) -> None:
    bound = _bound(bench, pod)
    if bound is not None:
        bench.add(replace(bound, status=replace(bound.status, phase="Succeeded")))


def _delete(bench: Bench, pod: Pod) -> None:
    if _bound(bench, pod) is not None:
        _remove(bench, pod)


def _remove(bench: Bench, pod: Pod) -> None:
    stored = bench.services.informers.get(Pod, pod.key)
    if stored is not None:
        bench.remove(stored)


def _update_with(updated: Pod) -> Callable[[Bench, Pod], None]:
    def update(bench: Bench, pod: Pod) -> None:
        bound = _bound(bench, pod)
        if bound is not None:
            spec = replace(bound.spec, containers=updated.spec.containers)
            labels = updated.metadata.labels
            metadata = replace(bound.metadata, labels=labels)
            bench.add(replace(bound, metadata=metadata, spec=spec))

    return update


def _fail_bind(bench: Bench, pod: Pod) -> None:
    state, assumed = _reserved(bench, pod)
    _unreserve(bench, state, assumed)
    bench.snapshot.remove_pod(assumed)


def _delete_early(bench: Bench, pod: Pod) -> None:
    state, assumed = _reserved(bench, pod)
    bench.remove(pod)
    bench.snapshot.remove_pod(assumed)
    _unreserve(bench, state, assumed)


def _lose_answer(bench: Bench, pod: Pod) -> None:
    state, assumed = _reserved(bench, pod)
    bench.snapshot.remove_pod(assumed)
    bench.add(assumed)  # the watch delivers it with its node
    _unreserve(bench, state, assumed)


def _reserved(bench: Bench, pod: Pod) -> tuple[CycleState, Pod]:
    """Run an attempt up to Permit; return its state and the pod on its node."""
    subject, state = bench.subject, CycleState()
    node_name = first_open_node(bench, pod)
    bench.filter_on(state, pod, node_name)
    assumed = replace(pod, node_name=node_name)
    bench.snapshot.add_pod(assumed)
    for hook in ("reserve", "permit"):
        if subject.has(hook):
            bench.ask(hook, state, assumed, node_name)
            assumed = bench.annotate(assumed, state)
    return state, assumed


def _unreserve(bench: Bench, state: CycleState, assumed: Pod) -> None:
    if bench.subject.has("unreserve"):
        bench.ask("unreserve", state, assumed, assumed.node_name)


_LOST_ANSWER: Final = _Ending(
    what="a pod like it was bound, but the answer to the bind was lost",
    remedy="unreserve is called although the pod has a node: look it up with "
    "handle.informers.get before you release anything",
    play=_lose_answer,
)
_ENDINGS: Final[Sequence[_Ending]] = (
    _Ending(what="a pod like it has finished", remedy=_FINISHED, play=_finish),
    _Ending(
        what="a pod like it was deleted",
        remedy=f"on_change delivers it as (old, None), and {_ENDED}",
        play=_delete,
    ),
    _Ending(
        what="the bind of a pod like it has failed",
        remedy=f"unreserve is called, and {_ENDED}",
        play=_fail_bind,
    ),
    _Ending(
        what="a pod like it was deleted before it was bound",
        remedy=f"unreserve is called after the deletion, and {_ENDED}",
        play=_delete_early,
    ),
    _LOST_ANSWER,
)

POD_ENDINGS: Final = Check(
    name="pod endings",
    promise="once a pod has ended, changed or was not bound, all is as after a restart",
    ask=_ask,
    hooks=frozenset({"pre_enqueue", "pre_filter", "filter", "score", "permit"}),
)
