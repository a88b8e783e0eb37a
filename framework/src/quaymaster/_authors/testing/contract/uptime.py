"""A check: an instance that has run for hours answers as a new one."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod, Time
from quaymaster._authors.testing.contract.answers import answers, difference
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.contract.clock import VIRTUAL_START

__all__ = ["UPTIME", "with_times"]

_SECONDS: Final = (61, 3607)
"""Steps of the clock."""

_MOST_TIMERS: Final = 12
"""How many timers may run until an instance answers as a new one."""

_LONGEST_WAIT: Final = 3601.0
_AGE_SECONDS: Final = 600
_Difference: TypeAlias = tuple[str, str]
"""A hook, and how its answer differs."""


def with_times(cluster: SmallCluster) -> SmallCluster:
    """Return a cluster whose waiting pods are new, and whose others run for a while.

    API servers and kubelets set these times. Without them, all deadlines would be over.
    """
    pods = tuple(
        _running_since(pod, VIRTUAL_START - _AGE_SECONDS - at)
        for at, pod in enumerate(cluster.pods)
    )
    pending = tuple(
        _created(pod, VIRTUAL_START - at) for at, pod in enumerate(cluster.pending)
    )
    return attrs.evolve(cluster, pods=pods, pending=pending)


def _running_since(pod: Pod, time: float) -> Pod:
    if pod.status.start_time is None:
        pod = replace(pod, status=replace(pod.status, start_time=Time(time)))
    return _created(pod, time - 1)


def _created(pod: Pod, time: float) -> Pod:
    if pod.metadata.creation_timestamp is not None:
        return pod
    metadata = replace(pod.metadata, creation_timestamp=Time(time))
    return replace(pod, metadata=metadata)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    cluster = with_times(cluster)
    bench = Bench(subject, cluster)
    _differences(bench, bench, cluster.pending)  # it has seen all pods
    # Other checks report what does not come from the time.
    excepted = set(_compared(bench, cluster.pending))
    for seconds in _SECONDS:
        bench.advance(seconds)
        lasting = _lasting(bench, cluster.pending, excepted)
        for key, (hook, problem) in lasting.items():
            text = (
                f"{problem} as from a new instance, {seconds:,} s later with an "
                "unchanged cluster: after a restart, a plugin has only the cluster, so "
                "count from the times of objects, and set periodic timers again"
            )
            shown = [pod for pod in cluster.pending if pod.key == key]
            fail(hook, text, shown, cluster.nodes, cluster.pods)


def _lasting(
    bench: Bench, pods: Sequence[Pod], excepted: Collection[str]
) -> Mapping[str, _Difference]:
    """Return the differences that remain although timers run.

    A plugin may look at the time by a periodic timer, so that it is a period late.
    """
    clock = bench.services.clock
    remaining: Mapping[str, _Difference] | None = None
    for _ in range(_MOST_TIMERS):
        differing = _compared(bench, pods)
        remaining = {
            key: found
            for key, found in differing.items()
            if key not in excepted and (remaining is None or key in remaining)
        }
        due = clock.next_due()
        if not remaining or due is None or due - clock.now() > _LONGEST_WAIT:
            break
        bench.advance(max(0.0, due - clock.now()))
    if not remaining:
        return {}
    random = _compared(bench.renewed(), pods)
    return {key: found for key, found in remaining.items() if key not in random}


def _compared(bench: Bench, pods: Sequence[Pod]) -> Mapping[str, _Difference]:
    """Return the pods for which an instance differs from a new one, and how."""
    renewed = bench.renewed()
    try:
        return _differences(bench, renewed, pods)
    finally:
        # Its timers must not run beside those of the old one.
        if renewed in bench.subject.benches:
            bench.subject.benches.remove(renewed)
            renewed.close()


def _differences(
    bench: Bench, renewed: Bench, pods: Sequence[Pod]
) -> Mapping[str, _Difference]:
    found: dict[str, _Difference] = {}
    for pod in pods:
        changed = difference(answers(bench, pod), answers(renewed, pod))
        if changed is not None:
            found[pod.key] = (changed.hook, str(changed))
        elif bench.subject.has("queue_sort"):
            queued = make_queued_pod(pod)
            # Any: every comparable object can be a key.
            key, expected = (
                cast(Any, each.ask("queue_sort", queued)) for each in (bench, renewed)
            )
            if not _is_same(key, expected):
                found[pod.key] = ("queue_sort", f"{key!r}, expected {expected!r}")
    return found


def _is_same(key: Any, expected: Any) -> bool:  # noqa: ANN401 - as any key
    """Return whether keys are equal, but for the rounding of sums."""
    if isinstance(key, tuple) and isinstance(expected, tuple):
        pairs = zip(key, expected, strict=False)
        return len(key) == len(expected) and all(_is_same(*pair) for pair in pairs)
    if isinstance(key, float) and isinstance(expected, float):
        return math.isclose(key, expected, rel_tol=1e-6, abs_tol=1e-6)
    # Parts of tuples that are equal, such as None, need no order.
    return bool(key == expected) or not (key < expected or expected < key)


UPTIME: Final = Check(
    name="uptime",
    promise="an instance that has run for hours answers as a new one",
    ask=_ask,
    hooks=frozenset({"queue_sort", "pre_enqueue", "pre_filter", "filter", "score"}),
)
