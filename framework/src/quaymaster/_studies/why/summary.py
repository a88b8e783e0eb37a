"""Explains why many pods have no node: a summary by owner and by cause."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.cycle.sole_rejections import sole_rejections
from quaymaster._core.engine.attempts import Attempt
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.group_names import GroupName, group_name
from quaymaster._studies.simulation.names import RequestedPod
from quaymaster._studies.simulation.pending_facts import PendingFacts
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.group_changes import GroupChanges, PodGroup
from quaymaster._studies.why.group_rows import (
    rows_of_groups,
    split_members,
    suggested_for_groups,
)
from quaymaster._studies.why.pending_groups import (
    Cause,
    PendingGroup,
    PendingSummary,
)
from quaymaster._studies.why.subject import Subject, Subjects
from quaymaster._studies.why.suggestions import MAX_TRIALS
from quaymaster._studies.why.trials import Input, Trials, pending_pods

__all__ = ["explain_pending"]


def explain_pending(
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    pods: Sequence[str] = (),
    namespace: str = "",
    seed: int = 0,
    suggest: bool = False,
    on_progress: ProgressFn | None = None,
    on_trial: Callable[[int, int], None] | None = None,
    max_pods: int = MAX_PODS,
    max_trials: int = MAX_TRIALS,
    as_it_is: bool = False,
) -> PendingSummary:
    """Simulate, and explain why pods have no node in the end: by owner and by cause.

    Args:
        objects: As for `simulate`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        pods: The pods to explain, each as for `explain_pod`; a workload means all its
            pods. By default all pods that have no node.
        namespace: The only namespace to search; empty for all namespaces.
        seed: As for `simulate`.
        suggest: Whether to find a change that places each group.
        on_progress: Called with the progress.
        on_trial: Called before each simulation of a change, with its number from 1, and
            with ``max_trials``.
        max_pods: As for `simulate`.
        max_trials: How many changes are simulated at most, for all groups together.
        as_it_is: As for `explain_pod`.

    Raises:
        PodNotFoundError: No object has one of the names.
    """
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
        requested = [_request(pod, namespace, run) for pod in pods]
        log = GroupLog(keeps_last=True)
        run.follow_groups(log)
        run.settle(on_progress)
        waiting = _waiting(run, requested, namespace)
        members, others = split_members(run, waiting)
        of_groups = rows_of_groups(run, members, log)
        groups = _groups(run, others, Subjects(given.objects))
        result = run.result()
        trials = Trials(given, max_trials, on_trial)
        is_complete = True
        if suggest:
            of_groups, is_complete = suggested_for_groups(run, of_groups, log, trials)
            groups, is_searched = _suggested(run, groups, trials)
            is_complete = is_complete and is_searched
    return PendingSummary(
        groups=tuple(sorted([*of_groups, *groups], key=_size)),
        placed=len(result.placements),
        kept=result.kept,
        nodes=result.nodes,
        trials=trials.count,
        is_complete=is_complete,
        notices=result.notices,
    )


def _size(group: PendingGroup) -> tuple[int, str, str]:
    return -len(group.pods), group.namespace, group.subject


def _request(name: str, namespace: str, run: Simulation) -> RequestedPod | GroupName:
    """Return the pod, workload or PodGroup that a user names."""
    return group_name(name, namespace) or RequestedPod(name, namespace, run.cluster)


def _waiting(
    run: Simulation, requested: Sequence[RequestedPod | GroupName], namespace: str
) -> list[Pod]:
    pending = pending_pods(run.cluster)
    if not requested:
        return [pod for pod in pending if namespace in ("", pod.namespace)]
    keys: set[str] = set()
    for request in requested:
        if isinstance(request, GroupName):
            group = request.key_in(run.cluster)
            keys.update(pod.key for pod in pending if pod.group_key == group)
            continue
        request.find()
        keys.update(pod.key for pod in request.matching())
    return [pod for pod in pending if pod.key in keys]


def _groups(
    run: Simulation, pods: Iterable[Pod], subjects: Subjects
) -> list[PendingGroup]:
    pods_by_group: dict[tuple[Subject, str, str, tuple[str, ...]], list[Pod]] = {}
    for pod in pods:
        left = run.unscheduled(pod)
        subject = subjects.of(pod, run.cluster)
        # Without the numbers of nodes, in which pods with the same cause may differ.
        reasons = tuple(sorted(left.reasons)) or (left.message,)
        name = (subject, left.scheduler, left.reason, reasons)
        pods_by_group.setdefault(name, []).append(pod)
    facts = PendingFacts(run.scheduler)
    return [
        _group(run, facts, subject, reason, members)
        for (subject, _, reason, _), members in pods_by_group.items()
    ]


def _group(
    run: Simulation,
    facts: PendingFacts,
    subject: Subject,
    reason: str,
    pods: Sequence[Pod],
) -> PendingGroup:
    left = run.unscheduled(pods[0])
    attempts = run.scheduler.past_attempts.of(pods[0].key)
    causes = _causes(attempts[-1], _alone(run, pods[0])) if attempts else ()
    return PendingGroup(
        subject=str(subject),
        namespace=subject.namespace,
        scheduler=left.scheduler,
        reason=reason,
        pods=tuple(pod.key for pod in pods),
        message=left.message,
        causes=causes or tuple(_said(left.plugins, left.message)),
        facts=facts.of(pods[0], left.message) if attempts else (),
    )


def _alone(run: Simulation, pod: Pod) -> Mapping[tuple[str, str], int]:
    """Return how many nodes each cause alone keeps from a pod."""
    framework = run.scheduler.frameworks.get(pod.spec.scheduler_name)
    if framework is None:
        return {}
    with run.scheduler.hooks_unobserved():
        return sole_rejections(framework.plain, pod)


def _causes(
    attempt: Attempt, alone: Mapping[tuple[str, str], int]
) -> tuple[Cause, ...]:
    """Return the causes with their numbers of nodes, the most important first."""
    counts = Counter(
        (rejection.plugin, reason)
        for rejection in attempt.rejections or ()
        for reason in rejection.reasons
    )
    # First what alone keeps the pod from most nodes: without it, they would fit.
    ordered = sorted(
        counts, key=lambda name: (-alone.get(name, 0), -counts[name], name)
    )
    return tuple(
        Cause(
            plugin=name[0],
            reason=name[1],
            nodes=counts[name],
            alone=min(counts[name], alone.get(name, 0)),
        )
        for name in ordered
    )


def _said(plugins: Sequence[str], message: str) -> list[Cause]:
    plugin = plugins[0] if len(plugins) == 1 else ""
    return [Cause(plugin=plugin, reason=message, nodes=0)]


def _suggested(
    run: Simulation, groups: Sequence[PendingGroup], trials: Trials
) -> tuple[list[PendingGroup], bool]:
    """Add the change that places each group; return whether all changes were tried."""
    by_key = {pod.key: pod for pod in pending_pods(run.cluster)}
    members = [
        PodGroup(
            pods=[by_key[key] for key in group.pods],
            cause=group.causes[0].plugin if group.causes[0].alone else "",
            message=group.message,
        )
        for group in groups
    ]
    search = GroupChanges(run, run.result(), trials)
    changes = search.of(members)
    suggested = [
        attrs.evolve(group, change=change, remarks=search.remarks[pods])
        for group, pods, change in zip(groups, members, changes, strict=True)
    ]
    return suggested, search.is_complete
