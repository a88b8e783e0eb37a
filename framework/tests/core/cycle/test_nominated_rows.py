"""Nominated pods count the same in scalar filters and in twins."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Status,
    hookimpl,
)
from quaymaster.columns import CPU
from quaymaster.objects import pod_requests
from quaymaster.testing import PluginHarness, make_node, make_pod

FULL = Status.unschedulable("full")
LONELY = Status.unschedulable("lonely")


class OneByOne:
    """Rejects nodes that are full, and those that are empty.

    The second rule is what makes both looks at a node with nominated pods necessary.
    """

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        wanted = pod_requests(pod).milli_cpu
        if wanted > node.allocatable.milli_cpu - node.requested.milli_cpu:
            return FULL
        return None if node.pods else LONELY


class OnColumns(OneByOne):
    """The same, with a twin."""

    pod_use = PodUse.SUMS

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        wanted = pod_requests(pod).milli_cpu
        free = nodes.allocatable[CPU, rows] - nodes.requested[CPU, rows]
        full, empty = free < wanted, nodes.pod_count[rows] == 0
        codes = full * 1 + (~full & empty) * 2
        return NodeVerdicts(codes, lambda code: FULL if code == 1 else LONELY)


def verdicts(
    plugin: type,
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    nominated: Mapping[str, Sequence[Pod]],
    pod: Pod,
) -> dict[str, str] | None:
    harness = PluginHarness(plugin, nodes=nodes, pods=pods, nominated=nominated)
    try:
        statuses = harness.attempt(pod)
    except ValueError:  # it fits somewhere
        return None
    return {node.name: statuses[node.name].message for node in harness.snapshot}


@given(data=st.data())
def test_nominated_pods_count_the_same_on_columns(data: st.DataObject) -> None:
    amount, priority = st.integers(0, 3), st.integers(0, 2)
    nodes, pods, nominated = [], [], {}
    for number in range(data.draw(st.integers(1, 4))):
        name = f"n{number}"
        nodes.append(make_node(name=name, allocatable={"cpu": "4", "pods": "9"}))
        for place in range(data.draw(st.integers(0, 2))):
            cpu = {"cpu": str(data.draw(amount))}
            pods.append(make_pod(name=f"{name}-{place}", node=name, requests=cpu))
        nominated[name] = [
            make_pod(
                name=f"nominated-{name}-{place}",
                requests={
                    "cpu": str(data.draw(amount)),
                    # Sometimes one that is not a node.
                    data.draw(st.sampled_from(["memory", "example.com/x"])): "1",
                },
                priority=data.draw(priority),
            )
            for place in range(data.draw(st.integers(0, 2)))
        ]
    pod = make_pod(
        requests={"cpu": str(data.draw(st.integers(1, 4)))},
        priority=data.draw(priority),
    )
    world = nodes, pods, nominated, pod
    assert verdicts(OnColumns, *world) == verdicts(OneByOne, *world)
