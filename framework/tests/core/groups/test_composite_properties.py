"""Random trees of groups: none is bound against its rules, and no pod is lost."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import PodGroup, WorkloadReference
from quaymaster.testing import SchedulerHarness, make_composite_pod_group
from tests.kit.group_cluster import cpu_nodes, gang_objects, harness_with_groups

REFERENCE = WorkloadReference(workload_name="workload", template_name="t")
GANGS = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=3
)


def play(
    gangs: Sequence[tuple[int, int]], least: int, nodes: int, late: int
) -> SchedulerHarness:
    """Schedule a tree of gangs (pods, quorum) until nothing changes."""
    root = make_composite_pod_group(name="root", min_group_count=least or None)
    harness = harness_with_groups(
        [*cpu_nodes(*(f"node-{index}" for index in range(nodes))), root],
        TopologyAwareWorkloadScheduling=True,
        CompositePodGroup=True,
    )
    for number, (count, quorum) in enumerate(gangs):
        group, *pods = gang_objects(
            count, name=f"gang-{number}", min_count=quorum, basic=not quorum
        )
        assert isinstance(group, PodGroup)
        spec = replace(
            group.spec, parent_composite_pod_group_name="root", workload_ref=REFERENCE
        )
        for obj in (replace(group, spec=spec), *pods):
            harness.cluster.create(obj)
    harness.settle()
    for index in range(late):
        harness.cluster.create(cpu_nodes(f"late-{index}")[0])
        harness.settle()
    return harness


@pytest.mark.long
@given(
    gangs=GANGS,
    least=st.integers(0, 3),
    nodes=st.integers(1, 6),
    late=st.integers(0, 2),
)
def test_tree_is_bound_up_to_its_quorum_or_not_at_all(
    gangs: list[tuple[int, int]], least: int, nodes: int, late: int
) -> None:
    harness = play(gangs, least, nodes, late)
    pods = harness.cluster.list(Pod).items
    bound = [pod for pod in pods if pod.node_name]
    counts = [
        sum(pod.group_key == f"default/gang-{number}" for pod in bound)
        for number in range(len(gangs))
    ]
    full = 0
    for (_count, quorum), count in zip(gangs, counts, strict=True):
        assert count == 0 or count >= quorum
        full += count >= max(quorum, 1)
    assert not bound or full >= max(least, 1)
    for pod in pods:
        assert pod.node_name or harness.why_pending(pod.key) is not None
