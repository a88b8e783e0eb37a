"""A plugin with data from outside the cluster decides as if nothing were cached."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from quaymaster import (
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.engine import scheduler_of
from tests.kit.profiles import fewer

NODES = [f"n{number}" for number in range(5)]
HOT = Status.unschedulable("node(s) were hot")
LIMITS = {"": 80, "warm": 50, "hot": -1}

loads = st.dictionaries(st.sampled_from(NODES), st.integers(0, 100), max_size=3)


class Thermal:
    """Rejects hot nodes and prefers cool ones; the heat comes from outside."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        self.loads: dict[str, int] = {}

    @hookimpl
    def events_to_register(self) -> list[Any]:
        return []

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.labels["heat"]

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return HOT if self._is_hot(pod, node) else None

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        hot = [self._is_hot(pod, info) for info in nodes.infos_at(rows)]
        return NodeVerdicts.reject_where(np.array(hot), HOT)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 - self.loads.get(node.name, 0)

    def _is_hot(self, pod: Pod, node: NodeInfo) -> bool:
        return self.loads.get(node.name, 0) > LIMITS[pod.labels["heat"]]


class Forgetful(Thermal):
    """Does the same, but its results cannot be cached."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return None


class Outside(RuleBasedStateMachine):
    """Two schedulers, with and without a cache, see the same cluster and data."""

    def __init__(self) -> None:
        super().__init__()
        self.both = [
            SchedulerHarness(
                [make_node(name=name, capacity={"pods": "4"}) for name in NODES],
                plugins={"Thermal": plugin},
                config=profile_config(enable=["Thermal"]),
                options=SchedulerOptions(verify=1),
            )
            for plugin in (Thermal, Forgetful)
        ]
        self.made = 0

    @initialize(loads=loads)
    def begin(self, loads: dict[str, int]) -> None:
        self.measure(loads)

    @rule(loads=loads)
    def measure(self, loads: dict[str, int]) -> None:
        for harness in self.both:
            plugin = harness.plugin(Thermal)
            plugin.loads = {**plugin.loads, **loads}
            plugin.handle.changed()

    @rule(loads=loads, seconds=st.sampled_from([0.5, 5.0]))
    def measure_later(self, loads: dict[str, int], seconds: float) -> None:
        for harness in self.both:
            plugin = harness.plugin(Thermal)

            def ring(plugin: Thermal = plugin) -> None:
                plugin.loads = dict(loads)
                plugin.handle.changed()

            plugin.handle.clock.call_later(seconds, ring)

    @rule(heat=st.sampled_from(["", "", "warm", "hot"]), count=st.integers(1, 4))
    def add_pods(self, heat: str, count: int) -> None:
        for _ in range(count):
            self.made += 1
            for harness in self.both:
                pod = make_pod(name=f"p{self.made}", labels={"heat": heat})
                harness.cluster.create(pod)

    @rule(seconds=st.sampled_from([1.0, 20.0]))
    def let_time_pass(self, seconds: float) -> None:
        for harness in self.both:
            harness.advance(seconds)

    @rule(name=st.sampled_from(NODES))
    def replace_plugins(self, name: str) -> None:
        for harness in self.both:
            old = harness.plugin(Thermal)
            harness.reload(profile_config(enable=["Thermal"]))
            harness.settle()
            harness.plugin(Thermal).loads = {name: 60}
            harness.plugin(Thermal).handle.changed()
            old.handle.changed()

    @invariant()
    def decisions_are_the_same(self) -> None:
        with_memory, without = self.both
        for _ in range(2):
            assert with_memory.schedule_one() == without.schedule_one()
        assert placed(with_memory) == placed(without)

    def teardown(self) -> None:
        """Check that no pod stays queued that the plugin would accept."""
        for harness in self.both:
            harness.settle()
            plugin = harness.plugin(Thermal)
            for pod in harness.cluster.list(Pod).items:
                if not pod.node_name:
                    fits = [
                        node.name
                        for node in scheduler_of(harness).snapshot
                        if len(node.pods) < 4 and plugin.filter(pod, node) is None
                    ]
                    assert not fits, f"{pod.name} sleeps"
            harness.close()


def placed(harness: SchedulerHarness) -> dict[str, str]:
    """Return the node of each pod."""
    return {pod.name: pod.node_name for pod in harness.cluster.list(Pod).items}


TestOutside = pytest.mark.long(Outside.TestCase)
# Every step of a history makes four decisions.
TestOutside.settings = fewer(4, TestOutside.settings)
