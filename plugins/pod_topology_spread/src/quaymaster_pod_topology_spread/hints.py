"""Queueing hints for pods that PodTopologySpread rejected.

Mirrors ``isSchedulableAfterPodChange`` and ``isSchedulableAfterNodeChange``
(kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/podtopologyspread/plugin.go``).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from quaymaster import Node, Pod
from quaymaster_pod_topology_spread.constraints import Constraint

__all__ = [
    "is_involved",
    "keys_of_pod_change",
    "node_change_helps",
    "pod_change_helps",
    "waiting_keys",
]


def is_involved(other: Pod, pod: Pod) -> bool:
    """Return whether another pod may count for the rejected pod's constraints.

    It must be in the same namespace, and on a node, nominated, or the rejected pod.
    """
    if other.metadata.uid == pod.metadata.uid:
        return True
    if not other.node_name and not other.status.nominated_node_name:
        return False
    return other.metadata.namespace == pod.metadata.namespace


def pod_change_helps(
    pod: Pod, old: Pod | None, new: Pod | None, constraints: Sequence[Constraint]
) -> bool:
    """Return whether a change to some involved pod may help.

    Args:
        pod: The rejected pod.
        old: The changed pod before, or None.
        new: The changed pod after, or None.
        constraints: The hard constraints of the rejected pod.
    """
    if old is not None and new is not None:
        return _update_helps(pod, old, new, constraints)
    changed = new if new is not None else old
    assert changed is not None
    labels = changed.metadata.labels
    return any(constraint.selector.matches(labels) for constraint in constraints)


def _update_helps(
    pod: Pod, old: Pod, new: Pod, constraints: Sequence[Constraint]
) -> bool:
    if (
        pod.metadata.uid == new.metadata.uid
        and new.spec.tolerations != old.spec.tolerations
        and any(constraint.honors_taints for constraint in constraints)
    ):
        return True
    before, after = old.metadata.labels, new.metadata.labels
    return before != after and any(
        constraint.selector.matches(before) != constraint.selector.matches(after)
        for constraint in constraints
    )


def waiting_keys(pod: Pod, constraints: Sequence[Constraint]) -> Iterable[Hashable]:
    """Return the keys of changes that may help a pod: see `keys_of_pod_change`.

    Args:
        pod: The rejected pod.
        constraints: Its hard constraints.

    Returns:
        The pod itself, and for each constraint a label of every pod that it counts, or
        the namespace if there is no such label.
    """
    namespace = pod.metadata.namespace
    keys: list[Hashable] = [("uid", pod.metadata.uid)]
    for constraint in constraints:
        # One label suffices to find the pod; the hint then compares the whole selector.
        label = next(iter(constraint.selector.required_labels), None)
        keys.append((namespace, label))
    return keys


def keys_of_pod_change(old: Pod | None, new: Pod | None) -> Iterable[Hashable]:
    """Return the keys of a change of a pod: the pod itself, and its labels.

    Args:
        old: The pod before, or None.
        new: The pod after, or None.
    """
    keys: list[Hashable] = []
    for pod in (old, new):
        if pod is not None:
            metadata = pod.metadata
            namespace = metadata.namespace
            keys += [("uid", metadata.uid), (namespace, None)]
            keys += ((namespace, label) for label in metadata.labels.items())
    return keys


def node_change_helps(
    old: Node | None, new: Node | None, constraints: Sequence[Constraint]
) -> bool:
    """Return whether a change to a node may help.

    Args:
        old: The node before, or None.
        new: The node after, or None.
        constraints: The hard constraints of the rejected pod.
    """
    had_all = old is not None and _has_all_keys(old, constraints)
    has_all = new is not None and _has_all_keys(new, constraints)
    if old is None or new is None:
        return had_all or has_all
    if had_all != has_all:
        return True
    return has_all and (
        _values(old.metadata.labels, constraints)
        != _values(new.metadata.labels, constraints)
        or old.spec.taints != new.spec.taints
    )


def _has_all_keys(node: Node, constraints: Sequence[Constraint]) -> bool:
    return all(
        constraint.topology_key in node.metadata.labels for constraint in constraints
    )


def _values(
    labels: Mapping[str, str], constraints: Sequence[Constraint]
) -> Sequence[str]:
    return [labels.get(constraint.topology_key, "") for constraint in constraints]
