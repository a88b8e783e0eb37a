"""The changes that may help a pod which InterPodAffinity rejected.

Mirrors ``isSchedulableAfterPodChange`` and ``isSchedulableAfterNodeChange``
(kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/interpodaffinity/plugin.go``).
"""

from quaymaster import Node, Pod
from quaymaster.errors import QuaymasterError
from quaymaster_inter_pod_affinity.terms import affinity_terms, matches_all

__all__ = ["BrokenTermsError", "node_change_helps", "pod_change_helps"]


class BrokenTermsError(QuaymasterError):
    """A pod's terms cannot be evaluated; the queue then wakes the rejected pod."""


def pod_change_helps(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Return whether a change to some pod may help.

    Args:
        pod: The rejected pod.
        old: The changed pod before, or None.
        new: The changed pod after, or None.

    Raises:
        BrokenTermsError: The terms of one of them cannot be evaluated.
    """
    if old is not None and new is not None and pod.uid == new.uid:
        return True  # only its labels can have changed: others may welcome it now
    if _is_nowhere(old) or _is_nowhere(new):
        return False
    terms = affinity_terms(pod)
    _check(pod)
    if old is None:
        return new is not None and matches_all(terms.affinity, new)
    if new is None:
        if matches_all(terms.anti_affinity, old):
            return True
        _check(old)
        return matches_all(affinity_terms(old).anti_affinity, pod)
    comes_near = not matches_all(terms.affinity, old) and matches_all(
        terms.affinity, new
    )
    goes_away = matches_all(terms.anti_affinity, old) and not matches_all(
        terms.anti_affinity, new
    )
    return comes_near or goes_away


def node_change_helps(pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether a new or a changed node may help.

    Args:
        pod: The rejected pod.
        old: The node before, or None.
        new: The node after.

    Raises:
        BrokenTermsError: The pod's terms cannot be evaluated.
    """
    _check(pod)
    terms = affinity_terms(pod)
    labels = new.metadata.labels
    near = [term.topology_key for term in terms.affinity]
    away = [term.topology_key for term in terms.anti_affinity]
    if old is None:
        # A node without the label can take any pod with anti-affinity.
        return bool(away) or any(key in labels for key in near)
    before = old.metadata.labels
    return any(key in labels and before.get(key) != labels[key] for key in near) or any(
        key in before and before[key] != labels.get(key) for key in away
    )


def _is_nowhere(pod: Pod | None) -> bool:
    """Return whether a pod is on no node, and nominated to none."""
    return pod is not None and not pod.node_name and not pod.status.nominated_node_name


def _check(pod: Pod) -> None:
    problem = affinity_terms(pod).problem
    if problem:
        raise BrokenTermsError(f"pod {pod.key}: {problem}")
