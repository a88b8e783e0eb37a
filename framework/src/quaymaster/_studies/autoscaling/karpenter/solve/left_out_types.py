"""Which instance types a new node for a pod cannot be of, and by which requirement.

Upstream's errors only name all requirements; this counts types by the first that they
do not meet: the pool's, its limits, the pod's, offerings, resources.
"""

from collections.abc import Iterable, Iterator, Sequence

import attrs

from quaymaster._base.errors import counted
from quaymaster._studies.autoscaling.karpenter.amounts import (
    NODES,
    Amounts,
    added,
    amount_text,
)
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import PodData
from quaymaster._studies.autoscaling.karpenter.solve.templates import PoolTemplate

__all__ = ["LeftOutTypes"]


@attrs.frozen(kw_only=True, eq=False)
class LeftOutTypes:
    """Counts the types of a pool that are left out.

    Attributes:
        types: All types that the cloud offers to the pool.
        pool: What the pool requires of labels.
        template: What its new nodes can be; None if they can have no type.
        remaining: What the limits of the pool leave.
        pod: What the pod needs; None to look at the pool alone.
        well_known: Labels that requirements need not name.
    """

    types: Sequence[InstanceType]
    pool: Requirements
    template: PoolTemplate | None = None
    remaining: Amounts = attrs.field(factory=dict)
    pod: PodData | None = None
    well_known: frozenset[str]

    def text(self) -> str:
        """Return how many types are left out for which reason; empty if none is."""
        members: dict[str, list[InstanceType]] = {}
        for place, each in enumerate(self.types):
            reason = self._reason(place, each)
            if reason:
                members.setdefault(reason, []).append(each)
        if not members:
            return ""
        parts = [
            f"{len(types)} {self._worded(reason, types)}"
            for reason, types in sorted(members.items(), key=lambda item: -len(item[1]))
        ]
        kinds = counted(len(self.types), "instance type")
        return f"of {kinds}, {', '.join(parts)}"

    def _reason(self, place: int, each: InstanceType) -> str:
        """Return the first reason against a type, or empty."""
        return next(self._reasons(place, each), "")

    def _reasons(self, place: int, each: InstanceType) -> Iterator[str]:
        for requirement in _unmet(self.pool, each):
            yield f"not {requirement} (NodePool)"
        if not self._offers(each, self.pool):
            yield "without an offering that the NodePool allows"
        if not self._offers(each, self.pool, available=True):
            yield "without capacity at the moment"
        for name, left in self.remaining.items():
            if name != NODES and each.capacity.get(name, 0) > left:
                yield f"above the limits (left: {name} {amount_text(name, left)})"
        if self.pod is not None:
            yield from self._reasons_of_pod(place, each, self.pod)

    def _reasons_of_pod(
        self, place: int, each: InstanceType, pod: PodData
    ) -> Iterator[str]:
        for requirement in _unmet(pod.requirements, each):
            yield f"not {requirement} (pod)"
        both = self.pool.copy()
        both.add(pod.requirements)
        if not self._offers(each, both):
            yield "without an offering that pod and NodePool allow"
        if not self._offers(each, both, available=True):
            yield "without capacity at the moment"
        requests = added(pod.requests, self._overhead(place))
        for name, amount in sorted(requests.items()):
            if amount > each.allocatable.get(name, 0):
                yield name

    def _worded(self, reason: str, types: Iterable[InstanceType]) -> str:
        """Return a reason in words; of resources, with the largest amount."""
        requests = self.pod.requests if self.pod is not None else {}
        if reason not in requests:
            return reason
        most = max(each.allocatable.get(reason, 0) for each in types)
        requested = amount_text(reason, requests[reason])
        offered = amount_text(reason, most)
        with_daemons = " beside DaemonSets" if requests[reason] <= most else ""
        return f"too small: {reason} {requested} of at most {offered}{with_daemons}"

    def _offers(
        self, each: InstanceType, requirements: Requirements, *, available: bool = False
    ) -> bool:
        return any(
            requirements.compatible(offering.requirements, self.well_known)
            for offering in each.offerings
            if offering.available or not available
        )

    def _overhead(self, place: int) -> Amounts:
        """Return what the DaemonSets of a type need."""
        groups = self.template.type_filter.groups if self.template is not None else ()
        for group in groups:
            if group.types >> place & 1:
                return group.overhead
        return {}


def _unmet(requirements: Requirements, each: InstanceType) -> Iterator[Requirement]:
    """Yield the requirements that the labels of a type do not meet."""
    own = each.requirements.by_key
    for key in sorted(own.keys() & requirements.by_key.keys()):
        requirement = requirements.by_key[key]
        negative = requirement.is_negative and own[key].is_negative
        if not negative and not own[key].intersects(requirement):
            yield requirement
