"""A check: a plugin makes its indexes, callbacks and timers once."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, TypeVar

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.pod_lives import live
from quaymaster._authors.testing.contract.repeated_attempts import ask_repeated
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.fixed_objects import FixedObjects
from quaymaster._core.contract.clock import Timer, VirtualClock
from quaymaster._core.contract.object_index import ObjectIndex

__all__ = ["REGISTRATIONS"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K")

_PODS: Final = 2
"""The pods of each round."""

_ROUNDS: Final = 3
_SECONDS: Final = 601
"""Enough for timers that run every few minutes."""

_REMEDIES: Final[Mapping[str, str]] = {
    "indexes": "call handle.informers.index once, in the constructor or in start",
    "callbacks": "call handle.informers.on_change once, in the constructor or in start",
    "timers": "set a periodic timer once, in start, or cancel it with its pod",
}


class _CountingObjects(FixedObjects):
    """Informers that count the indexes and the callbacks of a plugin."""

    indexes = 0

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        self.indexes += 1
        return super().index(kind, by)

    @property
    def callbacks(self) -> int:
        """The number of callbacks."""
        return sum(map(len, self._callbacks.values()))


class _CountingClock(VirtualClock):
    """A clock that counts the timers that are set."""

    timers = 0

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        self.timers += 1
        return super().call_at(due, callback, background=background)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    objects, clock = _CountingObjects(subject.objects, subject.kinds), _CountingClock()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, informers=objects, clock=clock)
    bench = Bench(subject, cluster, services=services)

    def run(copy: Pod) -> None:
        with suppress(HookFailedError):  # another check reports failures
            walk(bench, copy)
            live(bench, copy)

    for pod in cluster.pending:
        rounds = []
        copies = iter(copies_of(pod, _ROUNDS * _PODS))
        for _ in range(_ROUNDS):
            for _ in range(_PODS):
                run(next(copies))
            before = clock.timers
            bench.advance(_SECONDS)
            rounds.append(
                {
                    "indexes": objects.indexes,
                    "callbacks": objects.callbacks,
                    "timers": clock.timers - before,
                }
            )
        for what, remedy in _REMEDIES.items():
            first, second, third = (counts[what] for counts in rounds)
            if min(third - second, second - first) >= _PODS:
                text = (
                    f"has {third - second} more {what} after {_PODS} more pods that "
                    f"have come and gone: {remedy}"
                )
                fail("", text, pod, cluster.nodes)
    ask_repeated(subject, cluster)


REGISTRATIONS: Final = Check(
    name="registrations",
    promise="its indexes, callbacks and timers do not grow with the pods",
    ask=_ask,
)
