"""Finds the pods that are on another node than before."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.planning.question import is_tied
from quaymaster._studies.simulation.owners import workload_of

__all__ = ["Move", "Places", "moves_between", "places_of"]


@attrs.frozen(kw_only=True)
class Move:
    """A pod that is on another node than before, or whose replacement is.

    Controllers create pods again under other names. The pods of a workload are equal,
    so its old and new pods are matched by name where the names are the same, and
    otherwise in the order of their names.

    Attributes:
        workload: The workload of the pod, as ``deployment.apps/NAMESPACE/NAME``.
        pod: The key of the pod now.
        was: The key of the pod before; the same if it kept its name.
        source: The node before.
        target: The node now.
    """

    workload: str
    pod: str
    was: str
    source: str
    target: str


Places = Mapping[str, Mapping[str, str]]
"""Workload -> key of one of its pods -> the node of the pod."""


def places_of(cluster: InMemoryCluster) -> Places:
    """Return the nodes of each workload's pods; pods of DaemonSets cannot move."""
    places: defaultdict[str, dict[str, str]] = defaultdict(dict)
    workloads: dict[str, str] = {}
    for pod in cluster.list(Pod).items:
        is_running = pod.node_name and not pod.is_finished and not pod.is_terminating
        if not is_running or is_tied(pod):
            continue
        owner = _owner_of(pod)
        workload = workloads.get(owner) if owner else None
        if workload is None:
            workload = workload_of(pod, cluster)
            if owner:
                workloads[owner] = workload
        places[workload][pod.key] = pod.node_name
    return places


def moves_between(before: Places, after: Places) -> tuple[Move, ...]:
    """Return the pods that are on another node than before, by workload and name."""
    return tuple(
        move
        for workload in sorted(before.keys() & after.keys(), key=natural_key)
        for move in _moves_of(workload, before[workload], after[workload])
    )


def _moves_of(
    workload: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterable[Move]:
    same = sorted(before.keys() & after.keys(), key=natural_key)
    pairs = [(key, key) for key in same if before[key] != after[key]]
    new_keys = sorted(after.keys() - before.keys(), key=natural_key)
    came = {key: after[key] for key in new_keys}
    left = []
    for key in sorted(before.keys() - after.keys(), key=natural_key):
        # A pod that was created again on the same node has not moved.
        heir = next((pod for pod, node in came.items() if node == before[key]), None)
        if heir is None:
            left.append(key)
        else:
            del came[heir]
    pairs += zip(left, came, strict=False)
    for old, new in pairs:
        yield Move(
            workload=workload,
            pod=new,
            was=old,
            source=before[old],
            target=after[new],
        )


def _owner_of(pod: Pod) -> str:
    """Return a controller's namespace and uid; empty if the pod has none."""
    controller = pod.metadata.controller
    if controller is None or not controller.uid:
        return ""
    return f"{pod.namespace}/{controller.uid}"
