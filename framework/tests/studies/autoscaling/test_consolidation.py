"""Which nodes an autoscaler would remove, and why the others stay."""

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    Consolidation,
    GroupSettings,
    consolidate,
)
from quaymaster.testing import make_node, make_pod

MEMBER = {"pool": "a"}


def nodes(count: int, **labels: str) -> list[Node]:
    capacity = {"cpu": "4", "memory": "16Gi"}
    return [
        make_node(name=f"node-{number}", labels={**MEMBER, **labels}, capacity=capacity)
        for number in range(count)
    ]


def running(node: str, name: str, cpu: str, **settings: object) -> Pod:
    annotations = settings.get("annotations")
    assert annotations is None or isinstance(annotations, dict)
    return make_pod(
        name=name, node=node, requests={"cpu": cpu}, annotations=annotations
    )


def outcome(
    *pods: Pod, count: int = 2, least: int = 0, price: float | None = 0.25
) -> Consolidation:
    group = GroupSettings(name="a", min=least, max=9, nodes=MEMBER, price=price)
    setup = ClusterAutoscalerSetup(groups=[group])
    return consolidate([*nodes(count), *pods], setup)


def reason(result: Consolidation, node: str) -> str:
    [staying] = [each for each in result.staying if each.node == node]
    return staying.why


def test_empty_nodes_go_and_save_their_price() -> None:
    result = outcome(running("node-0", "busy", "3"), count=3)
    assert {life.node for life in result.removed} == {"node-1", "node-2"}
    assert result.saving == 0.5
    assert reason(result, "node-0") == "pods request 75% of its cpu, more than 50%"


def test_pod_without_a_controller_keeps_its_node() -> None:
    result = outcome(running("node-0", "lonely", "1"), running("node-1", "busy", "3"))
    assert result.removed == ()
    assert reason(result, "node-0") == (
        "pod default/lonely blocks: no controller would create it again"
    )


def test_annotation_lets_a_pod_end_with_its_node() -> None:
    safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    result = outcome(
        running("node-0", "lonely", "1", annotations=safe),
        running("node-1", "busy", "3"),
    )
    assert [life.node for life in result.removed] == ["node-0"]
    assert result.moved == ()
    assert [ended.pod for ended in result.ended] == ["default/lonely"]


def test_long_delay_after_a_removal_is_waited_for() -> None:
    options = ClusterAutoscalerOptions(
        scale_down_delay_after_delete=3600, max_scale_down_parallelism=1
    )
    group = GroupSettings(name="a", max=9, nodes=MEMBER)
    setup = ClusterAutoscalerSetup(groups=[group], options=options)
    assert len(consolidate(nodes(2), setup).removed) == 2


def test_smallest_size_is_a_reason_to_stay() -> None:
    result = outcome(least=2)
    assert reason(result, "node-0") == "a has its smallest size, 2 nodes"


def test_node_of_no_group_stays() -> None:
    other = GroupSettings(name="b", max=3, nodes={"pool": "b"})
    own = make_node(name="own", labels={"pool": "b"})
    result = consolidate([*nodes(1), own], ClusterAutoscalerSetup(groups=[other]))
    assert reason(result, "node-0") == "it is in no group of the autoscaler"


def test_saving_is_unknown_without_prices() -> None:
    assert outcome(price=None).saving is None


def test_only_gpus_count_on_nodes_with_gpus() -> None:
    capacity = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "4"}
    pods = [
        make_pod(
            name=f"train-{number}",
            node=f"node-{number}",
            requests={"cpu": cpu, "nvidia.com/gpu": gpus},
            annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
        )
        for number, (cpu, gpus) in enumerate((("3500m", "1"), ("100m", "3")))
    ]
    members = [
        make_node(name=f"node-{number}", labels=MEMBER, capacity=capacity)
        for number in range(2)
    ]
    group = GroupSettings(name="a", max=9, nodes=MEMBER)
    result = consolidate([*members, *pods], ClusterAutoscalerSetup(groups=[group]))
    # Pods request 88% of the CPU of node-0, and one of its four GPUs.
    assert [life.node for life in result.removed] == ["node-0"]
    why = "pods request 75% of its nvidia.com/gpu, more than 50%"
    assert reason(result, "node-1") == why
