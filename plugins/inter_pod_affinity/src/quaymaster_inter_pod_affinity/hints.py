"""The changes that may help a pod which InterPodAffinity rejected.

Mirrors ``isSchedulableAfterPodChange`` (1.36.2), the two functions that it is split
into (1.37.2), and ``isSchedulableAfterNodeChange`` (kube-scheduler,
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
    """A pod's terms cannot be evaluated; the queue then wakes the rejected pod."""


def pod_change_helps(
    pod: Pod, old: Pod | None, new: Pod | None, conflicts: Conflicts
) -> bool:
    """Return whether a change to some pod may help.

    Args:
        pod: The rejected pod.
        old: The changed pod before, or None.
        new: The changed pod after, or None.
        conflicts: Whether a pod is one that terms of anti-affinity keep away from.
            `matches_any` is right; in Kubernetes 1.36 it is `matches_all`, and a pod
            with several terms is not woken when one of them has nothing to shun.

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
    """Return what a change must have to help a rejected pod: see `keys_of_pod_change`.

    Args:
        pod: The rejected pod.

    Returns:
        Its own labels; of its affinity, one label that all who match have; of each term
        of its anti-affinity, too. None if there is no such label.
    """
    terms = affinity_terms(pod)
    if terms.problem:
        return None
    keys: list[Hashable] = [("uid", pod.uid), *_own(pod.metadata.labels.items())]
    wanted = [terms.affinity] if terms.affinity else []
    for group in (*wanted, *((term,) for term in terms.anti_affinity)):
        label = _label_of(group)
        if label is None:
            return None
        keys.append(label)
    return keys


def keys_of_pod_change(old: Pod | None, new: Pod | None) -> Iterable[Hashable] | None:
    """Return whom a change of a pod may help: those who look for one of its labels.

    A pod that goes may also help those whom its own anti-affinity kept away.

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
    """A label that every pod has which matches all of some terms; None without one."""
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
