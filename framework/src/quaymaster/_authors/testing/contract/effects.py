"""Counts the effects of hooks on the clusters of a run; a suite may be vacuous."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, is_open
from quaymaster._authors.testing.contract.argument_effects import count_effects
from quaymaster._authors.testing.contract.assuming import attempt
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.companions import (
    post_filter_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.idle_arguments import idle_arguments
from quaymaster._authors.testing.contract.long_waits import long_waits
from quaymaster._authors.testing.contract.node_series import series_by_node
from quaymaster._authors.testing.contract.readings import has_constant_readings
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.unread_arguments import unread_arguments
from quaymaster._authors.testing.contract.uptime import with_times
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._base.errors import counted
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import Verb, Write
from quaymaster._core.contract.results import PermitWait, PostFilterResult
from quaymaster._core.contract.status import Status

__all__ = [
    "EFFECTS",
    "Effect",
    "VacuousContractWarning",
    "effects_of",
    "vacuous_effects",
    "vacuous_text",
    "warn_of",
]


_NOMINATE: Final = "return PostFilterResult(nominating=NominatingInfo(node_name, ...))"
_READINGS: Final = (
    "its periodic background task returned the same data each time, so no check has "
    "seen new data: derive a class whose data change with handle.clock, as the "
    "page 'Use data from outside' of the documentation shows"
)
_SERIES: Final = (
    "metric '{}' has a series for each node that has ever been there: nodes come and "
    "go, and after 1,000 series no new ones are counted, so use a label with few "
    "values, such as a zone or a result"
)
_UNREAD: Final = "argument '{}' has no effect: no code of the plugin reads it"
_NOT_NODES: Final = (
    "handle.changed(nodes=...) got names that no node has, such as '{}', and never "
    "that of a node: it drops cached results by the names of nodes, so other names "
    "have no effect"
)
_CHANGED_NODE: Final = "changed node"
_CHANGED_OTHER: Final = "changed other "
_SECONDS: Final = 61
"""Enough for readings that are repeated each minute."""
_IDLE: Final = (
    "argument '{}' has no effect: it is validated or stored, but no code uses it then"
)
_MOST_COPIES: Final = 4
_ENOUGH_PODS: Final = 40
"""The pods of 25 clusters, which hypothesis draws by default, are twice as many."""
_MOST_PODS: Final = 1000
"""So many pods, of hundreds of clusters, show an effect that is rare, too."""


class VacuousContractWarning(UserWarning):
    """A hook had no effect on any cluster of a contract suite.

    The checks of such a hook compare nothing. Draw clusters on which the hook decides:
    see `PluginContract.clusters`. It also warns of data from outside that never change,
    of metrics whose labels have a value for each node, and of arguments that no code
    reads or uses.
    """


@attrs.frozen
class Effect:
    """The effect of a hook on all clusters of a run.

    Attributes:
        hook: The hook.
        text: How often it did what.
        is_vacuous: Whether it had none, although its results would show one.
    """

    hook: str
    text: str
    is_vacuous: bool

    def __str__(self) -> str:
        return f"{self.hook} {self.text}"


def effects_of(subject: Subject) -> Sequence[Effect]:
    """Return the effects of the hooks that a run has counted."""
    return [
        Effect(hook, *describe(subject))
        for hook, describe in _DESCRIPTIONS.items()
        if subject.has(hook)
    ]


def vacuous_effects(subject: Subject) -> Sequence[str]:
    """Describe what was not exercised, unless there were only a few clusters."""
    if subject.effects["pods"] < _ENOUGH_PODS:
        return ()
    notes = [*sorted(subject.notes), *_names_of_no_nodes(subject)]
    return [*_vacuous_hooks(subject), *notes]


def _vacuous_hooks(subject: Subject) -> Sequence[str]:
    return [str(effect) for effect in effects_of(subject) if effect.is_vacuous]


def _needs_more(subject: Subject) -> bool:
    """Return whether a hook may have had no effect by chance only."""
    pods = subject.effects["pods"]
    return _ENOUGH_PODS <= pods < _MOST_PODS and bool(_vacuous_hooks(subject))


def warn_of(subject: Subject, *, stacklevel: int) -> None:
    """Warn of the hooks that had no effect, see `vacuous_effects`."""
    vacuous = vacuous_effects(subject)
    if vacuous:
        text = f"{subject.name}: {vacuous_text(vacuous)}"
        warnings.warn(text, VacuousContractWarning, stacklevel=stacklevel + 1)


def vacuous_text(vacuous: Sequence[str]) -> str:
    """Return a text about hooks without effect, with the reason if it is the usual one.

    Args:
        vacuous: The hooks, see `vacuous_effects`.
    """
    hooks = [each for each in vacuous if _is_unexercised(each)]
    others = [each for each in vacuous if each not in hooks]
    if hooks:
        others.insert(0, f"the clusters do not exercise it: {'; '.join(hooks)}")
    return "; ".join(others)


def _is_unexercised(text: str) -> bool:
    """Return whether a text is about a hook that other clusters would exercise."""
    return text.partition(" ")[0] in _DESCRIPTIONS and _NOMINATE not in text


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    cluster = with_times(cluster)
    # Once: it does not depend on the cluster.
    if not subject.effects["pods"] and has_constant_readings(subject, cluster):
        subject.notes.add(_READINGS)
    subject.notes.update(map(_UNREAD.format, unread_arguments(subject.plugin)))
    subject.notes.update(map(_IDLE.format, idle_arguments(subject.plugin)))
    count_effects(subject, cluster)
    subject.notes.update(map(_SERIES.format, series_by_node(subject, cluster)))
    if subject.has("permit"):
        subject.notes.update(long_waits(subject, cluster))
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        _count_attempt(bench, pod)
        _count_binding(bench, pod)
    _count_reported(bench)
    if subject.has("filter") and subject.has("reserve"):
        _count_limits(subject, cluster)
    if subject.has("post_filter") and cluster.nodes:
        _count_rescues(subject, cluster)


def _count_reported(bench: Bench) -> None:
    """Count the names that a plugin has reported as changed, by whether nodes had them.

    Timers may report data from outside.
    """
    if bench.services.clock.next_due() is not None:
        bench.advance(_SECONDS)
    nodes = {info.name for info in bench.snapshot}
    for _, name in bench.handle.reported_changes:
        if name:
            what = _CHANGED_NODE if name in nodes else f"{_CHANGED_OTHER}{name}"
            bench.subject.effects[what] += 1


def _names_of_no_nodes(subject: Subject) -> Sequence[str]:
    """Describe names given to ``handle.changed`` if none of them is that of a node."""
    names = (
        what.removeprefix(_CHANGED_OTHER)
        for what in sorted(subject.effects)
        if what.startswith(_CHANGED_OTHER)
    )
    first = next(names, "")
    is_vain = first and not subject.effects[_CHANGED_NODE]
    return [_NOT_NODES.format(first)] if is_vain else []


def _count_attempt(bench: Bench, pod: Pod) -> None:
    counts = bench.subject.effects
    actual = answers(bench, pod)
    counts["pods"] += 1
    counts["pre_enqueue rejected"] += _rejects(actual.pre_enqueue)
    counts["pre_filter rejected"] += _rejects(actual.pre_filter)
    is_skip = isinstance(actual.pre_filter, Status) and actual.pre_filter.is_skip
    counts["pre_filter skipped"] += is_skip
    if is_open(actual.pre_filter) and not is_skip:
        counts["filter called"] += len(list(bench.snapshot))
        counts["filter rejected"] += len(actual.rejected)
    counts["score called"] += len(actual.score)
    for score in actual.score.values():
        if not isinstance(score, Status):
            counts[f"score {score}"] += 1


def _count_limits(subject: Subject, cluster: SmallCluster) -> None:
    """Count the nodes that are rejected because of pods which are reserved there."""
    bench, counts = Bench(subject, cluster), subject.effects
    for copy in copies_of(cluster.pending[0], _MOST_COPIES):
        counts["filter rejected"] += len(answers(bench, copy).rejected)
        counts["filter called"] += len(list(bench.snapshot))
        if not attempt(bench, copy).node_name:
            return


def _count_binding(bench: Bench, pod: Pod) -> None:
    subject, counts = bench.subject, bench.subject.effects
    if not subject.has("reserve") and not subject.has("permit"):
        return
    node_name = first_open_node(bench, pod)
    if not node_name:
        return
    state = CycleState()
    actual = reserve_and_return(bench, pod, node_name, state)
    counts["reserve annotated"] += bool(state.annotations)
    for hook, answer in actual.items():
        counts[f"{hook} called"] += 1
        counts[f"{hook} rejected"] += _rejects(answer)
        counts[f"{hook} waits"] += isinstance(answer, PermitWait)


def _count_rescues(subject: Subject, cluster: SmallCluster) -> None:
    pod, counts = preempting(cluster.pending[0]), subject.effects
    for harness in post_filter_harnesses(subject, cluster):
        before, pods = _written(subject, harness), _alive(harness)
        answer: PostFilterResult | None = None
        # Other checks report failures.
        with harness, suppress(Exception):
            harness.start()
            answer = harness.post_filter(pod)
        nominating = answer.nominating if answer is not None else None
        has_node = nominating is not None and bool(nominating.node_name)
        counts["post_filter called"] += 1
        counts["post_filter rescued"] += has_node
        counts["post_filter wrote"] += _written(subject, harness) != before
        counts["post_filter evicted"] += _alive(harness) != pods


def _alive(harness: PluginHarness) -> AbstractSet[str]:
    """Return the pods that are not deleted."""
    pods = harness.cluster.list(Pod).items
    return {pod.uid for pod in pods if not pod.is_terminating}


def _written(subject: Subject, harness: PluginHarness) -> Sequence[object]:
    """Return the stored objects of the kinds that a plugin writes."""
    kinds = dict.fromkeys(write.kind for write in _writes(subject))
    return [harness.cluster.list(kind).items for kind in kinds]


def _writes(subject: Subject) -> Sequence[Write]:
    writes: Sequence[Write] = getattr(subject.plugin, "writes", ())
    return writes


def _rejects(answer: object) -> bool:
    return isinstance(answer, Status) and answer.is_rejected


def _pre_enqueue(subject: Subject) -> tuple[str, bool]:
    counts = subject.effects
    rejected = counts["pre_enqueue rejected"]
    text = f"rejected {rejected} of {counted(counts['pods'], 'pod')}"
    # A plugin that evicts pods holds back the pod that waits for its victims.
    return text, not rejected and not subject.has("post_filter")


def _pre_filter(subject: Subject) -> tuple[str, bool]:
    counts = subject.effects
    rejected, skipped = counts["pre_filter rejected"], counts["pre_filter skipped"]
    pods = counted(counts["pods"], "pod")
    text = f"rejected {rejected} of {pods} and skipped {skipped}"
    return text, skipped == counts["pods"]


def _filter(subject: Subject) -> tuple[str, bool]:
    counts = subject.effects
    nodes, rejected = counts["filter called"], counts["filter rejected"]
    return f"rejected {rejected} of {counted(nodes, 'node')}", not rejected


def _post_filter(subject: Subject) -> tuple[str, bool]:
    counts = subject.effects
    rescued = counts["post_filter rescued"]
    pods = counted(counts["post_filter called"], "pod")
    deleted = [write.kind for write in _writes(subject) if write.verb is Verb.DELETE]
    evicted = counts["post_filter evicted"]
    if evicted and not rescued:
        # Others may take the room, and the pod may not even be tried again.
        text = f"evicted pods for {evicted} of {pods} and nominated no node"
        return f"{text} ({_NOMINATE})", True
    if not deleted or Pod in deleted:
        # Without the right to evict, it may only report why no node fits.
        return f"rescued {rescued} of {pods}", bool(deleted) and not rescued
    # It frees other objects, and the pod is retried.
    wrote = counts["post_filter wrote"]
    text = f"rescued {rescued} of {pods} and wrote to the cluster for {wrote}"
    return text, not rescued + wrote


def _score(subject: Subject) -> tuple[str, bool]:
    values = sum(
        name.startswith("score ") and name != "score called"
        for name, count in subject.effects.items()
        if count
    )
    nodes = counted(subject.effects["score called"], "node")
    return f"returned {counted(values, 'value')} for {nodes}", values < 2


def _reserve(subject: Subject) -> tuple[str, bool]:
    counts = subject.effects
    rejected, annotated = counts["reserve rejected"], counts["reserve annotated"]
    pods = counted(counts["reserve called"], "pod")
    # It may only keep a state of its own, which nothing shows.
    return f"rejected {rejected} of {pods} and annotated {annotated}", False


def _permit(subject: Subject) -> tuple[str, bool]:
    counts = subject.effects
    rejected, waits = counts["permit rejected"], counts["permit waits"]
    pods = counted(counts["permit called"], "pod")
    text = f"rejected {rejected} of {pods} and let {waits} wait"
    if PermitWait.__name__ in _returned(subject, "permit"):
        return text, not waits
    # With a filter, it may only repeat its question, and nothing has changed here.
    return text, not rejected and not subject.has("filter")


def _returned(subject: Subject, hook: str) -> str:
    """Return the type that a hook returns, as its author has written it."""
    return str(inspect.signature(getattr(subject.plugin, hook)).return_annotation)


_DESCRIPTIONS: Final[dict[str, Callable[[Subject], tuple[str, bool]]]] = {
    "pre_enqueue": _pre_enqueue,
    "pre_filter": _pre_filter,
    "filter": _filter,
    "post_filter": _post_filter,
    "score": _score,
    "reserve": _reserve,
    "permit": _permit,
}

EFFECTS = Check(
    name="effects",
    promise="each hook has an effect on some of the clusters; otherwise a warning",
    ask=_ask,
    hooks=frozenset(_DESCRIPTIONS),
    needs_more=_needs_more,
)
