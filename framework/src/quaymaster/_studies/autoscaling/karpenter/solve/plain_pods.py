"""Pods whose place depends on their requests, labels and taints alone.

Most pods are plain. For them, a solve can be followed with a few comparisons a pod.
"""

from typing import Final

import attrs

from quaymaster._api.objects import Pod, PodSpec, SpecKey, Toleration
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, requests_of
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import has_device_claims
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.host_ports import ports_of
from quaymaster._studies.autoscaling.karpenter.solve.pod_requirements import (
    pod_requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.queue import order_of
from quaymaster._studies.autoscaling.karpenter.solve.templates import Supply
from quaymaster._studies.autoscaling.karpenter.solve.volumes import has_claims

__all__ = ["PlainPod", "PodKind", "PodKinds", "pod_kinds"]

_MOST_KINDS: Final = 10_000


@attrs.frozen(kw_only=True, eq=False)
class PodKind:
    """What plain pods have in common that may go to the same nodes.

    Attributes:
        requests: What each requests, and one pod.
        requirements: What it requires of labels.
        tolerations: The taints that it tolerates.
    """

    requests: Amounts
    requirements: Requirements
    tolerations: tuple[Toleration, ...]


@attrs.frozen(kw_only=True, eq=False)
class PlainPod:
    """A plain pod.

    Attributes:
        kind: Its kind; the same object for all pods of this kind.
        order: When it is placed: pods are placed in the order of these.
    """

    kind: PodKind
    order: tuple[int, int, float, str]


class PodKinds:
    """The kinds of plain pods."""

    def __init__(self) -> None:
        self._kinds: dict[object, PodKind] = {}

    def plain(self, pod: Pod) -> PlainPod | None:
        """Return a pod as a plain one, or None if it is not."""
        kind = self.kind_of(pod)
        if kind is None:
            return None
        return PlainPod(kind=kind, order=order_of(pod, kind.requests))

    def kind_of(self, pod: Pod) -> PodKind | None:
        """Return the kind of a pod, or None if it is not plain."""
        if not _IS_PLAIN.of(pod) or has_claims(pod) or has_device_claims(pod):
            return None
        spec, requests = pod.spec, requests_of(pod)
        selector = tuple(spec.node_selector.items())
        key = tuple(requests.items()), selector, spec.tolerations
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            kind = self._kinds[key] = PodKind(
                requests=requests,
                requirements=pod_requirements(pod),
                tolerations=spec.tolerations,
            )
        return kind


def pod_kinds(
    state: ClusterState, options: KarpenterOptions, supply: Supply
) -> PodKinds | None:
    """Return the kinds of plain pods, or None if no pod of a cluster can be plain.

    Args:
        state: The cluster.
        options: The options of Karpenter.
        supply: What new nodes can be.
    """
    # These may concern pods that have no constraints of their own.
    if (
        options.default_constraints
        or supply.prefers_no_pods
        or state.groups.keeping_away
    ):
        return None
    kinds = state.latest.get("pod kinds")
    if not isinstance(kinds, PodKinds):
        kinds = state.latest["pod kinds"] = PodKinds()
    return kinds


def _is_plain(spec: PodSpec) -> bool:
    # Affinities and spread constraints depend on other pods; preferences are given up
    # one by one.
    return (
        spec.affinity is None
        and not spec.topology_spread_constraints
        and not ports_of(Pod(spec=spec))
    )


_IS_PLAIN: Final = SpecKey(_is_plain)
