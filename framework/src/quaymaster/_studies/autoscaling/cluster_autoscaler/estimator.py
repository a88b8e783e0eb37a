"""Estimates how many new nodes of a group some pods need.

Mirrors ``estimator/binpacking_estimator.go`` and ``decreasing_pod_orderer.go``.
"""

import math
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod, PodAffinityTerm
from quaymaster._api.objects.resources import Resources, node_allocatable, pod_requests
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._core.contract.status import Status
from quaymaster._studies.autoscaling.cloud import HOSTNAME
from quaymaster._studies.autoscaling.cluster_autoscaler.equivalence import (
    PodEquivalenceGroup,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["Estimate", "estimate", "in_order"]

_SPREAD: Final = "node(s) didn't match pod topology spread constraints"


@attrs.frozen(kw_only=True, eq=False)
class Estimate:
    """What some new nodes would hold.

    Attributes:
        nodes: The number of nodes with at least one of the pods.
        pods: The pods that they would hold.
    """

    nodes: int
    pods: Sequence[Pod]


def estimate(
    trial: TrialCluster,
    groups: Sequence[PodEquivalenceGroup],
    template: Template,
    limit: int,
    *,
    with_arithmetic: bool = False,
) -> Estimate:
    """Pack pods on new nodes, first fit, the largest kinds first.

    Args:
        trial: The cluster; it is not changed in the end.
        groups: The kinds of pods.
        template: The new nodes.
        limit: The most new nodes; below 0 there may be none, and 0 sets no limit.
        with_arithmetic: Whether the kind for which it helps most comes last, and is
            packed by arithmetic.
    """
    ordered = in_order(groups, template)
    quick = _best_for_arithmetic(ordered, template) if with_arithmetic else -1
    if quick >= 0:
        ordered.append(ordered.pop(quick))
    with trial.fork():
        packing = _Packing(trial, template, limit)
        for number, group in enumerate(ordered):
            pods = packing.put_on_new_nodes(group.pods)
            if packing.is_full:
                continue
            if quick >= 0 and number == len(ordered) - 1:
                packing.multiply(pods)
            else:
                packing.add_nodes_for(pods)
    return Estimate(nodes=len(packing.used), pods=packing.placed)


def in_order(
    groups: Sequence[PodEquivalenceGroup], template: Template
) -> list[PodEquivalenceGroup]:
    """Return kinds of pods by falling size, in parts of a node."""
    allocatable = node_allocatable(template.node)

    def size(group: PodEquivalenceGroup) -> float:
        return _share(pod_requests(group.exemplar), allocatable)

    return sorted(groups, key=size, reverse=True)


def _share(requests: Resources, allocatable: Resources) -> float:
    share = 0.0
    if allocatable.milli_cpu > 0:
        share += requests.milli_cpu / allocatable.milli_cpu
    if allocatable.memory > 0:
        share += requests.memory / allocatable.memory
    return share


class _Packing:
    """New nodes that are being filled."""

    def __init__(self, trial: TrialCluster, template: Template, limit: int) -> None:
        self._trial = trial
        self._template = template
        self._limit = limit
        self._names: dict[str, None] = {}
        self._asked = 0
        self._last = ""
        self.is_full = False
        self.used: dict[str, None] = {}
        self.placed: list[Pod] = []

    def put_on_new_nodes(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """Place pods on nodes that were added before; return the others.

        The first pod that fits nowhere ends it.
        """
        for number, pod in enumerate(pods):
            name = self._trial.place_anywhere(pod, self._names.__contains__)
            if name is None:
                return pods[number:]
            self._note(pod, name)
        return ()

    def add_nodes_for(self, pods: Sequence[Pod]) -> None:
        """Place pods on the last node, and add a node whenever it has no room."""
        for pod in pods:
            if self._last and self._put_on_last(pod):
                continue
            # No further node would help a pod that does not fit on an empty one.
            if self._last and self._last not in self.used:
                return
            if not self._may_add():
                self.is_full = True
                return
            self._add()
            if self._trial.place(pod, self._last) is not None:
                return
            self._note(pod, self._last)

    def multiply(self, pods: Sequence[Pod]) -> None:
        """Fill one node, and compute how many such nodes all pods need."""
        if not pods:
            return
        if not self._may_add():
            self.is_full = True
            return
        self._add()
        each = 0
        for pod in pods:
            if self._trial.place(pod, self._last) is not None:
                break
            self._note(pod, self._last)
            each += 1
        if not each:
            return
        done = each
        for number in range(1, math.ceil(len(pods) / each)):
            if not self._may_add():
                self.is_full = True
                return
            for pod in pods[done : done + each]:
                self._note(pod, f"{self._last}-fake-{number}")
            done += each

    def _put_on_last(self, pod: Pod) -> bool:
        status = self._trial.place(pod, self._last)
        if status is None:
            self._note(pod, self._last)
            return True
        if not (_spreads_over_hosts(pod) and _breaks_spread(status)):
            return False
        last = self._last
        name = self._trial.place_anywhere(pod, lambda each: each != last)
        if name is None:
            return False
        self._note(pod, name)
        return True

    def _may_add(self) -> bool:
        if self._limit < 0 or 0 < self._limit <= self._asked:
            return False
        self._asked += 1
        return True

    def _add(self) -> None:
        new = self._template.named(f"e-{len(self._names)}")
        self._trial.add_node(new.node, new.pods)
        self._last = new.node.name
        self._names[self._last] = None

    def _note(self, pod: Pod, name: str) -> None:
        self.used[name] = None
        self.placed.append(pod)


def _spreads_over_hosts(pod: Pod) -> bool:
    return any(
        constraint.topology_key == HOSTNAME
        for constraint in pod.spec.topology_spread_constraints
    )


def _breaks_spread(status: Status) -> bool:
    return _SPREAD in status.reasons


def _best_for_arithmetic(
    groups: Sequence[PodEquivalenceGroup], template: Template
) -> int:
    """Return the position of the kind that arithmetic saves most work for, or -1."""
    best, most = -1, 0
    for position, group in enumerate(groups):
        nodes = _needed_nodes(group, template)
        saved = len(group.pods) - len(group.pods) // nodes if nodes else 0
        if saved >= most and _suits_arithmetic(group.exemplar):
            best, most = position, saved
    return best


def _needed_nodes(group: PodEquivalenceGroup, template: Template) -> int:
    pod, count = group.exemplar, len(group.pods)
    nodes = count if _excludes_itself_on_hosts(pod) else 0
    requests = pod.spec.containers[0].resources.requests if pod.spec.containers else {}
    capacity = template.node.status.capacity
    for resource in ("cpu", "memory"):
        if resource in requests and capacity.get(resource):
            share = requests[resource].milli_value / capacity[resource].milli_value
            nodes = max(nodes, math.ceil(count * share))
    return nodes


def _excludes_itself_on_hosts(pod: Pod) -> bool:
    return any(
        term.topology_key == HOSTNAME
        and term.label_selector is not None
        and compile_label_selector(term.label_selector).matches(pod.labels)
        for term in _required_anti_affinity(pod)
    )


def _suits_arithmetic(pod: Pod) -> bool:
    return not pod.spec.topology_spread_constraints and all(
        term.topology_key == HOSTNAME for term in _required_anti_affinity(pod)
    )


def _required_anti_affinity(pod: Pod) -> Sequence[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return ()
    return (
        affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
    )
