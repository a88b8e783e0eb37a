"""A check: pods that were pending before the start fare as those that come later."""

from collections.abc import Sequence
from typing import Any, Final, cast

import attrs

from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.contract.status import Status

__all__ = ["STARTING"]

_ORDER: Final = (
    "events_to_register is called before start, and so are pre_enqueue and queue_sort "
    "for pods that are already pending. The callbacks of on_change that the "
    "constructor registers get the existing objects before all of them"
)


@attrs.frozen
class _Queueing:
    """What the queue learns about the pending pods.

    Attributes:
        gates: The answers of PreEnqueue.
        keys: The sort keys.
    """

    gates: Sequence[object]
    keys: Sequence[Any]  # every comparable object can be a key


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster, is_started=False)
    failure, before = None, None
    try:
        before = _queueing(bench, cluster)
    except HookFailedError as error:
        failure = error
    subject.wakes.clear()
    subject.reorders.clear()
    bench.start()
    has_woken, reordered = bool(subject.wakes), frozenset(subject.reorders)
    after = _queueing(bench, cluster)
    if before is None:
        assert failure is not None
        text = f"{failure.problem} before start, and not after it: {_ORDER}"
        fail(failure.hook, text, cluster.pending[:1])
    pods = cluster.pending
    subject.exercised["pods pending before start"] += len(pods)
    for pod, early, late in zip(pods, before.gates, after.gates, strict=True):
        if _is_closed(early) and not _is_closed(late) and not has_woken:
            text = (
                f"{shown(early)} before start, {shown(late)} after it, and nothing "
                f"wakes the pod: {_ORDER}. Register on_change there, or call "
                "Handle.changed() at the end of start"
            )
            fail("pre_enqueue", text, pod, cluster.objects)
    # A pod that is gated, or woken, gets a new key.
    queued = [not has_woken and not _is_closed(gate) for gate in before.gates]
    keys = zip(pods, queued, before.keys, after.keys, strict=True)
    for pod, is_queued, early, late in keys:
        is_kept = is_queued and pod.key not in reordered
        if is_kept and (early < late or late < early):
            text = (
                f"{early!r} before start, {late!r} after it, and the pod keeps its "
                f"place in the queue: {_ORDER}. Register on_change there, or report "
                "pods by Handle.changed(pods=...)"
            )
            fail("queue_sort", text, pod, cluster.objects)


def _queueing(bench: Bench, cluster: SmallCluster) -> _Queueing:
    subject, pods = bench.subject, cluster.pending
    if subject.has("events_to_register"):
        bench.ask("events_to_register")
    gates: list[object] = [None] * len(pods)
    keys: list[Any] = [0] * len(pods)
    for at, pod in enumerate(pods):
        if subject.has("pre_enqueue"):
            gates[at] = bench.ask("pre_enqueue", pod)
        if subject.has("queue_sort"):
            keys[at] = cast(Any, bench.ask("queue_sort", make_queued_pod(pod)))
    return _Queueing(gates, keys)


def _is_closed(gate: object) -> bool:
    return isinstance(gate, Status) and gate.is_rejected


def _is_started(plugin: type) -> bool:
    return hasattr(plugin, "start")


STARTING: Final = Check(
    name="starting",
    promise="pods that are pending before start are gated and sorted as later ones",
    ask=_ask,
    only_for=_is_started,
    hooks=frozenset({"pre_enqueue", "queue_sort", "events_to_register"}),
)
