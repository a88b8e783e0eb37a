"""The units that preemption evicts: a pod, or all pods of a group.

Mirrors ``Victim``, ``getCrossNodesVictims`` (Kubernetes v1.37,
``pkg/scheduler/framework/preemption/types.go``), ``GetPodPriority``,
``MoreImportantVictim`` and ``FilterVictimsWithPDBViolation`` (``util.go`` there).
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._api.objects.groups import PodGroup
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
        priority: The priority of the group, or of the pod outside groups.
        is_group: Whether it is a group, or a single pod of a group.
    """

    pods: tuple[Pod, ...]
    priority: int
    is_group: bool = False


def priority_in(groups: GroupStates | None, pod: Pod) -> int:
    """Return the priority of a pod as a victim: that of its group, if it has one.

    Args:
        groups: The state of all groups, or None if there are none.
        pod: The pod.
    """
    group = _group_of(groups, pod)
    return pod.priority if group is None else group.priority


def units_on(
    nodes: Iterable[NodeInfo], groups: GroupStates | None
) -> Sequence[VictimUnit]:
    """Return the units with a pod on some nodes, in the order of nodes and pods.

    A group with the disruption mode ``all`` is one unit with all its scheduled pods,
    also those on other nodes.

    Args:
        nodes: The nodes.
        groups: The state of all groups, or None if there are none.
    """
    units: list[VictimUnit] = []
    together: set[str] = set()
    for node in nodes:
        for pod in node.pods.values():
            group = _group_of(groups, pod)
            if group is None or not _is_disrupted_together(group):
                units.append(_single(pod, group, has_groups=groups is not None))
            elif group.key not in together:
                together.add(group.key)
                units.append(_whole(pod, group, groups))
    return units


def unit_importance(unit: VictimUnit) -> tuple[float, ...]:
    """Return a sort key that puts more important units first."""
    earliest = min(map(started, unit.pods))
    return -unit.priority, -int(unit.is_group), -len(unit.pods), earliest


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


def _group_of(groups: GroupStates | None, pod: Pod) -> PodGroup | None:
    if groups is None or not pod.group_key:
        return None
    state = groups.of(pod)
    return None if state is None else state.group


def _is_disrupted_together(group: PodGroup) -> bool:
    mode = group.spec.disruption_mode
    return mode is not None and mode.all is not None


def _single(pod: Pod, group: PodGroup | None, *, has_groups: bool) -> VictimUnit:
    priority = pod.priority if group is None else group.priority
    return VictimUnit((pod,), priority, has_groups and bool(pod.group_key))


def _whole(pod: Pod, group: PodGroup, groups: GroupStates | None) -> VictimUnit:
    state = groups.of(pod) if groups is not None else None
    pods = tuple(state.scheduled()) if state is not None else ()
    return VictimUnit(pods or (pod,), group.priority, is_group=True)
