"""The state of PodGroups at the end of a simulation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import attrs

from quaymaster._api.objects import Condition, Node, Pod
from quaymaster._api.objects.groups import PodGroup
from quaymaster._base.errors import counted
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.contract.queueing import PendingPod, QueueName
from quaymaster._studies.simulation.attempts import no_attempt
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
    GroupAttempt,
    GroupMember,
    GroupOutcome,
)
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.group_names import GroupNotFoundError
from quaymaster._studies.simulation.group_parents import misfits, parents

if TYPE_CHECKING:
    from quaymaster._studies.simulation.run import Simulation

__all__ = ["ended_groups", "explained_group", "topology_key"]

_FEASIBLE: Final = frozenset({GroupOutcome.SCHEDULED, GroupOutcome.PARTLY_SCHEDULED})
_CONDITION: Final = "PodGroupInitiallyScheduled"


def explained_group(
    run: "Simulation",
    key: str,
    log: GroupLog,
    which: WhichAttempt | int = WhichAttempt.AUTO,
) -> ExplainedGroup:
    """Return the explanation of a group in a simulation that has settled.

    Args:
        run: The simulation.
        key: ``namespace/name`` of the group.
        log: The attempts of groups, its own among them.
        which: The attempt that is shown.

    Raises:
        GroupNotFoundError: There were fewer attempts.
    """
    cluster, attempts = run.cluster, log.of(key)
    pods = [pod for pod in cluster.list(Pod).items if pod.group_key == key]
    obj = _object(cluster, key)
    explained = _explained(run, key, pods, cluster.list(Node).items, attempts)
    return attrs.evolve(
        explained,
        attempt=_number(key, attempts, which, explained.outcome),
        attempts=attempts,
        parents=() if obj is None else parents(obj, cluster),
        misfits=() if obj is None else misfits(obj, cluster, log.of),
        notices=run.notices(),
    )


def ended_groups(run: "Simulation") -> tuple[ExplainedGroup, ...]:
    """Return the state of all PodGroups, and of those that only pods name, by key.

    Args:
        run: A simulation that has settled.
    """
    cluster = run.cluster
    nodes = cluster.list(Node).items
    pods: dict[str, list[Pod]] = {
        group.key: [] for group in cluster.list(PodGroup).items
    }
    for pod in cluster.list(Pod).items:
        if pod.group_key:
            pods.setdefault(pod.group_key, []).append(pod)
    return tuple(
        _explained(run, key, pods[key], nodes, ())
        for key in sorted(pods, key=natural_key)
    )


def _explained(
    run: "Simulation",
    key: str,
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    attempts: Sequence[GroupAttempt],
) -> ExplainedGroup:
    """Return the state of a group, without attempts."""
    obj = _object(run.cluster, key)
    label = "" if obj is None else topology_key(obj)
    members = _members(run, pods, label, nodes)
    outcome = _outcome(run, obj, members)
    return ExplainedGroup(
        group=key,
        outcome=outcome,
        message=_message(obj, outcome, members, attempts),
        min_count=None if obj is None else _quorum(obj),
        topology_key=label,
        nodes=len(nodes),
        unlabelled_nodes=sum(bool(label) and label not in n.labels for n in nodes),
        members=members,
    )


def _object(cluster: InMemoryCluster, key: str) -> PodGroup | None:
    try:
        return cluster.get(PodGroup, key)
    except NotFoundError:
        return None


def _quorum(group: PodGroup) -> int | None:
    gang = group.spec.scheduling_policy.gang
    return None if gang is None else gang.min_count


def topology_key(group: PodGroup) -> str:
    """Return the label of nodes whose value the pods of a group share, or empty."""
    constraints = group.spec.scheduling_constraints
    topology = () if constraints is None else constraints.topology
    return topology[0].key if topology else ""


def _members(
    run: "Simulation", pods: Sequence[Pod], label: str, nodes: Sequence[Node]
) -> tuple[GroupMember, ...]:
    """Return the pods that are not finished, by key."""
    domains = {node.name: node.labels.get(label, "") for node in nodes if label}
    return tuple(
        GroupMember(
            pod=pod.key,
            node=pod.node_name,
            domain=domains.get(pod.node_name, ""),
            nominated_node=pod.status.nominated_node_name,
            message="" if pod.node_name else run.unscheduled(pod).message,
        )
        for pod in sorted(pods, key=lambda pod: natural_key(pod.key))
        if not pod.is_finished
    )


def _outcome(
    run: "Simulation", group: PodGroup | None, members: Sequence[GroupMember]
) -> GroupOutcome:
    pending = [member for member in members if not member.node]
    if members and not pending:
        return GroupOutcome.SCHEDULED
    if group is None:
        return GroupOutcome.MISSING
    if len(members) < group.min_count:
        return GroupOutcome.WAITING
    why = [run.scheduler.queue.why_pending(member.pod) for member in pending]
    if any(each is not None and _is_held_back(each) for each in why):
        return GroupOutcome.GATED
    condition = _condition(group)
    if condition is not None and condition.reason == "SchedulerError":
        return GroupOutcome.ERROR
    if len(members) - len(pending) >= group.min_count:
        return GroupOutcome.PARTLY_SCHEDULED
    return GroupOutcome.UNSCHEDULABLE


def _is_held_back(pending: PendingPod) -> bool:
    """Whether a pod is gated, or waits for a group above its own."""
    return bool(pending.gated_by) or pending.queue is QueueName.INCOMPLETE


def _message(
    group: PodGroup | None,
    outcome: GroupOutcome,
    members: Sequence[GroupMember],
    attempts: Sequence[GroupAttempt],
) -> str:
    if group is None:
        pending = sum(not member.node for member in members)
        waits = "waits" if pending == 1 else "wait"
        pods = counted(pending, "pod")
        return f"{pods} {waits} for it, and the PodGroup does not exist"
    if outcome is GroupOutcome.WAITING:
        exist = "pod exists" if group.min_count == 1 else "pods exist"
        return f"{len(members)} of {group.min_count} {exist}"
    if outcome is GroupOutcome.GATED:
        return next((member.message for member in members if member.message), "")
    if outcome in _FEASIBLE:
        return ""
    if attempts:
        return attempts[-1].message
    condition = _condition(group)
    if condition is not None:
        return condition.message
    # A group that was scheduled once keeps its condition; its pods say what is wrong.
    return next((member.message for member in members if member.message), "")


def _condition(group: PodGroup) -> Condition | None:
    """Return why a group is not scheduled, or None."""
    for condition in group.status.conditions:
        if condition.type == _CONDITION and condition.status == "False":
            return condition
    return None


def _number(
    key: str,
    attempts: Sequence[GroupAttempt],
    which: WhichAttempt | int,
    outcome: GroupOutcome,
) -> int:
    """Return the number of the attempt that is shown; 0 if there was none."""
    if not isinstance(which, WhichAttempt):
        if 1 <= which <= len(attempts):
            return which
        raise GroupNotFoundError(key, no_attempt(which, len(attempts)))
    if not attempts:
        return 0
    if which is WhichAttempt.FIRST:
        return attempts[0].number
    if which is WhichAttempt.AUTO and outcome in _FEASIBLE:
        # After it, only the pods that were left over are tried.
        best = max(attempts, key=_placed)
        return best.number
    return attempts[-1].number


def _placed(attempt: GroupAttempt) -> int:
    chosen = attempt.decisive
    return len(chosen.assigned) if chosen is not None and chosen.is_chosen else -1
