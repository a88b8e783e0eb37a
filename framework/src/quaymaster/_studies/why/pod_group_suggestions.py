"""Finds the smallest changes with which a PodGroup fits, and tries each of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.groups import PodGroup
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.ended_groups import explained_group
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
    GroupOutcome,
    UnplacedMember,
)
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.group_names import (
    GroupNotFoundError,
    group_name,
)
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.candidates import candidates, nodes_for
from quaymaster._studies.why.changes import Candidate, Effect
from quaymaster._studies.why.domain_nodes import nodes_in_domains
from quaymaster._studies.why.members_subject import subject_of_members
from quaymaster._studies.why.quorum_edits import lowered_quorums
from quaymaster._studies.why.suggestions import MAX_TRIALS, Suggestions, search
from quaymaster._studies.why.trials import Goal, Input, Trials, pending_pods

__all__ = ["GroupGoal", "nearest_stopper", "search_group", "suggest_group_changes"]

_FITS: Final = frozenset({GroupOutcome.SCHEDULED})


@attrs.frozen(eq=False)
class GroupGoal(Goal):
    """The required effect of a change for a group: its quorum is met.

    Attributes:
        group: ``namespace/name`` of the group.
        least: How many of its pods must have a node at least.
    """

    group: str = ""
    least: int = 1

    @classmethod
    def of_group(cls, group: str, least: int, goal: Goal) -> "GroupGoal":
        """Return the goal: so many pods have a node, and no other pod has lost one."""
        fields = {name: getattr(goal, name) for name in attrs.fields_dict(Goal)}
        return cls(**fields, group=group, least=least)

    def is_met(
        self,
        run: Simulation,
        objects: Sequence[ApiObject],
        result: SimulationResult,
        kind: Effect = Effect.CHANGES,
    ) -> bool:
        """Whether a settled simulation meets it."""
        losses = self.losses(run, objects, result, kind)
        if losses and kind is not Effect.EVICTS:
            return False
        try:
            group = run.cluster.get(PodGroup, self.group)
        except NotFoundError:
            return False
        placed = sum(
            bool(pod.node_name)
            for pod in run.cluster.list(Pod).items
            if pod.group_key == self.group and not pod.is_finished
        )
        return placed >= max(group.min_count, self.least)


def suggest_group_changes(
    group: str,
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    namespace: str = "",
    max_pods: int = MAX_PODS,
    max_trials: int = MAX_TRIALS,
    on_trial: Callable[[int, int], None] | None = None,
    as_it_is: bool = False,
) -> Suggestions:
    """Find the smallest changes of an input with which a PodGroup fits.

    Each reported change was simulated with the whole input, from the beginning. With it
    the quorum of the group is met; if it is met already, all pods of the group have a
    node.

    Args:
        group: As for `explain_group`.
        objects: As for `simulate`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `simulate`.
        namespace: The only namespace to search; empty for all namespaces.
        max_pods: As for `simulate`.
        max_trials: How many simulations are run at most.
        on_trial: Called before each with its number from 1, and with ``max_trials``.
        as_it_is: As for `explain_pod`.

    Returns:
        The changes; none if all its pods have a node.

    Raises:
        GroupNotFoundError: As for `explain_group`.
    """
    name = group_name(group, namespace)
    if name is None:
        problem = "expected podgroup/NAME or NAMESPACE/podgroup/NAME"
        raise GroupNotFoundError(group, problem)
    config, registry = with_defaults(config, registry)
    given = Input(
        objects=list(objects),
        config=config,
        registry=registry,
        seed=seed,
        max_pods=max_pods,
        as_it_is=as_it_is,
    )
    with given.simulation() as run:
        log = GroupLog(lambda group: name.fits(group.key))
        run.follow_groups(log)
        run.settle()
        key = name.key_in(run.cluster)
        explained = explained_group(run, key, log)
        trials = Trials(given, max_trials, on_trial)
        return search_group(run, explained, trials)


def search_group(
    run: Simulation,
    explained: ExplainedGroup,
    trials: Trials,
    *,
    is_one_enough: bool = False,
) -> Suggestions:
    """Find the changes with which a group fits.

    Args:
        run: The simulation of the input, which has settled.
        explained: The group.
        trials: Tries changes out.
        is_one_enough: Whether to stop at the first change that works.
    """
    key = explained.group
    pods = [pod for pod in pending_pods(run.cluster) if pod.group_key == key]
    group = _object(run, key)
    own = list(_facts(explained))
    if group is None or not pods or explained.outcome in _FITS:
        return _without_changes(explained, len(pods), own)
    pods = _stopper_first(explained, pods)
    given = trials.given
    subject = subject_of_members(pods, given.objects, run.cluster)
    result = run.result()
    # With the quorum met, all pods are the goal; without it, the quorum.
    is_met = explained.outcome is GroupOutcome.PARTLY_SCHEDULED
    least = len(explained.members) if is_met else 1
    goal = GroupGoal.of_group(key, least, Goal.of(pods, run, given.objects, result))
    of_group = list(_of_group(run, explained, group, pods, given.objects))
    # The group has too few pods to be tried, so no node has rejected any of them.
    if explained.outcome is GroupOutcome.WAITING:
        offered = of_group
    else:
        profiles = [profile.scheduler_name for profile in given.config.profiles]
        stopper = nearest_stopper(explained)
        offered = candidates(
            run,
            pods,
            subject,
            profiles,
            of_group=of_group,
            rejections=stopper.rejections if stopper is not None else (),
        )
    suggestions = search(
        run,
        result,
        pods,
        pods[0].key,
        trials,
        is_one_enough=is_one_enough,
        goal=goal,
        offered=offered,
        subject=subject,
    )
    remarks = own if explained.outcome is GroupOutcome.WAITING else suggestions.remarks
    subject_name = f"podgroup/{group.name}"
    return attrs.evolve(suggestions, subject=subject_name, remarks=tuple(remarks))


def _object(run: Simulation, key: str) -> PodGroup | None:
    try:
        return run.cluster.get(PodGroup, key)
    except NotFoundError:
        return None


def _of_group(
    run: Simulation,
    explained: ExplainedGroup,
    group: PodGroup,
    pods: Sequence[Pod],
    objects: Sequence[ApiObject],
) -> Iterator[Candidate]:
    """Yield the changes of the nodes and of the quorum."""
    outcome, shown = explained.outcome, explained.attempts[-1:]
    if outcome is not GroupOutcome.WAITING:
        key = explained.topology_key
        if key and shown and any(each.name for each in shown[0].placements):
            yield from nodes_in_domains(pods[0], key, shown[0], run.cluster)
        elif not key:
            yield from nodes_for(pods[0], run.cluster, len(pending_pods(run.cluster)))
    if outcome is not GroupOutcome.PARTLY_SCHEDULED:
        yield from lowered_quorums(group, len(explained.members), objects)


def nearest_stopper(explained: ExplainedGroup) -> UnplacedMember | None:
    """Return the pod that stops a group where most of its pods fit, or None.

    Args:
        explained: The group; its last attempt counts.
    """
    attempts = explained.attempts[-1:]
    placements = attempts[0].placements if attempts else ()
    nearest = max(placements, key=lambda each: len(each.assigned), default=None)
    return nearest.unplaced[-1] if nearest is not None and nearest.unplaced else None


def _stopper_first(explained: ExplainedGroup, pods: Sequence[Pod]) -> list[Pod]:
    """Return the pods, first those with scheduling gates, then the one that stops."""
    stopper = nearest_stopper(explained)
    first = stopper.pod if stopper is not None else ""
    gated = {pod.key for pod in pods if pod.spec.scheduling_gates}
    return sorted(pods, key=lambda pod: (pod.key not in gated, pod.key != first))


def _facts(explained: ExplainedGroup) -> Iterator[str]:
    if explained.outcome is GroupOutcome.WAITING:
        pods = counted(explained.missing, "more pod")
        yield f"{explained.message}: {pods} must be created before it is tried"
    elif explained.outcome is GroupOutcome.MISSING:
        yield f"{explained.message}; create it, or correct the name in the pods"


def _without_changes(
    explained: ExplainedGroup, pending: int, remarks: Sequence[str]
) -> Suggestions:
    namespace, _, name = explained.group.partition("/")
    return Suggestions(
        pod="",
        subject=f"podgroup/{name}",
        namespace=namespace,
        pending=pending,
        changes=(),
        remarks=tuple(remarks),
    )
