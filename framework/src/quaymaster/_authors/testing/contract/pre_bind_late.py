"""Runs a background task of Unreserve after PreBind of the next attempt."""

from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    content_of,
    open_nodes,
    written_objects,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.pre_bind_written import mentions
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.status import Status

__all__ = ["ask_late"]

_COMPARE: Final = (
    "read the object in the task and compare what it says with the node and the uid of "
    "the task's own pod"
)
_HOLD_UP: Final = (
    "let no attempt of the pod begin before: keep its uid from unreserve until done of "
    "the task, reject the pod in reserve meanwhile, and activate it in done if reserve "
    "has rejected it"
)


def ask_late(subject: Subject, cluster: SmallCluster) -> None:
    """Check that a late task of an earlier attempt leaves the objects of the next one.

    Raises:
        Finding: It deletes or changes them.
    """
    if not subject.has("unreserve"):
        return
    for pod in cluster.pending:
        nodes = open_nodes(Bench(subject, cluster), pod)[:2]
        if not nodes:
            continue
        first = pod, nodes[0]
        uid = make_uid(Pod, f"{pod.name}-again", pod.namespace)
        again = replace(pod, metadata=replace(pod.metadata, uid=uid))
        if len(nodes) > 1:
            place = f"of the next attempt, on node '{nodes[1]}'"
            _ask_of(subject, cluster, first, (pod, nodes[1]), (place, _COMPARE))
        whose = "of a new pod of the same name"
        _ask_of(subject, cluster, first, (again, nodes[0]), (whose, _COMPARE))
        place = "that the next attempt, on the same node, has taken for its own"
        _ask_of(subject, cluster, first, first, (place, _HOLD_UP))


def _ask_of(
    subject: Subject,
    cluster: SmallCluster,
    first: tuple[Pod, str],
    second: tuple[Pod, str],
    texts: tuple[str, str],
) -> None:
    """Play an attempt, and the task of its unreserve after PreBind of the next one.

    Args:
        subject: The plugin.
        cluster: The cluster.
        first: The pod and the node of the first attempt.
        second: Those of the next one.
        texts: Whose object the task must leave as it is, and what to do about it.
    """
    whose, remedy = texts
    executor = HeldExecutor()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=executor)
    bench = Bench(subject, cluster, services=services)
    run = begin(bench, *first)
    if run is None or isinstance(run.pre_bind(), Status) or not run.written:
        return
    written = run.written
    executor.is_holding = True
    run.ask("unreserve")
    run.forget()
    executor.is_holding = False
    pod, node_name = second
    if pod.uid != first[0].uid:
        bench.remove(first[0])
        bench.add(pod)
    if node_name not in open_nodes(bench, pod):
        return
    run = begin(bench, pod, node_name)
    if run is None or isinstance(run.pre_bind(), Status):
        return
    before = written_objects(bench)
    if not executor.has_tasks:
        return
    executor.release()
    after = written_objects(bench)
    # An attempt that writes nothing goes on with what the one before has written.
    for obj in run.written or (written if second == first else ()):
        new, old = (stored.get((type(obj), obj.key)) for stored in (after, before))
        if old is not None and (new is None or _has_lost(old, new, pod.uid, node_name)):
            did = "deletes" if new is None else "changes"
            text = (
                f"its background task {did} {obj.kind} '{obj.key}' {whose}, if it "
                f"runs after the pre_bind of that attempt: tasks may run late, so "
                f"{remedy}"
            )
            fail("unreserve", text, pod, content_of(obj) or ())


def _has_lost(before: ApiObject, after: ApiObject, *words: str) -> bool:
    """Return whether an object no longer names the pod or the node."""
    return any(mentions(before, word) and not mentions(after, word) for word in words)
