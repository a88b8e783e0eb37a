"""Checks that pods of the same name in two namespaces do not share their objects."""

from collections.abc import Set as AbstractSet
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import begin, open_nodes
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid

__all__ = ["ask_names"]

_ELSEWHERE: Final = "elsewhere"


def ask_names(subject: Subject, cluster: SmallCluster) -> None:
    """Check that names of objects that follow from pods differ between namespaces.

    Raises:
        Finding: They do not.
    """
    for pod in cluster.pending:
        own = _written(subject, cluster, pod)
        if not own:
            continue
        shared = own & _written(subject, cluster, _moved(pod, pod.name, _ELSEWHERE))
        if shared:
            shared -= _written(
                subject, cluster, _moved(pod, f"{pod.name}-renamed", pod.namespace)
            )
        for kind, key in sorted(shared, key=str):
            text = (
                f"writes {kind.__name__} '{key}' for pod '{pod.key}', and also for a "
                f"pod '{pod.name}' of another namespace: pods of the same name may "
                "exist in several namespaces, so give the object the namespace of the "
                "pod, or a name with the pod's namespace or uid"
            )
            fail("pre_bind", text, pod)


def _written(
    subject: Subject, cluster: SmallCluster, pod: Pod
) -> AbstractSet[tuple[type[ApiObject], str]]:
    """Return the kinds and keys of what PreBind writes for a pod."""
    bench = Bench(subject, attrs.evolve(cluster, pending=(pod,)))
    nodes = open_nodes(bench, pod)
    run = begin(bench, pod, nodes[0]) if nodes else None
    if run is None:
        return frozenset()
    run.pre_bind()
    return {(type(obj), obj.key) for obj in run.written}


def _moved(pod: Pod, name: str, namespace: str) -> Pod:
    uid = make_uid(Pod, name, namespace)
    metadata = replace(pod.metadata, name=name, namespace=namespace, uid=uid)
    return replace(pod, metadata=metadata)
