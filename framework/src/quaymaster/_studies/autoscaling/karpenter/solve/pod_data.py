"""What a solve reads of a pod, computed once.

Mirrors ``PodData`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling/scheduler.go``).
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, requests_of
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.pod_requirements import (
    pod_requirements,
    strict_pod_requirements,
)

__all__ = ["PodData", "VolumeIds", "pod_data"]

VolumeIds: TypeAlias = Mapping[str, frozenset[str]]
"""CSI driver -> the claims of its volumes."""


@attrs.frozen(kw_only=True, eq=False)
class PodData:
    """A pod, with what it needs.

    Attributes:
        pod: The pod, perhaps with fewer preferences than at first.
        requests: What it requests, and one pod.
        requirements: What it requires and prefers of labels.
        strict: What it requires.
        volume_alternatives: Where its volumes can be: one of these, if there are any.
        volumes: The volumes of each CSI driver.
        volume_problem: Why its volumes are not known, or empty.
    """

    pod: Pod
    requests: Amounts
    requirements: Requirements
    strict: Requirements
    volume_alternatives: Sequence[Requirements] = ()
    volumes: VolumeIds = attrs.field(factory=dict)
    volume_problem: str = ""


def pod_data(
    pod: Pod, *, ignores_preferences: bool, base: PodData | None = None
) -> PodData:
    """Return what a pod needs.

    Args:
        pod: The pod.
        ignores_preferences: Whether preferences do not count.
        base: The same pod before, whose volumes and requests are kept.
    """
    strict = strict_pod_requirements(pod)
    requirements = strict if ignores_preferences else pod_requirements(pod)
    if base is not None:
        return attrs.evolve(base, pod=pod, requirements=requirements, strict=strict)
    return PodData(
        pod=pod,
        requests=requests_of(pod),
        requirements=requirements,
        strict=strict,
    )
