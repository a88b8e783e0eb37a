"""A check: an instance that has run for hours answers as a new one."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeVar, cast

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod, Time
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import Step, object_steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.expiries import ask_expiries
from quaymaster._authors.testing.contract.instances import Difference, differences
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.clock import VIRTUAL_START, Timer, VirtualClock

__all__ = ["UPTIME", "with_times"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_SECONDS: Final = (61, 3607)
"""Steps of the clock."""

_MOST_TIMERS: Final = 12
"""How many timers may run until an instance answers as a new one."""

_MOST_STEPS: Final = 8
_MOST_DUES: Final = 3
"""The timers of old versions that are waited for."""

_LONGEST_WAIT: Final = 3601.0
_AGE_SECONDS: Final = 600


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


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    cluster = with_times(cluster)
    bench = Bench(subject, cluster)
    _see_all(bench, cluster)
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
    for step in _steps(subject, cluster, other):
        _ask_after(subject, cluster, step)
    ask_expiries(subject, cluster)


def _see_all(bench: Bench, cluster: SmallCluster) -> None:
    """Let an instance see all pods that wait."""
    differences(bench, bench, cluster.pending)


class _RecordingClock(VirtualClock):
    """A clock that keeps when timers are due.

    Attributes:
        dues: The due times of all timers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dues: set[float] = set()

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        self.dues.add(float(due))
        return super().call_at(due, callback, background=background)


def _steps(
    subject: Subject, cluster: SmallCluster, other: SmallCluster
) -> Sequence[Step]:
    """Return updates and deletions of what the plugin follows; updates come first."""
    kinds = Bench(subject, cluster).handle.callbacks.kinds
    steps = [step for step in object_steps(cluster, other, kinds) if step.old]
    return sorted(steps, key=lambda step: step.new is None)[:_MOST_STEPS]


def _ask_after(subject: Subject, cluster: SmallCluster, step: Step) -> None:
    """Compare an instance that has seen a change with one that began after it.

    They are compared when the timers are due that were set before the change.
    """
    clock, changed = _RecordingClock(), _changed(cluster, step)
    bench = _bench(subject, cluster, clock)
    dues = sorted(due for due in clock.dues if due > clock.now())[:_MOST_DUES]
    if not dues:
        return
    apply(bench, step)
    began_after = _bench(subject, changed, VirtualClock())
    excepted = differences(bench, began_after, cluster.pending)
    for due in dues:
        seconds = due - clock.now()
        for each in (bench, began_after):
            each.advance(seconds)
        differing = differences(bench, began_after, cluster.pending)
        for pod in cluster.pending:
            if pod.key in differing and pod.key not in excepted:
                hook, problem = differing[pod.key]
                text = (
                    f"{problem} as from an instance that began after {step}, once a "
                    "timer was due that had been set before: cancel the timers of an "
                    "object when it changes"
                )
                old_and_new = [obj for obj in (step.old, step.new) if obj is not None]
                fail(hook, text, pod, old_and_new, cluster.nodes, cluster.objects)


def _bench(subject: Subject, cluster: SmallCluster, clock: VirtualClock) -> Bench:
    """Return a bench whose instance has seen all pods that wait."""
    services = subject.make_services(subject.empty_cluster)
    bench = Bench(subject, cluster, services=attrs.evolve(services, clock=clock))
    _see_all(bench, cluster)
    return bench


def _changed(cluster: SmallCluster, step: Step) -> SmallCluster:
    """Return a cluster after a change of one of its objects."""

    def changed(objects: Iterable[ObjT]) -> tuple[ObjT, ...]:
        # Identity: objects of several kinds may be equal.
        present = (step.new if obj is step.old else obj for obj in objects)
        return tuple(cast(ObjT, obj) for obj in present if obj is not None)

    return attrs.evolve(
        cluster,
        nodes=changed(cluster.nodes),
        pods=changed(cluster.pods),
        objects=changed(cluster.objects),
    )


def _lasting(
    bench: Bench, pods: Sequence[Pod], excepted: Collection[str]
) -> Mapping[str, Difference]:
    """Return the differences that remain although timers run.

    A plugin may look at the time by a periodic timer, so that it is a period late.
    """
    clock = bench.services.clock
    remaining: Mapping[str, Difference] | None = None
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


def _compared(bench: Bench, pods: Sequence[Pod]) -> Mapping[str, Difference]:
    """Return the pods for which an instance differs from a new one, and how."""
    renewed = bench.renewed()
    try:
        return differences(bench, renewed, pods)
    finally:
        # Its timers must not run beside those of the old one.
        if renewed in bench.subject.benches:
            bench.subject.benches.remove(renewed)
            renewed.close()


UPTIME: Final = Check(
    name="uptime",
    promise="an instance that has run for hours answers as a new one",
    ask=_ask,
    needs_other=True,
    hooks=frozenset({"queue_sort", "pre_enqueue", "pre_filter", "filter", "score"}),
)
