"""Every kind of workload, limit, class and storage has a maker."""

import pytest

from quaymaster import ApiObject, Pod, testing
from quaymaster.cluster import ApiError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import KINDS, LabelSelector, Quantity, from_wire, to_wire
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import (
    SchedulerHarness,
    make_composite_pod_group,
    make_cron_job,
    make_csi_driver,
    make_csi_storage_capacity,
    make_daemon_set,
    make_deployment,
    make_device_class,
    make_horizontal_pod_autoscaler,
    make_job,
    make_limit_range,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_pod_group,
    make_priority_class,
    make_replication_controller,
    make_resource_quota,
    make_runtime_class,
    make_stateful_set,
    make_volume_attachment,
    make_workload,
)

MADE = [
    make_csi_driver(storage_capacity=True),
    make_csi_storage_capacity(node_topology={"zone": "a"}, capacity="5Gi"),
    make_daemon_set(selector={"app": "log"}),
    make_deployment(replicas=0),
    make_device_class(),
    make_horizontal_pod_autoscaler(target=make_deployment(), min_replicas=2),
    make_cron_job(schedule="@daily", suspend=True),
    make_job(completions=3, parallelism=2, indexed=True, suspend=True),
    make_limit_range(max={"cpu": "2"}, default_request={"cpu": "100m"}),
    make_replication_controller(selector={"app": "web"}, replicas=0),
    make_resource_quota(hard={"requests.cpu": "4"}, used={"requests.cpu": "1"}),
    make_runtime_class(overhead={"cpu": "250m"}, tolerations=("dedicated",)),
    make_stateful_set(selector={"app": "db"}, replicas=0),
    make_volume_attachment(),
    make_composite_pod_group(min_group_count=2, topology_key="zone", parent="tree"),
    make_pod_group(min_count=4, topology_key="rack", disrupts_all=True, workload="w"),
    make_workload(groups={"leader": None, "worker": 4}),
]


WRITTEN_BY_COMPONENTS = {"Binding", "Event", "Lease"}


def test_every_kind_has_a_maker() -> None:
    words = {name.replace("_", "") for name in testing.__all__}
    missing = {kind for kind in KINDS if f"make{kind.lower()}" not in words}
    assert missing == WRITTEN_BY_COMPONENTS


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.kind)
def test_made_objects_survive_a_file(made: ApiObject) -> None:
    assert from_wire(to_wire(made), type(made)) == made
    assert made.uid


def test_a_csi_driver_and_its_storage() -> None:
    driver, attachment = (
        make_csi_driver(attach_required=False),
        make_volume_attachment(),
    )
    assert driver.spec.attach_required is False
    assert attachment.spec.attacher == driver.name
    assert attachment.status.attached
    everywhere = make_csi_storage_capacity(node_topology={}, maximum_volume_size="1Gi")
    assert everywhere.node_topology == LabelSelector()
    assert everywhere.maximum_volume_size == Quantity("1Gi")
    assert make_csi_storage_capacity().node_topology is None


def test_owners_make_pods_a_set() -> None:
    for owner in (make_replication_controller(), make_stateful_set()):
        (reference,) = make_pod(owner=owner).metadata.owner_references
        assert (reference.kind, reference.uid) == (owner.kind, owner.uid)


def test_a_runtime_class_costs_overhead() -> None:
    made = make_runtime_class(overhead={"cpu": "250m"}, node_selector={"kvm": "yes"})
    assert made.overhead is not None
    assert made.overhead.pod_fixed == {"cpu": Quantity("250m")}
    assert made.scheduling is not None
    assert made.scheduling.node_selector == {"kvm": "yes"}


def test_a_cluster_accepts_made_objects() -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(MADE)
    for made in MADE:
        assert cluster.get(type(made), made.key).name == made.name


LIKE = make_pod(labels={"tier": "gold"}, requests={"cpu": "500m"})


@pytest.mark.parametrize(
    ("workload", "count"),
    [
        (make_deployment(replicas=2, pod=LIKE), 2),
        (make_stateful_set(replicas=2, pod=LIKE), 2),
        (make_daemon_set(pod=LIKE), 3),
        (make_job(completions=4, parallelism=2, pod=LIKE), 2),
        (make_replication_controller(replicas=1, pod=LIKE), 1),
    ],
    ids=lambda made: getattr(made, "kind", None),
)
def test_workload_makers_take_the_arguments_of_make_pod(
    workload: ApiObject, count: int
) -> None:
    nodes = [make_node(name=name) for name in "abc"]
    scheduler = SchedulerHarness([*nodes, workload])
    scheduler.settle()
    pods = scheduler.cluster.list(Pod).items
    assert [pod.labels["tier"] for pod in pods] == ["gold"] * count
    for pod in pods:
        assert pod.node_name
        assert pod.spec.containers[0].resources.requests == {"cpu": Quantity("500m")}


def test_a_stateful_set_gives_each_pod_a_claim() -> None:
    made = make_stateful_set(claims=[make_persistent_volume_claim(name="data")])
    (claim,) = made.spec.volume_claim_templates
    assert claim.name == "data"


def test_a_quota_and_a_limit_range_are_in_force() -> None:
    quota = make_resource_quota(hard={"pods": 1})
    limits = make_limit_range(default_request={"cpu": "250m"})
    scheduler = SchedulerHarness([make_node(), quota, limits])
    stored = scheduler.cluster.create(make_pod(name="first"))
    assert stored.spec.containers[0].resources.requests == {"cpu": Quantity("250m")}
    with pytest.raises(ApiError, match="exceeded quota: quota"):
        scheduler.cluster.create(make_pod(name="second"))


def test_pod_of_a_priority_class_gets_what_an_api_server_sets() -> None:
    gold = make_priority_class(
        name="gold",
        value=70,
        preemption_policy="Never",
        labels={"tier": "1"},
        annotations={"note": "x"},
    )
    assert (gold.labels, gold.annotations) == ({"tier": "1"}, {"note": "x"})
    spec = make_pod(priority_class=gold).spec
    assert spec.priority_class_name == "gold"
    assert (spec.priority, spec.preemption_policy) == (70, "Never")


def test_pod_may_name_a_priority_class_only() -> None:
    spec = make_pod(priority_class="gold", priority=7).spec
    assert (spec.priority_class_name, spec.priority) == ("gold", 7)
