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
"""The resources that every bound limits; others are limited only if requested."""

_NOTHING = Resources()


@attrs.frozen(kw_only=True)
class Bounds:
    """The guarantee and the limit of a quota.

    Attributes:
        min: The guaranteed amounts; a resource that is not listed has no guarantee.
        max: The allowed amounts; None for no limit.
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
        """Return the first resource that exceeds the guarantee, or an empty text.

        Args:
            used: What is used.
            more: What comes to it. If given, those extended resources are looked at
                that it has; otherwise those that are used.
        """
        if more is None:
            return first_over(self.min, used, _NOTHING, used.scalars)
        return first_over(self.min, used, more, more.scalars)

    def over_max(self, used: Resources, more: Resources) -> str:
        """Return the first resource that exceeds the limit, or an empty text.

        An extended resource that the maximum does not name has no bound.
        """
        if self.max is None:
            return ""
        named = self.max.scalars
        return first_over(
            self.max, used, more, [name for name in more.scalars if name in named]
        )


def first_over(
    bound: Resources, used: Resources, more: Resources, extended: Iterable[str]
) -> str:
    """Return the first resource that exceeds a bound, or an empty text.

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
    """Return the requests of a new pod, which must not be modified."""
    return pod_requests(pod)


def taken(pod: Pod) -> Resources:
    """Return the requests of a pod on a node, with resizes; do not modify them."""
    return pod_usage(pod).requests


def less(amounts: Resources, gone: Resources) -> Resources:
    """Return the difference of two amounts."""
    left = amounts.copy()
    left.add(gone, -1)
    return left


def total_of(amounts: Iterable[Resources]) -> Resources:
    """Return the sum."""
    total = Resources()
    for each in amounts:
        total.add(each)
    return total
