"""Which nodes count for a spread constraint.

Mirrors ``topologynodefilter.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod, Taint, Toleration
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.taints import tolerates_all

__all__ = ["ALL_NODES", "NodeFilter", "node_filter"]

_HONOR: Final = "Honor"
_IGNORE: Final = "Ignore"


@attrs.frozen(kw_only=True, eq=False)
class NodeFilter:
    """The nodes that count.

    Attributes:
        alternatives: What the labels of a node must meet: one of these, if any.
        honors_affinity: Whether the labels matter.
        honors_taints: Whether nodes with taints that are not tolerated do not count.
        tolerations: The tolerations of the pod.
    """

    alternatives: Sequence[Requirements] = ()
    honors_affinity: bool = False
    honors_taints: bool = False
    tolerations: Sequence[Toleration] = ()

    @property
    def matches_all(self) -> bool:
        """Whether all nodes count."""
        limits_labels = self.honors_affinity and all(map(len, self.alternatives))
        return not self.honors_taints and not (limits_labels and self.alternatives)

    @property
    def exact(self) -> object:
        """What distinguishes filters that do not match the same nodes."""
        if self.matches_all:
            return None
        labels = [frozenset(each) for each in self.alternatives]
        return (
            frozenset(labels) if self.honors_affinity else None,
            self.tolerations if self.honors_taints else None,
        )

    def matches(self, taints: Sequence[Taint], requirements: Requirements) -> bool:
        """Return whether a node counts."""
        if self.honors_affinity and not self._matches_labels(requirements):
            return False
        return not self.honors_taints or tolerates_all(taints, self.tolerations)

    def _matches_labels(self, requirements: Requirements) -> bool:
        if not self.alternatives:
            return True
        return any(requirements.compatible(each) for each in self.alternatives)

    @property
    def shape(self) -> object:
        """What upstream hashes: filters of one shape are taken for the same.

        Upstream hashes the labels of requirements and not their values, and two equal
        elements of a list cancel out. So pods that require different zones share a
        group, with the filter of the first one.
        """
        return (
            _odd(frozenset(each.by_key) for each in self.alternatives),
            _odd(self.tolerations),
            self.honors_affinity,
            self.honors_taints,
        )


def _odd(elements: Iterable[object]) -> frozenset[object]:
    """Return the elements that occur an odd number of times."""
    odd: set[object] = set()
    for element in elements:
        odd ^= {element}
    return frozenset(odd)


ALL_NODES: Final = NodeFilter()
"""The filter of affinities: all nodes count."""


def node_filter(
    pod: Pod, affinity_policy: str | None, taints_policy: str | None
) -> NodeFilter:
    """Return which nodes count for a spread constraint of a pod."""
    selector = Requirements.from_labels(pod.spec.node_selector)
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    alternatives = [selector]
    if required is not None:
        alternatives = []
        for term in required.node_selector_terms:
            both = selector.copy()
            both.add(Requirements.from_conditions(term.match_expressions))
            alternatives.append(both)
    return NodeFilter(
        alternatives=alternatives,
        honors_affinity=(affinity_policy or _HONOR) == _HONOR,
        honors_taints=(taints_policy or _IGNORE) == _HONOR,
        tolerations=pod.spec.tolerations,
    )
