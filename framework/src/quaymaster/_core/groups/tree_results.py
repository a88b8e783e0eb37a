"""The results of a tree of groups after its cycle.

Mirrors ``completeCompositePodGroupAlgorithmResult`` and
``applyPodGroupPostFilterResult`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``).
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import PodGroupInfo, PodGroupPostFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.groups.results import GroupResult, MemberResult, apply_answer
from quaymaster._core.groups.tree_search import TreeResults
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["apply_to_tree", "complete_tree"]


def complete_tree(
    root: PodGroupInfo,
    results: TreeResults,
    queued: Mapping[str, Sequence[QueuedPod]],
) -> None:
    """Give each group and each pod of a tree a result.

    Groups below a group that does not fit do not fit either.

    Args:
        root: The root.
        results: The results of the groups that were tried.
        queued: ``namespace/name`` of a PodGroup -> the records of its pods.
    """
    _complete(root, results, queued, None)


def _complete(
    info: PodGroupInfo,
    results: TreeResults,
    queued: Mapping[str, Sequence[QueuedPod]],
    above: Status | None,
) -> None:
    """Complete a group and those below it, given the status of the group above."""
    result = results.get(info.group.entity_key)
    # A child that fits is worth nothing without its parent. It loses its nodes here,
    # and its pods get the status of the parent; a child that has failed itself keeps
    # its own reason.
    if result is None or (above is not None and result.status is None):
        result = results[info.group.entity_key] = GroupResult(above, [])
    result.untried = result.status
    if not info.is_composite:
        # Pods are tried in the order of the queue, so those that were not tried are the
        # last ones.
        records = queued.get(info.key, ())[len(result.members) :]
        result.members += [MemberResult(record, CycleState()) for record in records]
    for child in info.children:
        _complete(child, results, queued, result.status)


def apply_to_tree(answer: PodGroupPostFilterResult, results: TreeResults) -> None:
    """Apply the answer of the PodGroupPostFilter plugins to all groups of a tree.

    As upstream, groups that have their status from a group above share it, and each of
    them appends the message to it.

    Args:
        answer: The answer.
        results: The complete results.
    """
    # By identity, because upstream's statuses are pointers: AppendReason on a shared
    # one adds the reason once for every group that shares it. Equal but separate
    # statuses do not add up.
    sharing = Counter(id(result.status) for result in results.values())
    counts = {key: sharing[id(result.status)] for key, result in results.items()}
    for key, result in results.items():
        apply_answer(answer, result, times=counts[key])
