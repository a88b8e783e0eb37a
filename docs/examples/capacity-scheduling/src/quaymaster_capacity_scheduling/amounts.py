"""Amounts of resources, compared with the bounds of a quota.

Mirrors ``elasticquota.go`` (sigs.k8s.io/scheduler-plugins v0.34.7,
``pkg/capacityscheduling``).
"""

from collections.abc import Iterable

import attrs
from quaymaster import Pod
from quaymaster.objects import Resources, pod_requests, pod_usage

from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota

__all__ = ["COUNTED", "Bounds", "demanded", "first_over", "less", "taken", "total_of"]

COUNTED = ("cpu", "memory", "ephemeral-storage")
"""The resources that every bound is about; others only if somebody asks for them."""

_NOTHING = Resources()


@attrs.frozen(kw_only=True)
class Bounds:
    """What a quota promises and allows.

    Attributes:
        min: What it promises; nothing of what it does not name.
        max: What it allows; None for no bound.
    """

    min: Resources
    max: Resources | None

    @classmethod
    def of(cls, quota: ElasticQuota) -> "Bounds":
        """Read the bounds of a quota."""
        most = quota.spec.max
        return cls(
            min=Resources.from_list(quota.spec.min),
            max=Resources.from_list(most) if most else None,
        )

    def over_min(self, used: Resources, more: Resources | None = None) -> str:
        """The first resource beyond what is promised, or empty.

        Args:
            used: What is used.
            more: What comes to it. If given, those extended resources are looked at
                that it has; otherwise those that are used.
        """
        if more is None:
            return first_over(self.min, used, _NOTHING, used.scalars)
        return first_over(self.min, used, more, more.scalars)

    def over_max(self, used: Resources, more: Resources) -> str:
        """The first resource beyond what is allowed, or empty.

        An extended resource that the maximum does not name has no bound.
        """
        if self.max is None:
            return ""
        named = self.max.scalars
        return first_over(
            self.max, used, more, [one for one in more.scalars if one in named]
        )


def first_over(
    bound: Resources, used: Resources, more: Resources, extended: Iterable[str]
) -> str:
    """Return the first resource of which there is more than a bound, or empty.

    Args:
        bound: The bound.
        used: What is used.
        more: What comes to it.
        extended: The names of the extended resources that are looked at.
    """
    for name in (*COUNTED, *extended):
        if used.get(name) + more.get(name) > bound.get(name):
            return name
    return ""


def demanded(pod: Pod) -> Resources:
    """Return what a pod that comes requests; it must not be changed."""
    return pod_requests(pod)


def taken(pod: Pod) -> Resources:
    """Return what a pod on a node requests, resizes included; not to be changed."""
    return pod_usage(pod).requests


def less(amounts: Resources, gone: Resources) -> Resources:
    """Return what is left of some amounts."""
    left = amounts.copy()
    left.add(gone, -1)
    return left


def total_of(amounts: Iterable[Resources]) -> Resources:
    """Return the sum."""
    total = Resources()
    for each in amounts:
        total.add(each)
    return total
