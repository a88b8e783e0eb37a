"""Each mutation of the engine breaks an invariant: the checks can fail."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import pytest

from quaymaster import ClusterEvent, Node, hookimpl
from quaymaster.columns import is_constant
from quaymaster.preemption import Evictions
from quaymaster.scheduler import Clock
from quaymaster_inter_pod_affinity import InterPodAffinity
from quaymaster_node_resources_fit import NodeResourcesFit
from quaymaster_node_unschedulable import NodeUnschedulable
from quaymaster_pod_topology_spread import PodTopologySpread
from quaymaster_taint_toleration import TaintToleration
from quaymaster_volume_binding import VolumeBinding
from tests.chaos.machine import sorts_of
from tests.chaos.run import replay
from tests.chaos.steps import draw_steps
from tests.kit.internals.binding import BindingStations, WaitingPods
from tests.kit.internals.cycle import IS_CONSTANT
from tests.kit.internals.engine import BindingCycle, EventHandlers, FailureHandler
from tests.kit.internals.memo import ScoreMemo
from tests.kit.internals.mutants import (
    ASKING,
    FINISHING,
    READING_LATER,
    RESOLVING,
    backwards,
    last_first,
    scoring_no_rows,
    with_times_as_they_are,
)
from tests.kit.internals.queue import (
    BackoffPolicy,
    InFlightPods,
    PodHeap,
    SchedulingQueue,
    SortKeys,
    SubQueues,
)
from tests.kit.internals.state import Cache

Function: TypeAlias = Callable[..., Any]
Mutation: TypeAlias = Callable[[Function], Function]


def nothing(_original: Function) -> Function:
    return lambda *_args, **_keywords: None


def no(_original: Function) -> Function:
    return lambda *_args, **_keywords: False


def twice(original: Function) -> Function:
    def changed(*args: object) -> object:
        original(*args)
        return original(*args)

    return changed


def passing(_original: Function) -> Function:
    return hookimpl(lambda _self: None)


def ignoring_nodes(original: Function) -> Function:
    def changed(
        self: SchedulingQueue, event: ClusterEvent, *args: Any, **keywords: Any
    ) -> None:
        if not isinstance(args[-1], Node):
            original(self, event, *args, **keywords)

    return changed


def as_failed(_original: Function) -> Function:
    return lambda _self, _attempt, status: status


def no_errors(_original: Function) -> Function:
    return lambda *_args: []


def as_if_bound(_original: Function) -> Function:
    return lambda _self, _attempt, _status: None


def ignoring_missed_changes(original: Function) -> Function:
    def changed(*args: object, missed: bool = False) -> None:
        if not missed:
            original(*args)

    return changed


def always_brief(_original: Function) -> Function:
    return lambda _self, _failures, _pods=1: 1.0


def by_exact_types(_original: Function) -> Function:
    """Count only keys of the type of the first key; see `SortKeys.reliable`."""

    def reliable(_self: SortKeys, _name: str, sort_key: Function) -> Function:
        first: list[object] = []

        def key_of(queued: object) -> object:
            key = sort_key(queued)
            parts = key if type(key) is tuple else (key,)
            types = [*map(type, parts)]
            first.extend([] if first else [types])
            return (False, *parts) if types == first[0] else (True,)

        return key_of

    return reliable


def as_strides_say(_original: Function) -> Function:
    return lambda array: array.strides == (0,)


MUTATIONS: Sequence[tuple[type, str, Mutation, str]] = [
    (BindingStations, "unreserve", no_errors, "never given back|decided on again"),
    (BindingStations, "unreserve", twice, "given back twice"),
    (BindingStations, "unreserve", backwards, "wrong order"),
    (Cache, "forget", no, "queued and assumed|in flight"),
    (Cache, "remove_pod", nothing, "the cache has|waits, but|would be taken"),
    (BindingCycle, RESOLVING, as_failed, "was given back, but is on"),
    (BindingCycle, RESOLVING, as_if_bound, "is said to be on"),
    (BindingCycle, READING_LATER, nothing, "does not end|for ever"),
    (SchedulingQueue, "move_all", ignoring_nodes, "waits, but"),
    (SchedulingQueue, "done", nothing, "in flight"),
    (
        SchedulingQueue,
        "delete",
        nothing,
        "and|waits, but|the queue does not hold|still in a queue",
    ),
    (InFlightPods, "record", nothing, "waits, but"),
    (WaitingPods, "end", nothing, "does not end|for ever"),
    (FailureHandler, "attempt_failed", nothing, "nowhere|in flight"),
    (
        EventHandlers,
        "changed",
        ignoring_missed_changes,
        "the (cache|queue|snap)|for ever|no such node",
    ),
    (Evictions, FINISHING, nothing, "waits, but"),
    (SortKeys, "reliable", by_exact_types, "turn"),
    (PodHeap, "push", last_first, "turn"),
    (BackoffPolicy, "duration", always_brief, "turn"),
    (NodeUnschedulable, "filter filter_nodes", passing, "cordoned"),
    (TaintToleration, "filter filter_nodes", passing, "taint"),
    (NodeResourcesFit, "filter filter_nodes", passing, "would be taken|would be there"),
    (InterPodAffinity, "filter filter_nodes", passing, "does not want"),
    (PodTopologySpread, "filter filter_nodes", passing, "in one domain|no label"),
    (VolumeBinding, "filter filter_nodes", passing, "volume|claim"),
]


HISTORIES = 400


@pytest.mark.long
@pytest.mark.parametrize(
    ("owner", "name", "mutation", "found"),
    MUTATIONS,
    ids=[
        f"{owner.__name__}.{name}-{mutation.__name__}"
        for owner, name, mutation, _ in MUTATIONS
    ],
)
def test_broken_engine_is_found_out(
    owner: type,
    name: str,
    mutation: Mutation,
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for attribute in name.split():
        monkeypatch.setattr(owner, attribute, mutation(getattr(owner, attribute)))
    assert re.search(found, first_violation(range(HISTORIES)))


def first_violation(seeds: Iterable[int]) -> str:
    """Return the first violation of an invariant in the histories."""
    violations = (replay(seed, draw_steps(seed)).violation for seed in seeds)
    return next(filter(None, violations), "nothing was found")


def sorted_by(sort: str) -> Iterable[int]:
    """Return the histories whose main profile has a queue sort."""
    return (seed for seed in range(HISTORIES) if sorts_of(seed)[0] == sort)


@pytest.mark.long
def test_priorities_lost_after_graceful_ends_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for owner, name, mutation in (
        (SortKeys, "reliable", by_exact_types),
        (Clock, "call_at", with_times_as_they_are),
    ):
        monkeypatch.setattr(owner, name, mutation(getattr(owner, name)))
    assert "'s turn" in first_violation(sorted_by("PrioritySort"))


@pytest.mark.long
def test_places_that_do_not_follow_labels_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SubQueues, "reposition", nothing(SubQueues.reposition))
    assert "'s turn" in first_violation(sorted_by("ByApp"))


@pytest.mark.long
def test_empty_arrays_that_pass_for_constant_ones_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(IS_CONSTANT, as_strides_say(is_constant))
    asking = scoring_no_rows(getattr(ScoreMemo, ASKING))
    monkeypatch.setattr(ScoreMemo, ASKING, asking)
    found = first_violation(range(HISTORIES))
    assert re.search(r"the attempt to schedule pod \S+ broke: IndexError", found)
