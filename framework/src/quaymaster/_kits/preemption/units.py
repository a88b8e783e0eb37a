"""The units that preemption evicts: a pod, or all pods of a group.

Mirrors ``Victim``, ``getCrossNodesVictims`` (Kubernetes v1.37,
``pkg/scheduler/framework/preemption/types.go``), ``GetPodPriority``,
``MoreImportantVictim`` and ``FilterVictimsWithPDBViolation`` (``util.go`` there).
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._api.objects.groups import CompositePodGroup, GroupObject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._kits.preemption.budgets import BudgetUse
from quaymaster._kits.preemption.candidates import started
from quaymaster._kits.preemption.rules import VictimRule

__all__ = [
    "LowerUnitPriority",
    "VictimUnit",
    "priority_in",
    "split_units",
    "unit_importance",
    "units_on",
]


class VictimUnit(msgspec.Struct, frozen=True, eq=False):
    """Pods that can only be evicted together.

    Attributes:
        pods: The pods; at least one.
        priority: The priority of the root above the pods, or of a pod outside groups.
        is_group: Whether it is a group, or a single pod of a group.
        is_composite: Whether it is a group of groups.
    """

    pods: tuple[Pod, ...]
    priority: int
    is_group: bool = False
    is_composite: bool = False


def priority_in(groups: GroupStates | None, pod: Pod) -> int:
    """Return the priority of a pod as a victim: that of the root above it, if any.

    Args:
        groups: The state of all groups, or None if there are none.
        pod: The pod.
    """
    return _priority(pod, _lineage(groups, pod))


def units_on(
    nodes: Iterable[NodeInfo], groups: GroupStates | None
) -> Sequence[VictimUnit]:
    """Return the units with a pod on some nodes, in the order of nodes and pods.

    A group with the disruption mode ``all`` is one unit with all its scheduled pods,
    also those on other nodes. Of several such groups above a pod, the highest is.

    Args:
        nodes: The nodes.
        groups: The state of all groups, or None if there are none.
    """
    units: list[VictimUnit] = []
    together: set[str] = set()
    lineages: dict[str, Sequence[GroupObject]] = {}
    for node in nodes:
        for pod in node.pods.values():
            key = pod.group_key
            lineage = lineages.get(key)
            if lineage is None:
                lineage = lineages[key] = _lineage(groups, pod)
            whole = _highest_together(lineage)
            if groups is None or whole is None:
                priority = _priority(pod, lineage)
                units.append(
                    VictimUnit((pod,), priority, groups is not None and key != "")
                )
            elif whole.entity_key not in together:
                together.add(whole.entity_key)
                units.append(_whole(pod, whole, lineage[-1].priority, groups))
    return units


def unit_importance(unit: VictimUnit) -> tuple[float, ...]:
    """Return a sort key that puts more important units first."""
    earliest = min(map(started, unit.pods))
    kind = unit.is_group + unit.is_composite
    return -unit.priority, -kind, -len(unit.pods), earliest


def split_units(
    units: Iterable[VictimUnit], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[tuple[VictimUnit, int]], list[VictimUnit]]:
    """Split units into those whose eviction would break a budget, and the others.

    Args:
        units: The units, in the order in which they use the budgets up.
        budgets: All budgets.

    Returns:
        The units that would break a budget, each with the number of its pods that do;
        and the others.
    """
    use = BudgetUse(budgets, stops_at_violated=True)
    violating: list[tuple[VictimUnit, int]] = []
    others: list[VictimUnit] = []
    for unit in units:
        broken = sum(use.breaks(pod) for pod in unit.pods)
        if broken:
            violating.append((unit, broken))
        else:
            others.append(unit)
    return violating, others


class LowerUnitPriority(VictimRule):
    """Selects the pods whose unit has a lower priority.

    Args:
        groups: The state of all groups.
    """

    def __init__(self, groups: GroupStates) -> None:
        self._groups = groups

    def victims(self, _state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return [
            victim
            for victim in node.pods.values()
            if priority_in(self._groups, victim) < pod.priority
        ]


def _lineage(groups: GroupStates | None, pod: Pod) -> Sequence[GroupObject]:
    """Return the group of a pod and those above it, if it is in a group."""
    return () if groups is None or not pod.group_key else groups.lineage(pod)


def _priority(pod: Pod, lineage: Sequence[GroupObject]) -> int:
    return lineage[-1].priority if lineage else pod.priority


def _highest_together(lineage: Sequence[GroupObject]) -> GroupObject | None:
    """Return the highest group whose pods can only be evicted together."""
    for group in reversed(lineage):
        mode = group.spec.disruption_mode
        if mode is not None and mode.all is not None:
            return group
    return None


def _whole(
    pod: Pod, group: GroupObject, priority: int, groups: GroupStates
) -> VictimUnit:
    pods = tuple(pod for leaf in groups.leaves(group) for pod in leaf.scheduled())
    is_composite = isinstance(group, CompositePodGroup)
    return VictimUnit(pods or (pod,), priority, True, is_composite)
