"""Rejects a pod in Reserve while an earlier attempt is being undone."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    BindingRun,
    begin,
    content_of,
    open_nodes,
    written_objects,
)
from quaymaster._authors.testing.contract.changes import Step
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.pre_bind_written import mentions
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.status import Status

__all__ = ["ask_undoing"]

_Objects: TypeAlias = Mapping[tuple[type, str], ApiObject]

_MOST_ATTEMPTS: Final = 4

_REMEDY: Final = (
    "unreserve is also called after the plugin's own reserve has rejected the pod. If "
    "an earlier attempt is still being undone, it has to return at once: no second "
    "task, and what reserve has noted for done of the first one stays"
)


def ask_undoing(subject: Subject, cluster: SmallCluster) -> None:
    """Check that an unreserve after a rejection by Reserve itself undoes nothing.

    Raises:
        Finding: It begins a second task, which deletes the objects of the bound pod,
            or the pod that Reserve has rejected is never woken.
    """
    if not subject.has("unreserve") or not subject.has("reserve"):
        return
    for pod in cluster.pending:
        nodes = open_nodes(Bench(subject, cluster), pod)
        if nodes:
            _ask(subject, cluster, pod, nodes[0])


def _ask(subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str) -> None:
    executor = HeldExecutor()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=executor)
    bench = Bench(subject, cluster, services=services)
    run = begin(bench, pod, node_name)
    if run is None or isinstance(run.pre_bind(), Status) or not run.written:
        return
    executor.is_holding = True
    run.ask("unreserve")
    run.forget()
    if not executor.has_tasks or begin(bench, pod, node_name) is not None:
        return  # nothing is under way, or another check is about it
    again = begin(bench, pod, node_name)
    if again is not None:
        _finish(again, executor)
        return
    subject.exercised["rejections while an attempt is being undone"] += 1
    subject.wakes.clear()
    before = written_objects(bench)
    executor.run_first()
    bench.deliver()
    steps = _steps(before, written_objects(bench))
    # A task that has changed nothing may do so later: then a deletion has to wake it.
    if not subject.wakes and not _wake(
        bench, steps or [Step(old=obj) for obj in run.written]
    ):
        text = (
            f"pod '{pod.key}' was rejected by reserve while an earlier attempt was "
            f"being undone, and nothing wakes it once that is done: {_REMEDY}"
        )
        fail("unreserve", text, pod)
    for _ in range(_MOST_ATTEMPTS):
        again = begin(bench, pod, node_name)
        if again is not None:
            _finish(again, executor)
        if again is not None or not executor.has_tasks:
            return
        executor.run_first()
        bench.deliver()


def _steps(before: _Objects, after: _Objects) -> Sequence[Step]:
    """Return the changes between two states of the objects."""
    keys = dict.fromkeys((*before, *after))
    steps = [Step(old=before.get(key), new=after.get(key)) for key in keys]
    return [step for step in steps if step.old != step.new]


def _wake(bench: Bench, steps: Sequence[Step]) -> bool:
    """Return whether the events of changes wake pods."""
    if not bench.subject.has("events_to_register"):
        return True
    registered = bench.ask("events_to_register")
    assert isinstance(registered, tuple)
    events = [
        event for step in steps for event in step.events(bench.subject.kubernetes)
    ]
    return any(each.event.matches(event) for each in registered for event in events)


def _finish(run: BindingRun, executor: HeldExecutor) -> None:
    """Bind the pod, and then run the tasks that are left."""
    bench, pod = run.bench, run.pod
    if isinstance(run.pre_bind(), Status):
        return
    run.bind()
    before = written_objects(bench)
    executor.release()
    bench.deliver()
    after = written_objects(bench)
    for key, old in before.items():
        new = after.get(key)
        if mentions(old, pod.uid) and (new is None or not mentions(new, pod.uid)):
            text = (
                f"a task of unreserve deletes or changes {old.kind} '{old.key}' of the "
                f"pod that is bound meanwhile, because reserve had rejected the pod "
                f"while an earlier attempt was being undone: {_REMEDY}"
            )
            fail("unreserve", text, pod, content_of(old) or ())
