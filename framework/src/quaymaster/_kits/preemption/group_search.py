"""Finds the units to evict from the whole cluster to make room for a group.

Mirrors ``PodGroupEvaluator`` (Kubernetes v1.37,
``pkg/scheduler/framework/preemption/podgrouppreemption.go``).
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Final

import attrs

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.handle import Handle, SnapshotTrial
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlaceGroup,
    PodGroupInfo,
)
from quaymaster._core.contract.status import Status
from quaymaster._kits.preemption.evictions import is_preempted
from quaymaster._kits.preemption.units import (
    VictimUnit,
    priority_in,
    split_units,
    unit_importance,
    units_on,
)

__all__ = ["GroupSearch", "GroupVictims", "is_waiting_for_victims", "may_preempt"]

_NO_VICTIMS: Final = Status.unresolvable(
    "No preemption victims found for incoming preemptor"
)


@attrs.frozen(eq=False, kw_only=True)
class GroupVictims:
    """The units to evict for a group, and where its pods would go.

    Attributes:
        units: The units, the most important first; may be empty.
        attempts: The pods that got a node, in order.
        violations: The number of victims whose eviction breaks a budget.
    """

    units: tuple[VictimUnit, ...]
    attempts: tuple[MemberAttempt, ...]
    violations: int

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods to evict."""
        return tuple(pod for unit in self.units for pod in unit.pods)


def may_preempt(info: PodGroupInfo, *, groups_have_policies: bool) -> bool:
    """Return whether the preemption policy lets a group preempt others.

    Args:
        info: The group.
        groups_have_policies: Whether the policy of the group counts, and not that of
            its pods: the feature gate PodGroupPreemptionPolicy.
    """
    if groups_have_policies:
        return info.group.spec.preemption_policy != "Never"
    return all(pod.spec.preemption_policy != "Never" for pod in info.pods)


def is_waiting_for_victims(handle: Handle, info: PodGroupInfo) -> bool:
    """Return whether victims still terminate on the nominated nodes of a group.

    Args:
        handle: The framework.
        info: The group.
    """
    groups, priority = handle.pod_groups, info.group.priority
    names = dict.fromkeys(pod.status.nominated_node_name for pod in info.pods)
    for name in names:
        node = handle.snapshot.get(name)
        if node is not None and any(
            is_preempted(pod) and priority_in(groups, pod) < priority
            for pod in node.pods.values()
        ):
            return True
    return False


class GroupSearch:
    """Searches for the units to evict; keep one for the lifetime of the plugin.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def find(self, info: PodGroupInfo, place: PlaceGroup) -> GroupVictims | Status:
        """Find the units to evict, without changing anything.

        All units of lower priority are removed, and the group is placed once. Then
        units are added again, and stay if every pod of the group still fits where it
        was placed. Units whose eviction would break a budget come first, then the
        others; in both groups the most important first.

        Args:
            info: The group.
            place: Places the group.

        Returns:
            The units; or why evicting them would not help.
        """
        handle = self._handle
        units = [
            unit
            for unit in units_on(handle.snapshot, handle.pod_groups)
            if unit.priority < info.group.priority
        ]
        if not units:
            return _NO_VICTIMS
        budgets = handle.informers.list(PodDisruptionBudget)
        with handle.trial() as trial:
            for pod in (pod for unit in units for pod in unit.pods):
                trial.remove_pod(pod)
            placed = place()
            if isinstance(placed, Status):
                return placed
            attempts = tuple(placed)
            return _Reprieve(handle, trial, attempts).select(units, budgets)


class _Reprieve:
    """Adds units again, as long as every pod of the group fits.

    Upstream checks every pod of the group after each unit. If no filter looks at other
    nodes, only the pods on the nodes of the unit are checked.
    """

    def __init__(
        self, handle: Handle, trial: SnapshotTrial, attempts: Sequence[MemberAttempt]
    ) -> None:
        self._handle = handle
        self._trial = trial
        self._attempts = attempts
        # Copies: they are updated as pods come and go, and hooks share values.
        self._states = [attempt.state.clone() for attempt in attempts]
        self._is_local = all(map(handle.filters.is_local, self._states))
        self._by_node: dict[str, list[int]] = {}
        for index, attempt in enumerate(attempts):
            self._by_node.setdefault(attempt.node_name, []).append(index)

    def select(
        self, units: Sequence[VictimUnit], budgets: Sequence[PodDisruptionBudget]
    ) -> GroupVictims | Status:
        """Return the units that cannot stay, or an Error."""
        ordered = sorted(units, key=unit_importance)
        violating, others = split_units(ordered, budgets)
        victims: list[VictimUnit] = []
        violations = 0
        # Only a group that fits without the units can stop fitting on single nodes.
        self._is_local = self._is_local and self._fit(range(len(self._attempts)))
        for unit, broken in [*violating, *((unit, 0) for unit in others)]:
            stays = self._stays(unit)
            if isinstance(stays, Status):
                return stays
            if not stays:
                victims.append(unit)
                violations += broken
        victims.sort(key=unit_importance)
        return GroupVictims(
            units=tuple(victims), attempts=tuple(self._attempts), violations=violations
        )

    def _stays(self, unit: VictimUnit) -> bool | Status:
        """Add a unit; remove it again if some pod of the group does not fit then."""
        for pod in unit.pods:
            self._trial.add_pod(pod)
            if (status := self._note(pod, is_added=True)) is not None:
                return status
        if self._fit(self._affected(unit)):
            return True
        for pod in unit.pods:
            self._trial.remove_pod(pod)
            if (status := self._note(pod, is_added=False)) is not None:
                return status
        return False

    def _note(self, victim: Pod, *, is_added: bool) -> Status | None:
        """Let PreFilter of every pod of the group update its state."""
        node = self._handle.snapshot.get(victim.node_name)
        if node is None:
            text = (
                f'failed to get node info for node "{victim.node_name}" from snapshot'
            )
            return Status.from_error(text)
        if self._is_local:
            return None
        filters = self._handle.filters
        change = filters.add_pod if is_added else filters.remove_pod
        for attempt, state in zip(self._attempts, self._states, strict=True):
            status = change(state, attempt.pod, victim, node)
            if status is not None:
                return Status.from_error(status.message)
        return None

    def _affected(self, unit: VictimUnit) -> Iterable[int]:
        """Return the indexes of the pods of the group that a unit may leave no room."""
        if not self._is_local:
            return range(len(self._attempts))
        names = dict.fromkeys(pod.node_name for pod in unit.pods)
        return [index for name in names for index in self._by_node.get(name, ())]

    def _fit(self, indexes: Iterable[int]) -> bool:
        """Whether pods of the group fit on their nodes, each after those before it.

        Args:
            indexes: The indexes of the pods.
        """
        with ExitStack() as reverts:
            for index in indexes:
                attempt, state = self._attempts[index], self._states[index]
                node = self._handle.snapshot.get(attempt.node_name)
                if node is None:
                    return False
                status = self._handle.filters.run_with_nominated_pods(
                    state, attempt.pod, node
                )
                if status is not None:
                    return False
                self._assume(reverts, state, attempt)
        return True

    def _assume(
        self, reverts: ExitStack, state: CycleState, attempt: MemberAttempt
    ) -> None:
        pod, node_name = attempt.pod, attempt.node_name
        assumed = self._trial.assume_pod(pod, node_name)
        reverts.callback(self._trial.remove_pod, assumed)
        self._trial.reserve(state, assumed, node_name)
        reverts.callback(self._trial.unreserve, state, assumed, node_name)
