"""Affinity, taints, tolerations and spread constraints.

Mirrors k8s.io/api v0.36, ``core/v1/types.go``.
"""

from quaymaster._api.objects.meta import ApiValue, LabelSelector
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.time import Time

__all__ = [
    "Affinity",
    "NodeAffinity",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PreferredSchedulingTerm",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "WeightedPodAffinityTerm",
]


class NodeSelectorRequirement(ApiValue, frozen=True, kw_only=True):
    """One condition on a label or field of a node.

    Attributes:
        operator: ``In``, ``NotIn``, ``Exists``, ``DoesNotExist``, ``Gt`` or ``Lt``.
    """

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(ApiValue, frozen=True, kw_only=True):
    """Conditions on a node, all of which must hold; without any, no node matches."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(ApiValue, frozen=True, kw_only=True):
    """Alternatives, one of which must match a node."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(ApiValue, frozen=True, kw_only=True):
    """A preference for nodes, weighted from 1 to 100."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(ApiValue, frozen=True, kw_only=True):
    """The nodes that a pod requires, and those that it prefers."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[
        PreferredSchedulingTerm, ...
    ] = ()


class PodAffinityTerm(ApiValue, frozen=True, kw_only=True):
    """Pods to be near to, or away from, and the node label that defines what is near.

    Attributes:
        label_selector: Selects the pods; None selects no pod.
        namespaces: Their namespaces; the pod's own if `namespace_selector` is None,
        too.
        namespace_selector: More namespaces, by label; empty selects all.
    """

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(ApiValue, frozen=True, kw_only=True):
    """A preference to be near, or away from, some pods, weighted from 1 to 100."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(ApiValue, frozen=True, kw_only=True):
    """The pods that a pod must be near to, and those that it prefers to."""

    required_during_scheduling_ignored_during_execution: tuple[
        PodAffinityTerm, ...
    ] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[
        WeightedPodAffinityTerm, ...
    ] = ()


class PodAntiAffinity(ApiValue, frozen=True, kw_only=True):
    """The pods that a pod must be away from, and those that it prefers to."""

    required_during_scheduling_ignored_during_execution: tuple[
        PodAffinityTerm, ...
    ] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[
        WeightedPodAffinityTerm, ...
    ] = ()


class Affinity(ApiValue, frozen=True, kw_only=True):
    """The requirements and preferences of a pod about nodes and other pods."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Taint(ApiValue, frozen=True, kw_only=True):
    """Keeps pods off a node unless they tolerate it.

    Attributes:
        effect: ``NoSchedule``, ``PreferNoSchedule`` or ``NoExecute``.
    """

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class Toleration(ApiValue, frozen=True, kw_only=True):
    """Lets a pod on nodes with some taints; see `quaymaster.objects.tolerates`.

    Attributes:
        operator: ``Exists`` or ``Equal``; empty means ``Equal``. ``Gt`` and ``Lt``
            compare numbers, if TaintTolerationComparisonOperators is on.
        effect: The effect that is tolerated; empty means all.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(ApiValue, frozen=True, kw_only=True):
    """Spreads matching pods evenly over the values of a node label.

    Attributes:
        when_unsatisfiable: ``DoNotSchedule`` or ``ScheduleAnyway``.
        node_affinity_policy: ``Honor`` (also if None) or ``Ignore``.
        node_taints_policy: ``Honor`` or ``Ignore`` (also if None).
    """

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
