"""An engine that is broken on purpose is found out: no check is there for nothing."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from quaymaster import hookimpl
from quaymaster._binding.binding_cycle import BindingCycle
from quaymaster._binding.stations import BindingStations
from quaymaster._binding.waiting_pods import WaitingPods
from quaymaster._cache.cache import Cache
from quaymaster._engine.event_handlers import EventHandlers
from quaymaster._engine.failure import FailureHandler
from quaymaster._queue import SchedulingQueue
from quaymaster._queue.in_flight import InFlightPods
from quaymaster.cluster_events import ClusterEvent
from quaymaster.objects import Node
from quaymaster.preemption import Evictions
from quaymaster_inter_pod_affinity import InterPodAffinity
from quaymaster_node_resources_fit import NodeResourcesFit
from quaymaster_node_unschedulable import NodeUnschedulable
from quaymaster_pod_topology_spread import PodTopologySpread
from quaymaster_taint_toleration import TaintToleration
from quaymaster_volume_binding import VolumeBinding
from tests.chaos.run import quiet, replay
from tests.chaos.steps import draw_steps

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


def backwards(original: Function) -> Function:
    def changed(self: BindingStations, *args: object) -> object:
        self._unreserve = self._unreserve[::-1]
        try:
            return original(self, *args)
        finally:
            self._unreserve = self._unreserve[::-1]

    return changed


def passing(_original: Function) -> Function:
    return hookimpl(lambda _self: None)


def deaf_to_nodes(original: Function) -> Function:
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


def deaf_to_what_was_missed(original: Function) -> Function:
    def changed(*args: object, missed: bool = False) -> None:
        if not missed:
            original(*args)

    return changed


MUTATIONS: Sequence[tuple[type, str, Mutation, str]] = [
    (BindingStations, "unreserve", no_errors, "never given back|decided on again"),
    (BindingStations, "unreserve", twice, "given back twice"),
    (BindingStations, "unreserve", backwards, "wrong order"),
    (Cache, "forget", no, "queued and assumed|in flight"),
    (Cache, "remove_pod", nothing, "the cache has|waits, but|would be taken"),
    (BindingCycle, "_resolve", as_failed, "was given back, but is on"),
    (BindingCycle, "_resolve", as_if_bound, "is said to be on"),
    (BindingCycle, "_read_later", nothing, "does not end|for ever"),
    (SchedulingQueue, "move_all", deaf_to_nodes, "waits, but"),
    (SchedulingQueue, "done", nothing, "in flight"),
    (SchedulingQueue, "delete", nothing, "and|waits, but|the queue does not hold"),
    (InFlightPods, "record", nothing, "waits, but"),
    (WaitingPods, "end", nothing, "does not end|for ever"),
    (FailureHandler, "attempt_failed", nothing, "nowhere|in flight"),
    (
        EventHandlers,
        "changed",
        deaf_to_what_was_missed,
        "the (cache|queue|snap)|for ever",
    ),
    (Evictions, "_finish", nothing, "waits, but"),
    (NodeUnschedulable, "filter filter_nodes", passing, "cordoned"),
    (TaintToleration, "filter filter_nodes", passing, "taint"),
    (NodeResourcesFit, "filter filter_nodes", passing, "would be taken|would be there"),
    (InterPodAffinity, "filter filter_nodes", passing, "does not want"),
    (PodTopologySpread, "filter filter_nodes", passing, "in one domain|no label"),
    (VolumeBinding, "filter filter_nodes", passing, "volume|claim"),
]


HISTORIES = 400


@pytest.mark.parametrize(
    ("owner", "name", "mutation", "found"),
    MUTATIONS,
    ids=[f"{one[0].__name__}.{one[1]}-{one[2].__name__}" for one in MUTATIONS],
)
def test_broken_engine_is_found_out(
    owner: type,
    name: str,
    mutation: Mutation,
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for one in name.split():
        monkeypatch.setattr(owner, one, mutation(getattr(owner, one)))
    with quiet():
        for seed in range(HISTORIES):
            violation = replay(seed, draw_steps(seed)).violation
            if violation:
                assert re.search(found, violation)
                return
    pytest.fail(f"{HISTORIES} histories have not found it")
