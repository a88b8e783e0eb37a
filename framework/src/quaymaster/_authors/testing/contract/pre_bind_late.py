"""Runs a background task of Unreserve after PreBind of the next attempt."""

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
        uid = make_uid(Pod, f"{pod.name}-again", pod.namespace)
        again = replace(pod, metadata=replace(pod.metadata, uid=uid))
        if len(nodes) > 1:
            place = f"of the next attempt, on node '{nodes[1]}'"
            _ask_of(subject, cluster, (pod, nodes[0]), (pod, nodes[1]), place)
        whose = "of a new pod of the same name"
        _ask_of(subject, cluster, (pod, nodes[0]), (again, nodes[0]), whose)


def _ask_of(
    subject: Subject,
    cluster: SmallCluster,
    first: tuple[Pod, str],
    second: tuple[Pod, str],
    whose: str,
) -> None:
    executor = HeldExecutor()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, executor=executor)
    bench = Bench(subject, cluster, services=services)
    run = begin(bench, *first)
    if run is None or isinstance(run.pre_bind(), Status) or not run.written:
        return
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
    for obj in run.written:
        new, old = (stored.get((type(obj), obj.key)) for stored in (after, before))
        if old is not None and (new is None or _has_lost(old, new, pod.uid, node_name)):
            did = "deletes" if new is None else "changes"
            text = (
                f"its background task {did} {obj.kind} '{obj.key}' {whose}, if it "
                "runs after the pre_bind of that attempt: tasks may run late, so read "
                "the object in the task and compare what it says with the node and "
                "the uid of the task's own pod"
            )
            fail("unreserve", text, pod, content_of(obj) or ())


def _has_lost(before: ApiObject, after: ApiObject, *words: str) -> bool:
    """Return whether an object no longer names the pod or the node."""
    return any(mentions(before, word) and not mentions(after, word) for word in words)
