"""A check: sort keys define one order of all pods."""

import itertools
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, cast

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import ODD_NUMBERS, with_texts
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.uptime import with_times
from quaymaster._authors.testing.contract.waiting_keys import (
    ask_beside_objects,
    ask_while_waiting,
)
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._base.raised import describe_exception

__all__ = ["SORT_KEYS"]


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    # Pods of the other cluster have the same names, and informers must have them all.
    pods = (*cluster.pending, *map(_renamed, other.pending))
    cluster = with_times(attrs.evolve(cluster, pending=pods))
    pods = cluster.pending
    bench = Bench(subject, cluster)
    queued = [make_queued_pod(pod, timestamp=at % 3) for at, pod in enumerate(pods)]
    # Any: every comparable object can be a key.
    keys = [
        (queued_pod.pod, cast(Any, bench.ask("queue_sort", queued_pod)))
        for queued_pod in queued
    ]
    _compare_all(keys)
    _compare_all([*keys[:_FEW], *_with_odd_texts(subject, cluster)])
    for queued_pod, (pod, key) in zip(queued, keys, strict=True):
        again = cast(Any, bench.ask("queue_sort", queued_pod))
        if again < key or key < again:
            fail("queue_sort", f"{key!r}, then {again!r} for the same queued pod", pod)
    ask_while_waiting(bench, cluster, queued)
    ask_beside_objects(Bench(subject, cluster), cluster, other, queued)


def _with_odd_texts(
    subject: Subject, cluster: SmallCluster
) -> Sequence[tuple[Pod, Any]]:
    """Return the keys of pods whose labels and annotations are odd numbers.

    Users write these texts, so a key may come from any of them.
    """
    if not cluster.nodes:
        return []
    texted = with_texts(cluster, [*ODD_NUMBERS])
    bench = Bench(subject, texted)
    keys = []
    for at, pod in enumerate(texted.pending[len(cluster.pending) :]):
        # Another check reports failures.
        with suppress(HookFailedError):
            queued = make_queued_pod(pod, timestamp=at % 3)
            keys.append((pod, bench.ask("queue_sort", queued)))
    return keys


def _compare_all(keys: Sequence[tuple[Pod, Any]]) -> None:
    """Check that keys define one order."""
    for (pod, key), (rival, against) in itertools.permutations(keys, 2):
        try:
            is_both = key < against and against < key
        except Exception as error:
            problem = describe_exception(error)
            fail("queue_sort", f"keys do not compare: {problem}", pod, rival)
        if is_both:
            fail("queue_sort", f"{key!r} and {against!r} are each less", pod, rival)
    for (pod, queued_pod), (_, two), (rival, three) in itertools.permutations(keys, 3):
        if queued_pod < two and two < three and not queued_pod < three:
            fail(
                "queue_sort",
                f"{queued_pod!r} < {two!r} < {three!r}, in a ring",
                pod,
                rival,
            )
        if queued_pod < three and not (queued_pod < two or two < three):
            text = f"{two!r} is not after {queued_pod!r}, and {three!r} not after it"
            fail("queue_sort", f"{text}, but the first is before the last", pod, rival)


_FEW: Final = 2
"""The keys to compare with those of odd texts."""


def _renamed(pod: Pod) -> Pod:
    name = f"{pod.name}-other"
    uid = make_uid(Pod, name, pod.namespace)
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))


SORT_KEYS = Check(
    name="sort keys",
    promise="keys of pods are stable and comparable, and define one order",
    ask=_ask,
    hooks=frozenset({"queue_sort"}),
    needs_other=True,
)
