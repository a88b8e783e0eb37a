"""Whether two groups have similar nodes, so that they may grow together.

Mirrors ``processors/nodegroupset/compare_nodegroups.go`` and ``label_nodegroups.go``.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Node
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.resources import pod_requests
from quaymaster._studies.autoscaling.cloud import HOSTNAME
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template

__all__ = ["are_similar"]

_IGNORED: Final = frozenset(
    {
        HOSTNAME,
        "beta.kubernetes.io/fluentd-ds-ready",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kops.k8s.io/instancegroup",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
_USUAL: Final = ("cpu", "memory", "pods", "ephemeral-storage")


def are_similar(
    first: Template, second: Template, options: ClusterAutoscalerOptions
) -> bool:
    """Return whether the new nodes of two groups are similar."""
    if options.balancing_labels:
        own, labels = first.node.labels, second.node.labels
        return all(
            key in own and own[key] == labels.get(key)
            for key in options.balancing_labels
        )
    nodes, ratio = (first.node, second.node), options.max_free_difference_ratio
    return (
        _have_capacity_alike(nodes, options.memory_difference_ratio)
        and _are_within(
            (node.status.allocatable for node in nodes),
            options.max_allocatable_difference_ratio,
        )
        and _are_within((_free(each) for each in (first, second)), ratio)
        and _have_labels_alike(nodes, {*_IGNORED, *options.balancing_ignore_labels})
    )


def _have_capacity_alike(nodes: Sequence[Node], memory_ratio: float) -> bool:
    first, second = (node.status.capacity for node in nodes)
    return first.keys() == second.keys() and all(
        _differ_by_at_most(amount, second[name], memory_ratio)
        if name == "memory"
        else amount == second[name]
        for name, amount in first.items()
    )


def _are_within(amounts: Iterable[Mapping[str, Quantity]], ratio: float) -> bool:
    """Return whether both have the same resources, in amounts that differ little."""
    pairs: dict[str, list[Quantity]] = defaultdict(list)
    for each in amounts:
        for name, amount in each.items():
            pairs[name].append(amount)
    return all(
        len(pair) == 2 and _differ_by_at_most(pair[0], pair[1], ratio)
        for pair in pairs.values()
    )


def _differ_by_at_most(first: Quantity, second: Quantity, ratio: float) -> bool:
    larger = float(max(first.milli_value, second.milli_value))
    smaller = float(min(first.milli_value, second.milli_value))
    return larger - smaller <= larger * ratio


def _free(template: Template) -> Mapping[str, Quantity]:
    """Return what the first pods leave of a node.

    Upstream looks at the usual resources and at those that a pod requests; pods
    themselves are not subtracted.
    """
    milli: dict[str, int] = dict.fromkeys(_USUAL, 0)
    for pod in template.pods:
        requests = pod_requests(pod)
        milli["cpu"] += requests.milli_cpu
        milli["memory"] += requests.memory * 1000
        milli["ephemeral-storage"] += requests.ephemeral_storage * 1000
        for name, amount in requests.scalars.items():
            milli[name] = milli.get(name, 0) + amount * 1000
    allocatable = template.node.status.allocatable
    return {
        name: Quantity.from_milli(
            allocatable.get(name, Quantity(0)).milli_value - amount
        )
        for name, amount in milli.items()
    }


def _have_labels_alike(nodes: Sequence[Node], ignored: set[str]) -> bool:
    first, second = (
        {key: value for key, value in node.labels.items() if key not in ignored}
        for node in nodes
    )
    return first == second
