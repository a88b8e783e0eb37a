"""Which types a claim can still be of when a pod joins it.

Mirrors ``filterInstanceTypesByRequirements`` and its error (sigs.k8s.io/karpenter
v1.15, ``pkg/controllers/provisioning/scheduling/nodeclaim.go``).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import CPU
from quaymaster._api.objects.resource_sums import add_to
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    added,
    amounts_text,
    largest_lists,
    request_list,
    smallest_lists,
)
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    satisfies_min_values,
)
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.daemon_groups import DaemonGroup
from quaymaster._studies.autoscaling.karpenter.solve.host_ports import HostPortUsage
from quaymaster._studies.autoscaling.karpenter.solve.type_index import (
    FilteredTypes,
    TypeIndex,
)

__all__ = ["TypeFilter", "TypeSelection"]

_MILLION_CORES: Final = Quantity("1M")


@attrs.frozen
class TypeSelection:
    """The types that are left.

    Attributes:
        types: The types, as bits; 0 if none is left.
        missing: Labels with fewer values than required, and how many there are.
        problem: Returns upstream's error if no type is left.
    """

    types: int
    missing: Mapping[str, int] = attrs.field(factory=dict)
    problem: Callable[[], str] = str


@attrs.frozen(kw_only=True)
class TypeFilter:
    """Filters types.

    Attributes:
        index: All types of the pool.
        groups: The types by the DaemonSets that run on them.
    """

    index: TypeIndex
    groups: Sequence[DaemonGroup]

    def select(
        self,
        requirements: Requirements,
        pod: Pod,
        total: Amounts,
        among: int,
        ports: Sequence[HostPortUsage],
        *,
        relax_min_values: bool,
    ) -> TypeSelection:
        """Return the types that can hold a pod with all pods before it.

        Args:
            requirements: Those of the claim with the pod.
            pod: The pod.
            total: What all pods request.
            among: The types that the claim can be of so far.
            ports: The host ports that are used, for each group of types.
            relax_min_values: Whether fewer values than required are enough.
        """
        compatible = fitting = offered = 0
        groups = []
        for group, usage in zip(self.groups, ports, strict=True):
            if usage.conflicts(pod):
                continue
            groups.append(group)
            requests = added(total, group.overhead) if group.overhead else total
            part = self.index.filtered(requirements, requests, among & group.types)
            compatible |= part.compatible
            fitting |= part.fitting
            offered |= part.offered
        filtered = FilteredTypes(compatible, fitting, offered)
        types, missing, shortage = self._enough_values(
            filtered.all_met, requirements, relax_min_values
        )
        if types:
            return TypeSelection(types, missing)
        error = _FilterError(filtered, shortage, requirements.copy(), pod, groups)
        return TypeSelection(0, missing, error.text)

    def _enough_values(
        self, types: int, requirements: Requirements, relax: bool
    ) -> tuple[int, Mapping[str, int], str]:
        if not requirements.has_min_values:
            return types, {}, ""
        check = satisfies_min_values(self.index.members(types), requirements)
        if check.missing and not relax:
            return 0, check.missing, check.problem
        return types, check.missing, ""


@attrs.frozen
class _FilterError:
    """Why no type is left."""

    filtered: FilteredTypes
    shortage: str
    requirements: Requirements
    pod: Pod
    groups: Sequence[DaemonGroup]

    def text(self) -> str:
        """Return upstream's error."""
        details = f"requirements={self.requirements}, resources={self._resources()}"
        if self.shortage:
            return f"{self.shortage}, {details}"
        text = f"no instance type {self._reason()}, {details}"
        cpu = request_list([self.pod]).get(CPU)
        if self._only_fit_is_missing and cpu is not None and cpu >= _MILLION_CORES:
            text += " (CPU request >= 1 Million, m vs M typo?)"
        return text

    @property
    def _only_fit_is_missing(self) -> bool:
        f = self.filtered
        return bool(f.compatible and f.offered and not f.fitting)

    def _reason(self) -> str:
        f = self.filtered
        lacking = (not f.compatible, not f.fitting, not f.offered)
        reason = _LACKING.get(lacking)
        if reason:
            return reason
        if f.compatible & f.fitting & ~f.offered:
            return (
                "which met the scheduling requirements and had enough resources, "
                "had a required offering"
            )
        if f.fitting & f.offered & ~f.compatible:
            return (
                "which had enough resources and the required offering "
                "met the scheduling requirements"
            )
        if f.compatible & f.offered & ~f.fitting:
            return (
                "which met the scheduling requirements and the required offering "
                "had the required resources"
            )
        return "met the requirements/resources/offering tuple"

    def _resources(self) -> str:
        overheads = [group.overhead_list for group in self.groups if group.overhead]
        requests = request_list([self.pod])
        if not overheads:
            return amounts_text(requests)
        least = most = overheads[0]
        for overhead in overheads[1:]:
            least = smallest_lists(least, overhead)
            most = largest_lists(most, overhead)
        if not least:
            return amounts_text(requests)
        low, high = _sum_text(least, requests), _sum_text(most, requests)
        return low if low == high else f"min={low}, max={high}"


_LACKING: Final = {
    (True, True, True): (
        "met the scheduling requirements or had enough resources "
        "or had a required offering"
    ),
    (True, True, False): "met the scheduling requirements or had enough resources",
    (True, False, True): "met the scheduling requirements or had a required offering",
    (False, True, True): "had enough resources or had a required offering",
    (True, False, False): "met all requirements",
    (False, True, False): "has enough resources",
    (False, False, True): "has the required offering",
}
"""What upstream says if no type meets some of the criteria at all."""


def _sum_text(left: ResourceList, right: ResourceList) -> str:
    total = left.copy()
    add_to(total, right)
    return amounts_text(total)
