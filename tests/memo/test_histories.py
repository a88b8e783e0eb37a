"""Decisions with a cache are those without one, whatever happens to a cluster."""

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import (
    SchedulerHarness,
    make_affinity_term,
    make_node,
    make_pod,
    make_spread_constraint,
)
from tests.kit.profiles import fewer

ZONE = "topology.kubernetes.io/zone"
TEMPLATES: dict[str, dict[str, object]] = {
    "plain": {},
    "small": {"requests": {"cpu": "100m", "memory": "100Mi"}},
    "large": {"requests": {"cpu": "1500m", "memory": "1Gi"}},
    "tolerant": {"tolerations": ["*"], "requests": {"cpu": "300m"}},
    "picky": {"node_selector": {"disk": "ssd"}, "priority": 5},
    "preferring": {"preferred_node_affinity": [(10, {"disk": "hdd"})]},
    "port": {"host_ports": [8080]},
    "image": {"images": ["big"]},
    "spread": {
        "labels": {"app": "spread"},
        "spread": [
            make_spread_constraint(
                max_skew=1, topology_key=ZONE, selector={"app": "spread"}
            )
        ],
    },
    "apart": {
        "labels": {"app": "apart"},
        "pod_anti_affinity": [make_affinity_term(selector={"app": "apart"})],
    },
    "important": {"requests": {"cpu": "2"}, "priority": 100},
    "gpu": {"requests": {"example.com/gpu": "1"}},
}

nodes = st.fixed_dictionaries(
    {
        "zone": st.sampled_from(["east", "west"]),
        "labels": st.sampled_from([{}, {"disk": "ssd"}, {"disk": "hdd"}]),
        "capacity": st.sampled_from(
            [{"cpu": "2"}, {"pods": "2"}, {}, {"example.com/gpu": "1"}]
        ),
        "taints": st.sampled_from(
            [(), (), ("a=b:NoSchedule",), ("a:PreferNoSchedule",)]
        ),
        "unschedulable": st.sampled_from([False, False, False, True]),
        "images": st.sampled_from([{}, {"big": 800 << 20}]),
    }
)


class History(RuleBasedStateMachine):
    """Nodes and pods are added, changed and deleted, few or many at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = SchedulerHarness(options=SchedulerOptions(verify=1))
        self.made = 0

    @initialize(count=st.sampled_from([3, 40, 62]), node=nodes, other=nodes)
    def begin(
        self, count: int, node: dict[str, object], other: dict[str, object]
    ) -> None:
        for number in range(count):
            self._add_node(other if number % 3 else node)

    @rule(node=nodes, count=st.sampled_from([1, 1, 30]))
    def add_nodes(self, node: dict[str, object], count: int) -> None:
        if len(self._nodes()) < 100:
            for _ in range(count):
                self._add_node(node)

    @precondition(lambda self: self._nodes())
    @rule(data=st.data(), node=nodes)
    def change_node(self, data: st.DataObject, node: dict[str, object]) -> None:
        old = data.draw(st.sampled_from(self._nodes()))
        made = make_node(name=old.name, **node)  # type: ignore[arg-type]  # the maker's
        metadata = replace(
            made.metadata,
            uid=old.metadata.uid,
            resource_version=old.metadata.resource_version,
        )
        self.harness.cluster.update(replace(made, metadata=metadata))

    @precondition(lambda self: self._nodes())
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(self._nodes()))
        self.harness.cluster.delete(Node, node.key)

    @rule(
        name=st.sampled_from(list(TEMPLATES)),
        count=st.sampled_from([1, 2, 2, 30]),
    )
    def add_pods(self, name: str, count: int) -> None:
        for _ in range(count):
            self.made += 1
            fields = TEMPLATES[name]
            pod = make_pod(name=f"{name}-{self.made}", **fields)  # type: ignore[arg-type]  # the maker's
            self.harness.cluster.create(pod)

    @precondition(lambda self: self._pods())
    @rule(data=st.data(), one_in=st.sampled_from([0, 0, 2]))
    def remove_pods(self, data: st.DataObject, one_in: int) -> None:
        pods = self._pods()
        chosen = pods[::one_in] if one_in else [data.draw(st.sampled_from(pods))]
        for pod in chosen:
            self.harness.cluster.delete(Pod, pod.key, grace_period_seconds=0)

    @precondition(lambda self: self._pods())
    @rule(data=st.data(), app=st.sampled_from(["spread", "apart", "none"]))
    def relabel_pod(self, data: st.DataObject, app: str) -> None:
        pod = data.draw(st.sampled_from(self._pods()))
        metadata = replace(pod.metadata, labels={"app": app})
        self.harness.cluster.update(replace(pod, metadata=metadata))

    @rule(seconds=st.sampled_from([1, 10, 400]))
    def let_time_pass(self, seconds: int) -> None:
        self.harness.advance(seconds)

    @invariant()
    def every_decision_is_verified(self) -> None:
        for _ in range(3):  # some pods stay queued while nodes change
            self.harness.schedule_one()

    def _add_node(self, fields: dict[str, object]) -> None:
        self.made += 1
        name = f"n{self.made}"
        self.harness.cluster.create(make_node(name=name, **fields))  # type: ignore[arg-type]  # the maker's

    def _nodes(self) -> Sequence[Node]:
        return self.harness.cluster.list(Node).items

    def _pods(self) -> Sequence[Pod]:
        pods = self.harness.cluster.list(Pod).items
        return [pod for pod in pods if not pod.is_terminating]


TestHistory = pytest.mark.long(History.TestCase)
# Every step of a history makes three decisions, each of them twice.
TestHistory.settings = fewer(4, TestHistory.settings)
