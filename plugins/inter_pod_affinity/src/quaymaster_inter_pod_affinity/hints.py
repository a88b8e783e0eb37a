"""Queueing hints for pods that InterPodAffinity rejected.

Mirrors ``isSchedulableAfterPodChange`` (1.36.2), its two parts in
1.37.2, and ``isSchedulableAfterNodeChange`` (kube-scheduler,
``pkg/scheduler/framework/plugins/interpodaffinity/plugin.go``).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

from quaymaster import Node, Pod
from quaymaster.counting import PodTerm
from quaymaster.errors import QuaymasterError
from quaymaster_inter_pod_affinity.terms import affinity_terms, matches_all

__all__ = [
    "BrokenTermsError",
    "keys_of_pod_change",
    "node_change_helps",
    "pod_change_helps",
    "waiting_keys",
]


Conflicts: TypeAlias = Callable[[Sequence[PodTerm], Pod], bool]


class BrokenTermsError(QuaymasterError):
    """A pod's terms cannot be evaluated; the queue then requeues the rejected pod."""


def pod_change_helps(
    pod: Pod, old: Pod | None, new: Pod | None, conflicts: Conflicts
) -> bool:
    """Return whether a change to some pod may help.

    Args:
        pod: The rejected pod.
        old: The changed pod before, or None.
        new: The changed pod after, or None.
        conflicts: Whether a pod matches terms of anti-affinity. The correct function is
            `matches_any`. Kubernetes 1.36 uses `matches_all`, so a pod with several
            terms is not requeued when the pods of only one term are gone.

    Raises:
        BrokenTermsError: The terms of one of them cannot be evaluated.
    """
    if old is not None and new is not None and pod.uid == new.uid:
        # Only its labels can have changed: terms of other pods may match differently.
        return True
    # Pods that only wait are not near anything.
    if _is_nowhere(old) or _is_nowhere(new):
        return False
    terms = affinity_terms(pod)
    _check(pod)
    if old is None:
        return new is not None and matches_all(terms.affinity, new)
    if new is None:
        if conflicts(terms.anti_affinity, old):
            return True
        _check(old)
        return conflicts(affinity_terms(old).anti_affinity, pod)
    comes_near = not matches_all(terms.affinity, old) and matches_all(
        terms.affinity, new
    )
    goes_away = conflicts(terms.anti_affinity, old) and not conflicts(
        terms.anti_affinity, new
    )
    return comes_near or goes_away


def waiting_keys(pod: Pod) -> Iterable[Hashable] | None:
    """Return the keys of changes that may help a pod: see `keys_of_pod_change`.

    Args:
        pod: The rejected pod.

    Returns:
        Its own labels, a label that every pod matching its affinity has, and such a
        label for each term of its anti-affinity. None if some label does not exist.
    """
    terms = affinity_terms(pod)
    if terms.problem:
        return None
    keys: list[Hashable] = [("uid", pod.uid), *_own(pod.metadata.labels.items())]
    groups = [terms.affinity] if terms.affinity else []
    for group in (*groups, *((term,) for term in terms.anti_affinity)):
        label = _label_of(group)
        if label is None:
            return None
        keys.append(label)
    return keys


def keys_of_pod_change(old: Pod | None, new: Pod | None) -> Iterable[Hashable] | None:
    """Return the keys of a change of a pod: its labels.

    A deleted pod may also help pods that match its own anti-affinity.

    Args:
        old: The pod before, or None.
        new: The pod after, or None.
    """
    keys: list[Hashable] = []
    for pod in (old, new):
        if pod is not None:
            keys += [("uid", pod.uid), *pod.metadata.labels.items()]
    if old is None or new is not None:
        return keys
    terms = affinity_terms(old)
    if terms.problem:
        return None
    for term in terms.anti_affinity:
        label = _label_of((term,))
        if label is None:
            return None
        keys += _own([label])
    return keys


def _label_of(terms: Iterable[PodTerm]) -> tuple[str, str] | None:
    """Return a label of every pod that matches all of some terms, or None."""
    for term in terms:
        for label in term.selector.required_labels:
            return label
    return None


def _own(labels: Iterable[tuple[str, str]]) -> Iterable[Hashable]:
    return (("own", key, value) for key, value in labels)


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
        # On a node without the label, anti-affinity rejects no pod.
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
