"""Compares PreBindPreFlight with what PreBind does, also after earlier attempts."""

from contextlib import suppress

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    open_nodes,
    written_objects,
)
from quaymaster._authors.testing.contract.changes import is_declared
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.handled_objects import handled
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status

__all__ = ["ask_pre_flight"]

_SKIP = Status.skip()


def ask_pre_flight(subject: Subject, cluster: SmallCluster) -> None:
    """Check that PreBindPreFlight skips no pod for which PreBind has work.

    A plugin may leave it to this hook which pods are its own. So only pods count for
    which there is work on a cluster without objects of the plugin's own kinds.

    Raises:
        Finding: It skips such a pod.
    """
    objects = [obj for obj in cluster.objects if not is_declared(type(obj))]
    bare = attrs.evolve(cluster, objects=(*subject.objects, *objects))
    for pod in cluster.pending:
        nodes = open_nodes(Bench(subject, bare), pod)[:2]
        if not nodes or not _is_own(Bench(subject, bare), pod, nodes[0]):
            continue
        _ask_pod(Bench(subject, cluster), pod, nodes[0], "of the cluster")
        _ask_after(subject, bare, pod, nodes[0], pod, nodes[-1], "of another node")
        uid = f"{pod.uid}-again"
        again = replace(pod, metadata=replace(pod.metadata, uid=uid))
        whose = "of an earlier pod of its name"
        _ask_after(subject, bare, pod, nodes[0], again, nodes[0], whose)


def _is_own(bench: Bench, pod: Pod, node_name: str) -> bool:
    run = begin(bench, pod, node_name)
    return run is not None and run.ask("pre_bind_pre_flight") != _SKIP


def _ask_after(
    subject: Subject,
    cluster: SmallCluster,
    pod: Pod,
    node_name: str,
    later: Pod,
    later_name: str,
    whose: str,
) -> None:
    """Run PreBind, and ask again for another node or pod with what it has left."""
    run = begin(Bench(subject, cluster), pod, node_name)
    if run is None or isinstance(run.pre_bind(), Status):
        return
    for obj in (new for old in run.written for new in (old, *handled(old, cluster))):
        bench = Bench(subject, attrs.evolve(cluster, pending=(later,)))
        bench.add(obj)
        _ask_pod(bench, later, later_name, whose)


def _ask_pod(bench: Bench, pod: Pod, node_name: str, whose: str) -> None:
    if node_name not in open_nodes(bench, pod):
        return
    run = begin(bench, pod, node_name)
    if run is None or run.ask("pre_bind_pre_flight") != _SKIP:
        return
    before = written_objects(bench)
    with suppress(HookFailedError):  # it may need what pre_bind_pre_flight keeps
        answer = run.pre_bind_alone()
        is_wait = isinstance(answer, PreBindWait)
        if is_wait or (answer is None and written_objects(bench) != before):
            text = (
                f"Skip for node '{node_name}' because of objects {whose}, but pre_bind "
                f"{'waits' if is_wait else 'writes'} for this pod and node: compare "
                "the pod's uid and the node, too, before you skip"
            )
            fail("pre_bind_pre_flight", text, pod, run.written)
