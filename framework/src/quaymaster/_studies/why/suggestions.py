"""Finds the smallest changes that place a pod, and tries each of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._base.displayed import Tabular
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.names import RequestedPod
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.candidates import candidates
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    Effect,
    SuggestedChange,
    both,
)
from quaymaster._studies.why.remarks import remarks
from quaymaster._studies.why.subject import Subject, Subjects
from quaymaster._studies.why.trials import (
    Goal,
    Input,
    OutOfTrialsError,
    Trials,
    pending_pods,
)

__all__ = [
    "MAX_TRIALS",
    "Suggestions",
    "search",
    "smallest",
    "suggest_changes",
]

MAX_TRIALS: Final = 100
"""How many simulations are run at most, by default."""
_PAIRS: Final = 3
"""How many pairs are reported."""
_ORDER: Final = {kind: number for number, kind in enumerate(ChangeKind)}
# All nodes are equal here: the first one that works is reported.
_ONE_OF: Final = frozenset(
    {ChangeKind.UNCORDON, ChangeKind.LABEL_NODE, ChangeKind.ADD_NODE}
)


@attrs.frozen(kw_only=True)
class Suggestions(Tabular):
    """Changes of the input that place a pod.

    Attributes:
        pod: The key of the pod; empty if the request names no pod.
        subject: The object that a user would change, such as ``deployment/web``.
        namespace: Its namespace.
        pending: How many of its pods have no node without any change.
        changes: The changes, the smallest first; pairs only if no single one does.
            With each of them the pod has a node; if its workload generates pod names,
            all pods of the workload have one. No other pod loses its node, except by a
            higher priority: ``evicted`` is the number of these pods.
        candidates: How many single changes could be tried.
        trials: How many simulations were run.
        is_complete: Whether all changes were tried; if not, more trials may find more.
        remarks: Facts that explain why the pod is pending and that no single change
            alters, such as labels and resources that no node has.
    """

    pod: str
    subject: str
    namespace: str
    pending: int
    changes: tuple[SuggestedChange, ...]
    candidates: int = 0
    trials: int = 0
    is_complete: bool = True
    remarks: tuple[str, ...] = ()


def suggest_changes(
    pod: str,
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
    """Find the smallest changes of an input that place a pending pod.

    Each reported change was simulated with the whole input, from the beginning.

    Args:
        pod: As for `explain_pod`.
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
        The changes; none if the pod has a node.

    Raises:
        PodNotFoundError: No object or several objects have that name.
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
        requested = RequestedPod(pod, namespace, run.cluster)
        run.settle()
        result = run.result()
        pending = _pending(requested, run)
        if not pending:
            scheduled = requested.find()
            subject = Subjects(given.objects).of(scheduled, run.cluster)
            return _none(scheduled.key, subject)
        trials = Trials(given, max_trials, on_trial)
        return search(run, result, pending, pending[0].key, trials)


def _pending(requested: RequestedPod, run: Simulation) -> list[Pod]:
    """Return the pending pods with a name."""
    waiting = {pod.key for pod in pending_pods(run.cluster)}
    return [pod for pod in requested.matching() if pod.key in waiting]


def _none(pod: str, subject: Subject) -> Suggestions:
    return Suggestions(
        pod=pod,
        subject=str(subject),
        namespace=subject.namespace,
        pending=0,
        changes=(),
    )


def search(
    run: Simulation,
    result: SimulationResult,
    pods: Sequence[Pod],
    name: str,
    trials: Trials,
    *,
    is_one_enough: bool = False,
    sizes: Collection[int] = (1, 2),
    goal: Goal | None = None,
    offered: Sequence[Candidate] | None = None,
    subject: Subject | None = None,
) -> Suggestions:
    """Find the changes that place some pods of one subject.

    Args:
        run: The simulation of the input, which has settled.
        result: Its result.
        pods: Pods without a node, all of one subject.
        name: The key of the requested pod, or empty.
        trials: Tries changes out.
        is_one_enough: Whether to stop at the first change that works.
        sizes: Whether single changes, pairs of changes, or both are tried.
        goal: The required effect; by default, of a change of this simulation's input.
        offered: The changes to try; by default those of the subject and of the nodes.
        subject: The object that a user would change; by default that of the first pod.
    """
    given = trials.given
    subject = subject or Subjects(given.objects).of(pods[0], run.cluster)
    goal = goal or Goal.of(pods, run, given.objects, result)
    if offered is None:
        profiles = [profile.scheduler_name for profile in given.config.profiles]
        offered = candidates(run, pods, subject, profiles)
    before = trials.count
    changes: list[SuggestedChange] = []
    is_complete = True
    try:
        for change in _singles(offered, goal, trials) if 1 in sizes else ():
            changes.append(change)
            # Only the trials show how far a request must be lowered.
            if is_one_enough and ChangeKind.LOWER_REQUEST_FAR not in change.kinds:
                break
        # Pairs are many, and a single change is easier to make.
        if not changes and 2 in sizes:
            for change in _pairs(offered, goal, trials):
                changes.append(change)
                if len(changes) == _PAIRS or is_one_enough:
                    break
    except OutOfTrialsError:
        is_complete = False
    answer = Suggestions(
        pod=name,
        subject=str(subject),
        namespace=subject.namespace,
        pending=len(pods),
        changes=tuple(sorted(changes, key=_size)),
        candidates=len(offered),
        trials=trials.count - before,
        is_complete=is_complete,
        remarks=tuple(remarks(pods[0], run.unscheduled(pods[0]).message, run.cluster)),
    )
    is_gated = bool(offered) and offered[0].kind is ChangeKind.GATES
    if is_gated and not changes and is_complete:
        opening = offered[0].at(0)
        further = partial(search, is_one_enough=is_one_enough, sizes=sizes, goal=goal)
        return _behind_gates(answer, opening, trials, further)
    return answer


