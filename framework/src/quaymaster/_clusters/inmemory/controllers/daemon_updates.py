"""Selects the pods that a DaemonSet deletes and creates, during an update or not.

Mirrors ``rollingUpdate`` (``pkg/controller/daemon/update.go``) and
``podsShouldBeOnNode`` (``daemon_controller.go``), Kubernetes v1.37.
"""

from collections.abc import Iterable, Mapping

import attrs

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.controllers.daemon_nodes import Daemons
from quaymaster._clusters.inmemory.controllers.pods import is_ready

__all__ = ["SurgePlan", "plan_surge", "pods_to_take_down", "surplus_pods"]


def surplus_pods(
    daemons: Daemons, running: Iterable[Pod], *, surges: bool
) -> list[Pod]:
    """Return the pods of one node that should not be there beside the others.

    Args:
        daemons: The pods of the DaemonSet.
        running: The pods of the node that neither terminate nor have ended.
        surges: Whether an old pod may be there until a new one is available.
    """
    ordered = sorted(running, key=_age)
    if not surges:
        return ordered[1:]
    old = [pod for pod in ordered if pod.key in daemons.old]
    new = [pod for pod in ordered if pod.key not in daemons.old]
    surplus = [*old[1:], *new[1:]]
    # An old pod that is not ready is of no use, so it need not wait for its successor.
    if old and new and not (is_ready(old[0]) and not daemons.is_available(new[0].key)):
        surplus.append(old[0])
    return surplus


def pods_to_take_down(
    daemons: Daemons, pods: Mapping[str, Pod], limit: int
) -> list[str]:
    """Return the old pods to delete now, without a surge.

    Unavailable pods may always be deleted, others up to the limit.

    Args:
        daemons: The pods of the DaemonSet.
        pods: All pods of the cluster.
        limit: On how many nodes no pod may be available.
    """
    # | Nodes that should not have a pod but do count, too, as in upstream's map of
    # nodes to pods.
    missing = len(daemons.desired | daemons.nodes()) - len(daemons.available)
    alive = [key for key in daemons.old if not pods[key].is_terminating]
    useless = [key for key in alive if not daemons.is_available(key)]
    useful = [key for key in alive if daemons.is_available(key)]
    # Deleting a pod that does not serve costs no availability, so the limit does not
    # apply to it.
    return [*useless, *useful[: max(0, limit - missing)]]


@attrs.frozen
class SurgePlan:
    """What to do now in an update with a surge.

    Attributes:
        pods_to_delete: The keys of old pods.
        nodes_to_fill: The nodes that get a new pod.
    """

    pods_to_delete: list[str]
    nodes_to_fill: list[str]


def plan_surge(daemons: Daemons, pods: Mapping[str, Pod], limit: int) -> SurgePlan:
    """Return which new pods to create beside old ones, and which old ones to delete.

    Args:
        daemons: The pods of the DaemonSet.
        pods: All pods of the cluster.
        limit: How many available old pods may have a new one beside them that is not
            available.
    """
    replaced: list[str] = []
    sunset: list[str] = []
    urgent: list[str] = []
    candidates: list[str] = []
    surging = 0
    for name, key, others in daemons.updated_nodes():
        if pods[key].is_terminating:
            continue
        new = [other for other in others if other not in daemons.old]
        new = [other for other in new if not pods[other].is_terminating]
        is_desired, is_available = name in daemons.desired, daemons.is_available(key)
        if any(map(daemons.is_available, new)):
            replaced.append(key)
        elif new:
            surging += 1
        elif is_desired:
            # A node without a service gets its new pod at once; the limit concerns only
            # nodes whose old pod serves.
            (candidates if is_available else urgent).append(name)
        else:
            (sunset if is_available else replaced).append(key)
    if sunset:
        # A pod that should not be there goes when one elsewhere serves in its place.
        spare = _available_nodes(daemons, pods) - len(daemons.desired)
        replaced += sunset[: max(0, spare)]
    return SurgePlan(replaced, [*urgent, *candidates[: max(0, limit - surging)]])


def _available_nodes(daemons: Daemons, pods: Mapping[str, Pod]) -> int:
    """Return the number of nodes whose old pod, or else new pod, is available."""
    count = 0
    for keys in daemons.by_node.values():
        alive = [key for key in keys if not pods[key].is_terminating]
        old = [key for key in alive if key in daemons.old]
        count += any(map(daemons.is_available, (old or alive)[:1]))
    return count


def _age(pod: Pod) -> tuple[bool, float, str]:
    # ``podByCreationTimestampAndPhase``: pods with a node first, then the oldest, so
    # that of two the one that runs already is kept.
    return not pod.node_name, pod.metadata.creation_timestamp or 0.0, pod.name
