"""ProvisioningRequests find capacity for all of their pods, or for none."""

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.autoscaling import (
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    FlagError,
    GroupSettings,
    read_flags,
)
from quaymaster.objects import Quantity, from_wire
from quaymaster.simulation import Simulation, explain_pod
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.capacity import PodTemplate, ProvisioningRequest

MEMBER = {"pool": "small"}
ENABLED = ClusterAutoscalerOptions(enable_provisioning_requests=True)
CHECK = "check-capacity.autoscaling.x-k8s.io"
ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
CONSUMES = {"autoscaling.x-k8s.io/consume-provisioning-request": "train"}


def worker() -> PodTemplate:
    requests = {"requests": {"cpu": "900m"}}
    container = {"name": "main", "image": "x", "resources": requests}
    tree = {
        "metadata": {"name": "worker", "namespace": "default"},
        "template": {"spec": {"containers": [container]}},
    }
    return from_wire(tree, PodTemplate)


def request(
    kind: str, count: int, name: str = "train", **parameters: str
) -> ProvisioningRequest:
    spec = {
        "provisioningClassName": kind,
        "podSets": [{"count": count, "podTemplateRef": {"name": "worker"}}],
        "parameters": parameters,
    }
    metadata = {"name": name, "namespace": "default"}
    return from_wire({"metadata": metadata, "spec": spec}, ProvisioningRequest)


def setup(options: ClusterAutoscalerOptions, most: int) -> ClusterAutoscalerSetup:
    group = GroupSettings(
        name="small",
        min=0,
        max=most,
        nodes=MEMBER,
        resources={"cpu": Quantity("2"), "memory": Quantity("8Gi")},
        labels=MEMBER,
    )
    return ClusterAutoscalerSetup(groups=[group], options=options)


def started(
    *objects: ApiObject,
    options: ClusterAutoscalerOptions = ENABLED,
    most: int = 10,
    nodes: int = 1,
) -> Simulation:
    """Make a simulation whose nodes have room for two pods of 900m each."""
    capacity = {"cpu": "2", "memory": "8Gi"}
    old = [
        make_node(name=f"old-{number}", labels=MEMBER, capacity=capacity)
        for number in range(nodes)
    ]
    return Simulation([*old, *objects], autoscaler=setup(options, most))


def nodes_of(simulation: Simulation) -> int:
    return len(simulation.cluster.list(Node).items)


def conditions_of(simulation: Simulation, name: str = "train") -> dict[str, str]:
    stored = simulation.cluster.get(ProvisioningRequest, f"default/{name}")
    return {
        each.type: f"{each.status} {each.reason}" for each in stored.status.conditions
    }


def consumers(count: int) -> list[Pod]:
    return [
        make_pod(name=f"w-{number}", requests={"cpu": "900m"}, annotations=CONSUMES)
        for number in range(count)
    ]


def test_check_finds_room_and_books_it_for_ten_minutes() -> None:
    with started(worker(), request(CHECK, 2)) as simulation:
        simulation.run_until(30)
        assert conditions_of(simulation) == {
            "Accepted": "True Accepted",
            "Provisioned": "True CapacityIsFound",
        }
        simulation.run_until(605)
        assert "BookingExpired" not in conditions_of(simulation)
        simulation.run_until(630)
        expired = conditions_of(simulation)["BookingExpired"]
    assert expired == "True CapacityReservationTimeExpired"


def test_check_without_room_adds_no_node() -> None:
    with started(worker(), request(CHECK, 3)) as simulation:
        simulation.run_until(30)
        assert conditions_of(simulation)["Provisioned"] == "False CapacityIsNotFound"
        assert nodes_of(simulation) == 1


def test_check_without_retry_fails() -> None:
    with started(worker(), request(CHECK, 3, noRetry="true")) as simulation:
        simulation.run_until(30)
        assert conditions_of(simulation)["Failed"] == "True CapacityIsNotFound"


def test_failed_check_is_tried_again_when_there_is_room() -> None:
    blocker = make_pod(name="b", node="old-0", requests={"cpu": "1500m"})
    with started(worker(), request(CHECK, 2), blocker) as simulation:
        simulation.run_until(30)
        simulation.cluster.delete(Pod, "default/b")
        simulation.run_until(65)
        assert conditions_of(simulation)["Provisioned"] == "False CapacityIsNotFound"
        simulation.run_until(90)
        assert conditions_of(simulation)["Provisioned"] == "True CapacityIsFound"