def _behind_gates(
    answer: Suggestions,
    opening: SuggestedChange,
    trials: Trials,
    search_further: Callable[..., Suggestions],
) -> Suggestions:
    """Find changes that place pods that stay pending after their gates are opened.

    Args:
        answer: The answer so far.
        opening: The change that opens the gates.
        trials: Tries changes out.
        search_further: `search`, with the required effect of both changes together.
    """
    given = attrs.evolve(trials.given, objects=opening.apply(trials.given.objects))
    later = Trials(given, trials.left, trials.on_trial)
    with given.simulation() as run:
        run.settle()
        subjects = Subjects(given.objects)
        pods = [
            pod
            for pod in pending_pods(run.cluster)
            if str(subjects.of(pod, run.cluster)) == answer.subject
            and pod.namespace == answer.namespace
        ]
        if not pods:
            return answer
        message = run.unscheduled(pods[0]).message
        further = search_further(run, run.result(), pods, answer.pod, later)
    # The trials behind the gates count, too.
    trials.count += later.count
    return attrs.evolve(
        further,
        pending=answer.pending,
        trials=answer.trials + further.trials,
        changes=tuple(
            attrs.evolve(
                both(opening, change), placed=change.placed, evicted=change.evicted
            )
            for change in further.changes
        ),
        remarks=(f"without its gates it stays pending: {message}", *further.remarks),
    )


def _size(change: SuggestedChange) -> tuple[int, ...]:
    return tuple(_ORDER[kind] for kind in change.kinds)


def _singles(
    offered: Iterable[Candidate], goal: Goal, trials: Trials
) -> Iterator[SuggestedChange]:
    done: set[ChangeKind] = set()
    for candidate in offered:
        if candidate.kind in done:
            continue
        change = smallest(candidate, goal, trials)
        if change is not None:
            yield change
            if candidate.kind in _ONE_OF:
                done.add(candidate.kind)


def smallest(
    candidate: Candidate,
    goal: Goal,
    trials: Trials,
    whole: Callable[[SuggestedChange], SuggestedChange] = lambda change: change,
) -> SuggestedChange | None:
    """Return the smallest level of a candidate that works, by bisection; or None.

    Args:
        candidate: The candidate.
        goal: The required result.
        trials: Tries changes out.
        whole: Adds the other half of a pair.
    """

    def tried(level: int) -> SuggestedChange | None:
        change = whole(candidate.at(level))
        objects = change.apply(trials.given.objects)
        outcome = trials.meets(goal, objects, candidate.effect)
        if outcome is None:
            return None
        return attrs.evolve(change, placed=outcome.placed, evicted=outcome.evicted)

    best = tried(0)
    if best is None:
        return None
    # Bisection is right here since each level changes less than the one before: if one
    # is not enough, none after it is.
    low, high = 0, candidate.levels
    while high - low > 1:
        middle = (low + high) // 2
        change = tried(middle)
        if change is None:
            high = middle
        else:
            low, best = middle, change
    return best


def _pairs(
    offered: Sequence[Candidate], goal: Goal, trials: Trials
) -> Iterator[SuggestedChange]:
    """Find two changes that work together: first whether, then how much of each."""
    # Of a pair, no part may cost other pods their nodes, so these are tried alone.
    harmless = [
        candidate for candidate in offered if candidate.effect is not Effect.EVICTS
    ]
    for first, second in combinations(harmless, 2):
        if first.kind == second.kind and first.kind in _ONE_OF:
            continue
        # Both at their full size first: most pairs fail here, after one trial.
        largest = both(first.at(0), second.at(0))
        if trials.meets(goal, largest.apply(trials.given.objects)) is None:
            continue
        half = first.at(_level(first, second, goal, trials))
        # Beside another change, even one that adds room is judged strictly.
        strict = attrs.evolve(second, effect=Effect.CHANGES)
        change = smallest(strict, goal, trials, partial(both, half))
        if change is not None:
            yield change


def _level(first: Candidate, second: Candidate, goal: Goal, trials: Trials) -> int:
    """Return the smallest level of the first that works with all of the second."""
    low, high = 0, first.levels
    while high - low > 1:
        middle = (low + high) // 2
        change = both(first.at(middle), second.at(0))
        if trials.meets(goal, change.apply(trials.given.objects)) is None:
            high = middle
        else:
            low = middle
    return low
