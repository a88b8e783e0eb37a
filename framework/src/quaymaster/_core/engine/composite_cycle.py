"""The cycle of a tree of groups: one decision for the pods of all its groups.

Mirrors ``scheduleOnePodGroup`` for groups of groups (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``). The algorithm itself is in
`quaymaster._core.groups`.
"""

from collections.abc import Iterator, Mapping, Sequence

from quaymaster._api.objects.groups import CompositePodGroup, GroupObject
from quaymaster._core.contract.pod_groups import PodGroupInfo
from quaymaster._core.contract.status import Code
from quaymaster._core.engine.group_cycle import GroupCycle, GroupParts, MemberHooks
from quaymaster._core.engine.tree_placing import TreePlacing
from quaymaster._core.groups.in_flight import nominations_in_flight
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.state.composite_states import CompositeStates
from quaymaster._core.state.group_forest import children_in_turn
from quaymaster._core.state.group_states import GroupState

__all__ = ["CompositeCycle"]


class CompositeCycle(GroupCycle):
    """Schedules trees of groups; a PodGroup without a parent is a tree, too.

    Args:
        parts: The parts of the engine.
        hooks: What the scheduler does for each pod that it tries.
        states: All pods of each PodGroup, and the trees.
    """

    def __init__(
        self, parts: GroupParts, hooks: MemberHooks, states: CompositeStates
    ) -> None:
        super().__init__(parts, hooks)
        self._states = states

    def _leaves(self, queued: QueuedGroup) -> Sequence[GroupState] | None:
        root = self._states.forest.get(queued.key)
        if root is None:
            return None
        queued.group = root
        return self._states.leaves(root)

    def _run(self, queued: QueuedGroup) -> None:
        framework = self._frameworks[queued.pods[0].pod.spec.scheduler_name]
        records = _by_group(queued.pods)
        root = self._info_of(queued.group, records)
        runner, hooks = self._parts.runner, self._hooks
        measured = self._parts.measured
        placing = TreePlacing(
            runner,
            framework,
            root,
            records,
            self._states,
            hooks.pick_node,
            measured,
        )
        if measured is not None:
            measured.begin()
        with nominations_in_flight(runner.nominator, root.pods):
            results = placing.run(hooks.attempting(framework))
            # The queue gets the status before PodGroupPostFilter, as upstream.
            status = results[root.group.entity_key].status
            if measured is not None:
                measured.decided()
            if status is not None and status.code is Code.UNSCHEDULABLE:
                placing.post_filter(results)
            leaves = tuple(_leaves_of(root))
            for leaf in leaves:
                result = results[leaf.group.entity_key]
                tried = placing.trials_of(leaf, result)
                self._report(framework, leaf, tried, result)
        for leaf in leaves:
            result = results[leaf.group.entity_key]
            self._submit_all(framework, leaf.group, result)
        if measured is not None:
            name = framework.profile.config.scheduler_name
            measured.ended(name, results[root.group.entity_key])
        self._parts.queue.add_attempted_group(queued, (), status)

    def _info_of(
        self, group: GroupObject, records: Mapping[str, Sequence[QueuedPod]]
    ) -> PodGroupInfo:
        """Return a group with the groups below it, and the pods to place."""
        if not isinstance(group, CompositePodGroup):
            pods = tuple(record.pod for record in records.get(group.key, ()))
            return PodGroupInfo(group=group, pods=pods)
        children = tuple(
            self._info_of(child, records)
            for child in children_in_turn(self._states.forest, group)
        )
        pods = tuple(pod for child in children for pod in child.pods)
        return PodGroupInfo(group=group, pods=pods, children=children)


def _leaves_of(info: PodGroupInfo) -> Iterator[PodGroupInfo]:
    """Yield the PodGroups at or below a group."""
    if not info.is_composite:
        yield info
    for child in info.children:
        yield from _leaves_of(child)


def _by_group(records: Sequence[QueuedPod]) -> Mapping[str, Sequence[QueuedPod]]:
    """Return ``namespace/name`` of a PodGroup -> the records of its pods."""
    groups: dict[str, list[QueuedPod]] = {}
    for record in records:
        groups.setdefault(record.pod.group_key, []).append(record)
    return groups
