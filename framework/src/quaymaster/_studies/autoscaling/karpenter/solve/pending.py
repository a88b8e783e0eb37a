"""The pods that a round is for.

Mirrors ``GetPendingPods``, ``Validate`` and ``Schedule`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/provisioner.go``).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import NodeSelectorTerm, Pod
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.label_rules import (
    requirement_problems,
)
from quaymaster._studies.autoscaling.karpenter.labels import NODE_POOL
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import is_provisionable
from quaymaster._studies.autoscaling.karpenter.solve.pod_requirements import (
    pod_requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.volumes import claim_problem

__all__ = ["PodsToSchedule", "pods_to_schedule"]

_NOT_HERE: Final = (
    "configured to not run on a Karpenter provisioned node "
    f"(requirement={NODE_POOL} DoesNotExist)"
)


@attrs.frozen(kw_only=True)
class PodsToSchedule:
    """The pods of a round.

    Attributes:
        pending: Those that no scheduler has found a node for.
        leaving: Those on nodes that are being deleted.
        rejected: Why other pending pods are left out, by their keys.
    """

    pending: Sequence[Pod]
    leaving: Sequence[Pod]
    rejected: Mapping[str, str]

    @property
    def all_pods(self) -> Sequence[Pod]:
        """All pods that are to be placed."""
        return [*self.pending, *self.leaving]


def pods_to_schedule(state: ClusterState, options: KarpenterOptions) -> PodsToSchedule:
    """Return the pods that need a place: pending ones, and those that will lose it."""
    pending, rejected = [], {}
    for pod in state.unbound_pods:
        if is_provisionable(pod):
            problem = _problem_with(state, pod, options)
            if problem:
                rejected[pod.key] = problem
            else:
                pending.append(pod)
    leaving = [
        pod
        for node in state.groups.leaving
        for pod in node.pods
        if state.disruption_limits.is_currently_reschedulable(pod)
    ]
    return PodsToSchedule(pending=pending, leaving=leaving, rejected=rejected)


def _problem_with(state: ClusterState, pod: Pod, options: KarpenterOptions) -> str:
    """Return why Karpenter ignores a pod, or empty."""
    problems = []
    own_pool = pod_requirements(pod).get(NODE_POOL)
    if own_pool.operator == "DoesNotExist":
        problems.append(_NOT_HERE)
    for key, value in pod.spec.node_selector.items():
        problems += requirement_problems(key, "In", (value,), options)
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    for term in required.node_selector_terms if required else ():
        problems += _term_problems(term, options)
    volumes = claim_problem(state, pod)
    return "; ".join([*problems, volumes] if volumes else problems)


def _term_problems(term: NodeSelectorTerm, options: KarpenterOptions) -> Iterator[str]:
    if term.match_fields:
        yield "node selector term with matchFields is not supported"
    for condition in term.match_expressions:
        yield from requirement_problems(
            condition.key, condition.operator, condition.values, options
        )
