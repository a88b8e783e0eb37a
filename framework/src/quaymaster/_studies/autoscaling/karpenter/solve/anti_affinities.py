"""Pods that keep others away from them.

Mirrors ``updateInverseAffinities`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling/topology.go``): anti-affinity works both ways,
so a pod that runs may close a domain for a pod that has no anti-affinity.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping

import attrs

from quaymaster._api.objects import Pod, PodAffinityTerm
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.solve.topology_constraints import (
    Constraint,
)
from quaymaster._studies.autoscaling.karpenter.solve.topology_group import (
    TopologyGroup,
)

__all__ = ["RunningAntiAffinity", "required_terms", "running_anti_affinities"]


@attrs.frozen(eq=False)
class RunningAntiAffinity:
    """An anti-affinity of pods that run.

    Attributes:
        constraint: The constraint of the first of them.
        example: Its group before pods are counted, to see which pods it selects.
        domains: The domain of each of them, by uid; None if its node has none.
    """

    constraint: Constraint
    example: TopologyGroup
    domains: dict[str, str | None] = attrs.field(factory=dict)

    def counts(self, excluded: Collection[str]) -> Mapping[str, int] | None:
        """Return how many of the pods are in each domain, or None if all are left out.

        Args:
            excluded: The uids of pods that do not count.
        """
        counted = self.domains.keys() - excluded
        if not counted:
            return None
        domains = (self.domains[uid] for uid in counted)
        return Counter(domain for domain in domains if domain is not None)


def required_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """Return what a pod must be away from."""
    affinity = pod.spec.affinity and pod.spec.affinity.pod_anti_affinity
    if not affinity:
        return ()
    return affinity.required_during_scheduling_ignored_during_execution


def running_anti_affinities(
    state: ClusterState, read: Callable[[Pod, PodAffinityTerm], Constraint]
) -> Mapping[object, RunningAntiAffinity]:
    """Return the anti-affinities of all pods that run; computed once for a state."""
    if "anti-affinities" not in state.cache:
        by_identity: dict[object, RunningAntiAffinity] = {}
        for pod, node in state.anti_affinity_pods:
            for term in required_terms(pod):
                constraint = read(pod, term)
                each = by_identity.get(constraint.identity)
                if each is None:
                    each = RunningAntiAffinity(constraint, constraint.make())
                    by_identity[constraint.identity] = each
                # By pod and not as a sum: a solve leaves out the pods that it moves,
                # whose domains are then free for others.
                each.domains[pod.uid] = node.labels.get(term.topology_key)
        state.cache["anti-affinities"] = by_identity
    running: Mapping[object, RunningAntiAffinity] = state.cache["anti-affinities"]
    return running