def test_atomic_request_gets_nodes_for_what_does_not_fit() -> None:
    with started(worker(), request(ATOMIC, 6)) as simulation:
        simulation.run_until(30)
        provisioned = conditions_of(simulation)["Provisioned"]
        simulation.run_until(150)
        assert nodes_of(simulation) == 3
    assert provisioned == "True CapacityIsProvisioned"


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(ENABLED, id="group"),
        pytest.param(
            ClusterAutoscalerOptions(
                enable_provisioning_requests=True, cores_total=(0, 4)
            ),
            id="cores",
        ),
    ],
)
def test_atomic_request_that_does_not_fit_as_a_whole_gets_nothing(
    options: ClusterAutoscalerOptions,
) -> None:
    with started(worker(), request(ATOMIC, 9), options=options, most=4) as simulation:
        simulation.settle()
        assert conditions_of(simulation)["Provisioned"] == "False CapacityIsNotFound"
        assert nodes_of(simulation) == 0 or nodes_of(simulation) == 1
        lives = simulation.autoscaler
        assert isinstance(lives, ClusterAutoscalerController)
        assert all(life.ordered is None for life in lives.nodes())
        [notice] = [each for each in simulation.result().notices if each.where]
    assert notice.where == "ProvisioningRequest default/train"


def test_pods_of_a_request_use_its_capacity_and_trigger_nothing() -> None:
    objects = [worker(), request(ATOMIC, 6), *consumers(6)]
    with started(*objects, nodes=0) as simulation:
        simulation.settle()
        assert len(simulation.result().placements) == 6
        assert nodes_of(simulation) == 3
        expired = conditions_of(simulation)["BookingExpired"]
    assert expired == "True CapacityBookingConsumed"


def test_pods_of_a_missing_request_stay_pending() -> None:
    with started(*consumers(6)) as simulation:
        simulation.settle()
        assert len(simulation.result().unscheduled) == 4
        assert nodes_of(simulation) == 1


def test_request_without_its_template_fails() -> None:
    with started(request(ATOMIC, 1)) as simulation:
        simulation.run_until(30)
        assert conditions_of(simulation) == {"Failed": "True FailedToCreatePods"}


@pytest.mark.long
def test_requests_and_other_pods_take_turns() -> None:
    pods = [make_pod(name=f"p-{each}", requests={"cpu": "900m"}) for each in range(4)]
    objects = [worker(), request(ATOMIC, 4), *pods]
    with started(*objects) as simulation:
        simulation.settle()
        assert not simulation.result().unscheduled
        assert conditions_of(simulation)["Provisioned"].startswith("True")


def test_batch_checks_several_requests_in_one_loop() -> None:
    options = ClusterAutoscalerOptions(
        enable_provisioning_requests=True, check_capacity_batch_processing=True
    )
    names = ["a", "b", "c"]
    objects = [request(CHECK, 1, name) for name in names]
    with started(worker(), *objects, options=options) as simulation:
        simulation.run_until(10.05)
        found = [conditions_of(simulation, name)["Provisioned"] for name in names]
    assert [text.partition(" ")[0] for text in found] == ["True", "True", "False"]


@pytest.mark.parametrize(
    ("instance", "parameters", "is_processed"),
    [("", {}, True), ("x", {}, False), ("x", {"processorInstance": "x"}, True)],
)
def test_instance_handles_its_own_requests(
    instance: str, parameters: dict[str, str], is_processed: bool
) -> None:
    options = ClusterAutoscalerOptions(
        enable_provisioning_requests=True, check_capacity_processor_instance=instance
    )
    own = request(CHECK, 1, **parameters)
    with started(worker(), own, options=options) as simulation:
        simulation.run_until(30)
        assert bool(conditions_of(simulation)) is is_processed
        assert bool([e for e in simulation.result().notices if e.where]) is (
            not is_processed
        )


def test_request_has_no_effect_without_the_flag() -> None:
    options = ClusterAutoscalerOptions()
    with started(worker(), request(ATOMIC, 4), options=options) as simulation:
        simulation.run_until(60)
        assert not conditions_of(simulation)
        texts = [str(each) for each in simulation.result().notices]
    assert any("--enable-provisioning-requests" in text for text in texts)


@pytest.mark.long
def test_explanation_says_what_a_pod_of_a_request_waits_for() -> None:
    [pod] = consumers(1)
    objects = [worker(), request(ATOMIC, 9), pod]
    explained = explain_pod("default/w-0", objects, autoscaler=setup(ENABLED, 1))
    assert explained.scaling is not None
    assert explained.scaling.summary.startswith(
        "it waits for ProvisioningRequest default/train, which has no capacity; "
        "the autoscaler tries again after"
    )


def test_flags_of_requests() -> None:
    options = read_flags(
        [
            "--enable-provisioning-requests",
            "--provisioning-request-initial-backoff-time=2m",
            "--check-capacity-processor-instance=kueue",
            "--provisioning-request-max-backoff-cache-size=10",
        ]
    )
    assert options.enable_provisioning_requests
    assert options.provisioning_request_initial_backoff_time == 120
    assert options.check_capacity_processor_instance == "kueue"
    with pytest.raises(FlagError):
        read_flags(["--check-capacity-batch-processing=maybe"])
