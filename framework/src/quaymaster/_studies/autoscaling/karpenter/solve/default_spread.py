"""The spread constraints of pods that have none of their own.

Mirrors ``defaultconstraints.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``): the selector is that of the services and
the controller of a pod, as kube-scheduler derives it.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from quaymaster._api.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    Pod,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    TopologySpreadConstraint,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState

__all__ = ["with_default_spread"]


def with_default_spread(
    state: ClusterState,
    pods: Sequence[Pod],
    constraints: Sequence[TopologySpreadConstraint],
) -> Sequence[Pod]:
    """Return pods; those without spread constraints get the default ones."""
    if not constraints:
        return pods
    return [_constrained(state, pod, constraints) for pod in pods]


def _constrained(
    state: ClusterState, pod: Pod, constraints: Sequence[TopologySpreadConstraint]
) -> Pod:
    if pod.spec.topology_spread_constraints:
        return pod
    selector = _selector(state, pod)
    if selector is None:
        return pod
    own = tuple(replace(each, label_selector=selector) for each in constraints)
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=own))


def _selector(state: ClusterState, pod: Pod) -> LabelSelector | None:
    """Return what the services and the controller of a pod select, or None."""
    labels: dict[str, str] = {}
    for service in state.all_of(Service):
        selector = service.spec.selector
        if (
            service.namespace == pod.namespace
            and selector
            and selector.items() <= pod.labels.items()
        ):
            labels.update(selector)
    expressions: list[LabelSelectorRequirement] = []
    owner = pod.metadata.controller
    if owner is not None:
        key = f"{pod.namespace}/{owner.name}"
        if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
            controller = state.get(ReplicationController, key)
            labels.update((controller.spec.selector or {}) if controller else {})
        elif owner.api_version == "apps/v1":
            expressions = _of_workload(state, owner.kind, key)
    if not labels and not expressions:
        return None
    return LabelSelector(match_labels=labels, match_expressions=tuple(expressions))


def _of_workload(
    state: ClusterState, kind: str, key: str
) -> list[LabelSelectorRequirement]:
    selector: LabelSelector | None = None
    if kind == "ReplicaSet":
        replica_set = state.get(ReplicaSet, key)
        selector = replica_set.spec.selector if replica_set else None
    elif kind == "StatefulSet":
        stateful_set = state.get(StatefulSet, key)
        selector = stateful_set.spec.selector if stateful_set else None
    if selector is None:
        return []
    labels = [
        LabelSelectorRequirement(key=name, operator="In", values=(value,))
        for name, value in selector.match_labels.items()
    ]
    return [*labels, *selector.match_expressions]
