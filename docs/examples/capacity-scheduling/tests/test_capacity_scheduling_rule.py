"""The rule of quotas says the same of one node and of all nodes at once."""

from collections.abc import Sequence

import attrs
from hypothesis import given
from hypothesis import strategies as st
from quaymaster import Pod
from quaymaster.preemption import Candidate, select_victims
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_resources_fit import NodeResourcesFit

from quaymaster_capacity_scheduling import CapacityScheduling, ElasticQuota
from quaymaster_capacity_scheduling.testing import make_quota

GPU = "example.com/gpu"
NAMES = ("a", "b", "free")


@attrs.frozen(kw_only=True)
class World:
    quotas: Sequence[ElasticQuota]
    pods: Sequence[Pod]
    nominated: Sequence[Pod]
    pod: Pod

    @property
    def harness(self) -> PluginHarness:
        capacity = {"cpu": 5, GPU: 3}
        return PluginHarness(
            CapacityScheduling,
            nodes=[make_node(name=f"n{at}", capacity=capacity) for at in range(2)],
            pods=self.pods,
            objects=self.quotas,
            nominated={"n0": self.nominated},
            beside=[NodeResourcesFit],
        )


def amounts(most: int) -> st.SearchStrategy[dict[str, str | int]]:
    return st.builds(
        lambda cpu, gpu: {"cpu": cpu, "memory": "1Ti", **({GPU: gpu} if gpu else {})},
        st.integers(0, most),
        st.integers(0, 2),
    )


@st.composite
def pods(draw: st.DrawFn, name: str, node: str | None = None) -> Pod:
    requests = {"cpu": draw(st.integers(0, 3)), GPU: draw(st.integers(0, 1))}
    return make_pod(
        name=name,
        namespace=draw(st.sampled_from(NAMES)),
        node=node,
        requests={name: amount for name, amount in requests.items() if amount},
        priority=draw(st.integers(0, 2)),
        start_time=draw(st.integers(0, 3)),
        deletion_timestamp=draw(st.sampled_from([None, None, 1.0])) if node else None,
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    quotas = [
        make_quota(name, min=draw(amounts(5)), max=draw(st.none() | amounts(9)))
        for name in ("a", "b", "idle")
    ]
    running = [
        draw(pods(f"p{node}{at}", f"n{node}"))
        for node in range(2)
        for at in range(draw(st.integers(0, 5)))
    ]
    nominated = [draw(pods(f"q{at}")) for at in range(draw(st.integers(0, 2)))]
    pod = draw(pods("pod"))
    return World(quotas=quotas, pods=running, nominated=nominated, pod=pod)


@given(world=worlds())
def test_the_rule_says_the_same_of_one_node_and_of_all(world: World) -> None:
    harness = world.harness
    plugin = harness.plugin
    assert isinstance(plugin, CapacityScheduling)
    rule = plugin.rule
    try:
        harness.attempt(world.pod)
    except ValueError:
        return  # it fits
    state = harness.state
    for node in harness.snapshot:
        scalar = select_victims(
            harness.handle, state, world.pod, node, (), rule=rule, limit=rule
        )
        try_it = plugin.dry_run.prepare(state, world.pod, list(harness.snapshot), ())
        assert facts_of(try_it(node)) == facts_of(scalar)


def facts_of(answer: object) -> object:
    if isinstance(answer, Candidate):
        return [victim.name for victim in answer.victims]
    return answer
