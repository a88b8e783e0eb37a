"""Explains the attempts of a PodGroup: `explain_group`."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.groups import PodGroup
from quaymaster._base.errors import counted
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
    GroupAttempt,
    GroupMember,
    GroupOutcome,
)
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.group_names import (
    GroupName,
    GroupNotFoundError,
    group_name,
)
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation

__all__ = [
    "explain_group",
    "explained_group",
    "group_members",
    "group_outcome",
    "topology_key",
]

_FEASIBLE: Final = frozenset({GroupOutcome.SCHEDULED, GroupOutcome.PARTLY_SCHEDULED})


def explain_group(
    group: str,
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    attempt: WhichAttempt | int = WhichAttempt.AUTO,
    namespace: str = "",
    on_progress: ProgressFn | None = None,
    max_pods: int = MAX_PODS,
    as_it_is: bool = False,
) -> ExplainedGroup:
    """Simulate, and explain the attempts of one PodGroup.

    The feature gate GenericWorkload must be on in the configuration.

    Args:
        group: ``podgroup/NAME`` or ``NAMESPACE/podgroup/NAME``.
        objects: As for `simulate`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `simulate`.
        attempt: The attempt that is shown, by number or by word. By default the last
            one for a group whose quorum is not met, else the one that placed most pods.
        namespace: The only namespace to search; empty for all namespaces.
        on_progress: Called with the progress.
        max_pods: As for `simulate`.
        as_it_is: As for `explain_pod`.

    Raises:
        GroupNotFoundError: No PodGroup or several have that name, the feature gate is
            off, or the group was tried less often.
    """
    wanted = group_name(group, namespace)
    if wanted is None:
        problem = "expected podgroup/NAME or NAMESPACE/podgroup/NAME"
        raise GroupNotFoundError(group, problem)
    config, registry = with_defaults(config, registry)
    cluster = filled_cluster(
        list(objects), seed, max_pods, kubernetes=config.kubernetes, as_it_is=as_it_is
    )
    with Simulation(cluster, config=config, registry=registry, seed=seed) as run:
        log = GroupLog(lambda group: wanted.fits(group.key))
        run.follow_groups(log)
        run.settle(on_progress)
        return _explained(run, wanted, log, attempt)


def _explained(
    run: Simulation, wanted: GroupName, log: GroupLog, which: WhichAttempt | int
) -> ExplainedGroup:
    key = wanted.key_in(run.cluster)
    return explained_group(run, key, log.of(key), which)


def explained_group(
    run: Simulation,
    key: str,
    attempts: Sequence[GroupAttempt],
    which: WhichAttempt | int = WhichAttempt.AUTO,
) -> ExplainedGroup:
    """Return the explanation of a group in a simulation that has settled.

    Args:
        run: The simulation.
        key: ``namespace/name`` of the group.
        attempts: Its attempts.
        which: The attempt that is shown.

    Raises:
        GroupNotFoundError: There were fewer attempts.
    """
    obj = _object(run.cluster, key)
    members = group_members(run, key, obj)
    outcome = group_outcome(run, obj, members, attempts)
    number = _number(key, attempts, which, outcome)
    return ExplainedGroup(
        group=key,
        outcome=outcome,
        message=_message(obj, outcome, members, attempts),
        min_count=None if obj is None else _quorum(obj),
        topology_key="" if obj is None else topology_key(obj),
        members=members,
        attempt=number,
        attempts=tuple(attempts),
        notices=run.notices(),
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


def group_members(
    run: Simulation, key: str, group: PodGroup | None
) -> tuple[GroupMember, ...]:
    """Return the pods of a group that are not finished, by key.

    Args:
        run: A simulation that has settled.
        key: ``namespace/name`` of the group.
        group: The object, if it exists.
    """
    label = "" if group is None else topology_key(group)
    domains = {
        node.name: node.labels.get(label, "") for node in run.cluster.list(Node).items
    }
    pods = [
        pod
        for pod in run.cluster.list(Pod).items
        if pod.group_key == key and not pod.is_finished
    ]
    return tuple(
        GroupMember(
            pod=pod.key,
            node=pod.node_name,
            domain=domains.get(pod.node_name, ""),
            nominated_node=pod.status.nominated_node_name,
            message="" if pod.node_name else run.unscheduled(pod).message,
        )
        for pod in sorted(pods, key=lambda pod: natural_key(pod.key))
    )


def group_outcome(
    run: Simulation,
    group: PodGroup | None,
    members: Sequence[GroupMember],
    attempts: Sequence[GroupAttempt],
) -> GroupOutcome:
    """Return the state of a group in a simulation that has settled.

    Args:
        run: The simulation.
        group: The object, if it exists.
        members: Its pods.
        attempts: Its attempts; may be empty although it was tried.
    """
    pending = [member for member in members if not member.node]
    if members and not pending:
        return GroupOutcome.SCHEDULED
    if group is None:
        return GroupOutcome.MISSING
    if len(members) < group.min_count:
        return GroupOutcome.WAITING
    why = [run.scheduler.queue.why_pending(member.pod) for member in pending]
    if any(each is not None and each.gated_by for each in why):
        return GroupOutcome.GATED
    if attempts and attempts[-1].outcome is AttemptOutcome.ERROR:
        return GroupOutcome.ERROR
    if len(members) - len(pending) >= group.min_count:
        return GroupOutcome.PARTLY_SCHEDULED
    return GroupOutcome.UNSCHEDULABLE


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
    if attempts and outcome not in _FEASIBLE:
        return attempts[-1].message
    return ""


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
        times = "once" if len(attempts) == 1 else f"{len(attempts)} times"
        problem = f"there is no attempt {which}: it was tried {times}"
        raise GroupNotFoundError(key, problem)
    if not attempts:
        return 0
    if which is WhichAttempt.FIRST:
        return 1
    if which is WhichAttempt.AUTO and outcome in _FEASIBLE:
        # After it, only the pods that were left over are tried.
        best = max(attempts, key=_placed)
        return best.number
    return len(attempts)


def _placed(attempt: GroupAttempt) -> int:
    chosen = attempt.decisive
    return len(chosen.assigned) if chosen is not None and chosen.is_chosen else -1
