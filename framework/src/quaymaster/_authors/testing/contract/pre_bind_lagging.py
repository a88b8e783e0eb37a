"""Runs PreBind while the informers still have the object of an earlier attempt."""

from collections.abc import Iterator

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    content_of,
    open_nodes,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.handled_objects import handled
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status

__all__ = ["ask_lagging"]


def ask_lagging(subject: Subject, cluster: SmallCluster) -> None:
    """Check that a wait does not end because of the object of another node or pod.

    Raises:
        Finding: It does.
    """
    for pod in cluster.pending:
        nodes = open_nodes(Bench(subject, cluster), pod)[:2]
        if not nodes:
            continue
        bench = Bench(subject, cluster)
        run = begin(bench, pod, nodes[0])
        answer = run.pre_bind() if run is not None else None
        if run is None or not isinstance(answer, PreBindWait):
            continue
        if answer.check() is True:
            continue
        own = {(type(obj), obj.key): content_of(obj) for obj in run.written}
        uid = make_uid(Pod, f"{pod.name}-earlier", pod.namespace)
        earlier = replace(pod, metadata=replace(pod.metadata, uid=uid))
        for former, node_name, whose in (
            (pod, nodes[-1], f"of node '{nodes[-1]}'"),
            (earlier, nodes[0], "of an earlier pod of its name"),
        ):
            for old in _left(subject, cluster, former, node_name):
                new = own.get((type(old), old.key))
                if new is not None and content_of(old) != new:
                    _ask_with(Bench(subject, cluster), pod, nodes[0], old, whose)


def _left(
    subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str
) -> Iterator[ApiObject]:
    """Yield what PreBind writes for a pod and a node."""
    bench = Bench(subject, attrs.evolve(cluster, pending=(pod,)))
    run = begin(bench, pod, node_name) if node_name in open_nodes(bench, pod) else None
    if run is not None and not isinstance(run.pre_bind(), Status):
        yield from run.written


def _ask_with(
    bench: Bench, pod: Pod, node_name: str, old: ApiObject, whose: str
) -> None:
    """Run PreBind with an old object whose controller has finished it."""
    uid = make_uid(type(old), f"{old.name}-earlier", old.namespace)
    metadata = replace(old.metadata, uid=uid, resource_version="0")
    cluster = SmallCluster()
    for finished in handled(replace(old, metadata=metadata), cluster):
        bench.add(finished)
        run = begin(bench, pod, node_name)
        if run is None:
            return
        # Nothing is delivered after it: the informers are behind.
        wait = run.ask("pre_bind")
        if isinstance(wait, PreBindWait) and wait.check() is True:
            text = (
                "the check of its PreBindWait returns True because of "
                f"{finished.kind} '{finished.key}' {whose}, which the informers still "
                "have: they follow the cluster later, so compare what the object says "
                "(the node, the uid of the pod) with what this attempt wants"
            )
            fail("pre_bind", text, pod, finished)
        return
