"""A check: changes that arrive while a background task runs leave no objects behind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.background_acts import (
    Act,
    acts_of,
    bind_elsewhere,
    collect_garbage,
    delete_pod,
    settle,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import written_objects
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["RUNNING_TASKS"]

_SECONDS: Final = 3601
"""Enough for timers that run each hour."""

_Objects: TypeAlias = Mapping[tuple[type, str], ApiObject]

_TASK, _WATCH, _DONE, _POD = "the task", "the watch event", "done", "the pod's change"
_USUAL: Final = (_TASK, _WATCH, _DONE, _POD)
_ORDERS: Final = (
    (_POD, _TASK, _WATCH, _DONE),
    (_POD, _TASK, _DONE, _WATCH),
    (_TASK, _POD, _WATCH, _DONE),
    (_TASK, _POD, _DONE, _WATCH),
    (_TASK, _WATCH, _POD, _DONE),
    (_TASK, _DONE, _POD, _WATCH),
)
"""The watch event is that of the written objects."""

_CHANGES: Final[Mapping[str, Callable[[Bench, Pod], None]]] = {
    "bound by another scheduler": bind_elsewhere,
    "deleted": delete_pod,
}


@attrs.frozen
class _Race:
    """A plugin's background task, and what becomes of its pod meanwhile.

    Attributes:
        subject: The plugin.
        cluster: The cluster before.
        act: How the plugin writes.
        pod: The pod.
        change: What becomes of the pod.
    """

    subject: Subject
    cluster: SmallCluster
    act: Act
    pod: Pod
    change: Callable[[Bench, Pod], None]

    def left_after(self, order: Sequence[str]) -> _Objects:
        """Return the objects that are left once all is settled.

        Args:
            order: The order of events; without any, the pod only is played.
        """
        executor = HeldExecutor()
        services = self.subject.make_services(self.subject.empty_cluster)
        services = attrs.evolve(services, executor=executor)
        bench = Bench(self.subject, self.cluster, services=services)
        before = written_objects(bench)
        executor.is_holding = True
        self.act.play(bench, self.pod)
        if not executor.has_tasks:
            return {}
        steps: Mapping[str, Callable[[], object]] = {
            _TASK: executor.run_tasks,
            _WATCH: bench.deliver,
            _DONE: executor.deliver_results,
            _POD: lambda: self.change(bench, self.pod),
        }
        for step in order:
            steps[step]()
            bench.room.settle()
        executor.release()
        self._settle(bench, before)
        after = written_objects(bench)
        return {key: obj for key, obj in after.items() if key not in before}

    def _settle(self, bench: Bench, before: _Objects) -> None:
        settle(bench)
        bench.advance(_SECONDS)
        settle(bench)
        if bench.services.informers.get(Pod, self.pod.key) is None:
            collect_garbage(bench, self.pod, before)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending[:1]:
        for act in acts_of(subject):
            for what, change in _CHANGES.items():
                _ask_of(_Race(subject, cluster, act, pod, change), what)


def _ask_of(race: _Race, what: str) -> None:
    usual = race.left_after(_USUAL)
    for order in _ORDERS:
        left = race.left_after(order)
        orphans = [obj for key, obj in left.items() if key not in usual]
        if orphans and race.left_after(_USUAL).keys() == usual.keys():
            names = " and ".join(_names(orphans))
            text = (
                f"leaves {names} if the pod is {what} while the background task that "
                f"creates it is under way. The order was: {', '.join(order)}. A watch "
                "event may come before or after done of run_in_background, and a "
                "change of the pod before both. So whenever one of them comes, compare "
                "the object with the pod in handle.informers, and delete it if the pod "
                "no longer needs it"
            )
            fail(race.act.hook, text, race.pod, orphans)


def _names(objects: Sequence[ApiObject]) -> Iterator[str]:
    for obj in objects:
        yield f"{obj.kind} '{obj.key}'"


RUNNING_TASKS: Final = Check(
    name="running tasks",
    promise="changes that arrive while a background task runs leave no objects behind",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
