"""One row for each pending PodGroup in the summary of pending pods."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.simulation.ended_groups import explained_group
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
    GroupOutcome,
)
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.pending_groups import Cause, PendingGroup
from quaymaster._studies.why.pod_group_suggestions import (
    nearest_stopper,
    search_group,
)
from quaymaster._studies.why.trials import Trials

__all__ = ["rows_of_groups", "split_members", "suggested_for_groups"]

_SHARE: Final = 12
"""How many simulations each group may use at least, as long as there are any."""
_KIND: Final = "podgroup/"


def split_members(
    run: Simulation, pods: Iterable[Pod]
) -> tuple[Mapping[str, Sequence[Pod]], Sequence[Pod]]:
    """Return the pods of each PodGroup by its key, and the pods outside groups.

    Args:
        run: The simulation.
        pods: Pending pods.
    """
    members: dict[str, list[Pod]] = {}
    others: list[Pod] = []
    has_groups = run.config.kubernetes.enabled("GenericWorkload")
    for pod in pods:
        if has_groups and pod.group_key:
            members.setdefault(pod.group_key, []).append(pod)
        else:
            others.append(pod)
    return members, others


def rows_of_groups(
    run: Simulation, members: Mapping[str, Sequence[Pod]], log: GroupLog
) -> list[PendingGroup]:
    """Return a row for each PodGroup with pending pods.

    Args:
        run: The simulation, which has settled.
        members: The pending pods of each group, by its key.
        log: The last attempt of each group.
    """
    return [_row(explained_group(run, key, log), pods) for key, pods in members.items()]


def _row(explained: ExplainedGroup, pods: Sequence[Pod]) -> PendingGroup:
    namespace, _, name = explained.group.partition("/")
    return PendingGroup(
        subject=f"{_KIND}{name}",
        namespace=namespace,
        scheduler=pods[0].spec.scheduler_name,
        reason=explained.outcome.value,
        pods=tuple(pod.key for pod in pods),
        message=explained.message,
        causes=tuple(_causes(explained)),
    )


def _causes(explained: ExplainedGroup) -> Sequence[Cause]:
    """Return the causes of the pod that stops the group where most of it fits."""
    stopper = nearest_stopper(explained)
    if explained.outcome is GroupOutcome.WAITING:
        quorum = f"waits for its quorum: {explained.message}"
        return [Cause(plugin="GangScheduling", reason=quorum, nodes=0)]
    if stopper is None or not stopper.rejections:
        reason = explained.message or (stopper.message if stopper else "")
        return [Cause(plugin="", reason=reason or str(explained.outcome), nodes=0)]
    counts = Counter(
        (rejection.plugin, reason)
        for rejection in stopper.rejections
        for reason in rejection.reasons
    )
    return [
        Cause(plugin=plugin, reason=reason, nodes=nodes)
        for (plugin, reason), nodes in counts.most_common()
    ]


def suggested_for_groups(
    run: Simulation, rows: Sequence[PendingGroup], log: GroupLog, trials: Trials
) -> tuple[list[PendingGroup], bool]:
    """Add the smallest change for each group; return whether all were tried.

    Args:
        run: The simulation of the input, which has settled.
        rows: The rows of the groups.
        log: The last attempt of each group.
        trials: Tries changes out.
    """
    suggested: list[PendingGroup] = []
    is_complete = True
    for number, row in enumerate(rows):
        key = f"{row.namespace}/{row.subject.removeprefix(_KIND)}"
        share = max(_SHARE, (trials.most - trials.count) // (len(rows) - number))
        explained = explained_group(run, key, log)
        with trials.limited(share):
            answer = search_group(run, explained, trials, is_one_enough=True)
        is_complete = is_complete and answer.is_complete
        change = answer.changes[0] if answer.changes else None
        suggested.append(attrs.evolve(row, change=change, remarks=answer.remarks))
    return suggested, is_complete
