"""Capacity and usage of resources on nodes."""

import pytest

from quaymaster import Snapshot
from quaymaster.columns import ResourceColumn
from quaymaster.objects import pod_requests
from quaymaster.testing import make_node, make_pod

GPU = "nvidia.com/gpu"


def snapshot() -> Snapshot:
    """Return two nodes, one with a pod on it and one with GPUs."""
    made = Snapshot()
    capacity = {"cpu": "4", "memory": "1000", "ephemeral-storage": "50"}
    made.add_node(make_node(name="plain", capacity=capacity))
    made.add_node(make_node(name="gpus", capacity={**capacity, GPU: "8"}))
    requests = {"cpu": "1", "ephemeral-storage": "20", GPU: "2"}
    made.add_pod(make_pod(node="gpus", requests=requests))
    return made


@pytest.mark.parametrize(
    ("name", "non_zero", "plain", "gpus"),
    [
        pytest.param("cpu", False, (4000, 0), (4000, 1000), id="cpu"),
        pytest.param("memory", False, (1000, 0), (1000, 0), id="memory"),
        pytest.param(
            "memory", True, (1000, 0), (1000, 200 * 2**20), id="memory with defaults"
        ),
        pytest.param(
            "ephemeral-storage", True, (50, 0), (50, 20), id="storage has no defaults"
        ),
        pytest.param(GPU, False, (0, 0), (8, 2), id="extended resource"),
    ],
)
def test_resource_column_reads_capacity_and_usage(
    name: str, non_zero: bool, plain: tuple[int, int], gpus: tuple[int, int]
) -> None:
    made = snapshot()
    resource = ResourceColumn(name, non_zero=non_zero)
    assert [resource.read(node) for node in made] == [plain, gpus]
    capacity = resource.capacity(made.nodes)
    assert capacity is not None
    rows = made.nodes.rows
    assert capacity.amounts[rows].tolist() == [plain[0], gpus[0]]
    assert capacity.divisors[rows].tolist() == [plain[0] or 1, gpus[0]]
    assert capacity.is_everywhere is bool(plain[0])
    assert resource.usage(made.nodes, rows).tolist() == [plain[1], gpus[1]]


@pytest.mark.parametrize("name", ["pods", "example.com/foo", "nonsense"])
def test_resource_that_no_node_offers_has_no_capacity(name: str) -> None:
    made = snapshot()
    resource = ResourceColumn(name)
    assert resource.capacity(made.nodes) is None
    assert [resource.read(node) for node in made] == [(0, 0), (0, 0)]


def test_capacity_is_measured_again_when_a_node_changes() -> None:
    made = snapshot()
    resource = ResourceColumn(GPU)
    before = resource.capacity(made.nodes)
    made.add_pod(make_pod(name="another", node="gpus", requests={GPU: "1"}))
    assert resource.capacity(made.nodes) is before
    made.add_node(make_node(name="plain", capacity={GPU: "4"}))
    after = resource.capacity(made.nodes)
    assert after is not None
    assert after.is_everywhere


def test_capacity_is_measured_again_for_another_table() -> None:
    resource = ResourceColumn(GPU)
    assert resource.capacity(snapshot().nodes) is not None
    assert resource.capacity(Snapshot().nodes) is None


@pytest.mark.parametrize(
    ("capacity", "is_exact"), [(2**53 // 101, True), (2**53 // 101 + 1, False)]
)
def test_floats_are_exact_up_to_a_limit(capacity: int, is_exact: bool) -> None:
    made = Snapshot()
    made.add_node(make_node(capacity={GPU: str(capacity)}))
    measured = ResourceColumn(GPU).capacity(made.nodes)
    assert measured is not None
    assert measured.is_exact is is_exact


@pytest.mark.parametrize(
    ("name", "amount", "counts"),
    [
        pytest.param("cpu", 0, True, id="cpu always counts"),
        pytest.param(GPU, 1, True, id="requested"),
        pytest.param(GPU, 0, False, id="not requested"),
        pytest.param("hugepages-2Mi", 0, False, id="huge pages not requested"),
    ],
)
def test_resource_counted_by_name_plays_a_part_only_if_requested(
    name: str, amount: int, counts: bool
) -> None:
    assert ResourceColumn(name).counts(amount) is counts


def test_resource_column_reads_the_requests_of_a_pod() -> None:
    requests = pod_requests(make_pod(requests={"cpu": "1500m", GPU: "2"}))
    amounts = [ResourceColumn(name).request(requests) for name in ("cpu", GPU, "pods")]
    assert amounts == [1500, 2, 0]
