"""DynamicResources: pods with claims get devices, or a reason why not."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    EventResource,
    Handle,
    Node,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
)
from quaymaster.config import ConfigErrors, Kubernetes
from quaymaster.objects import (
    AllocationResult,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster.testing import (
    PluginHarness,
    PluginStatusError,
    SchedulerHarness,
    make_device_class,
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)
from quaymaster_dynamic_resources import DynamicResources, DynamicResourcesArgs

OWN_UPDATE = ClusterEvent(
    EventResource.TARGET_POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
)


class Never:
    """Rejects every pod before DynamicResources is called."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def pre_filter(self) -> Status:
        return Status.unresolvable("never")


class Nowhere:
    """Rejects every node."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self) -> Status:
        return Status.unresolvable("nowhere")


def claiming(*claims: str, name: str = "pod") -> Pod:
    pod = make_pod(name=name)
    named = tuple(
        PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims
    )
    return replace(pod, spec=replace(pod.spec, resource_claims=named))


def test_a_pod_without_claims_is_skipped() -> None:
    harness = PluginHarness(DynamicResources, nodes=[make_node(name="a")])
    assert harness.pre_filter(make_pod()) == Status.skip()
    assert harness.filter(make_pod()) == {}


def node_with_gpus(name: str, count: int = 1) -> tuple[Node, ResourceSlice]:
    return make_node(name=name), make_resource_slice(node=name, devices=count)


def scheduled(*objects: ApiObject) -> SchedulerHarness:
    harness = SchedulerHarness([make_device_class(), *objects])
    harness.settle()
    return harness


def devices_of(harness: SchedulerHarness, claim: str = "claim") -> list[str]:
    stored = harness.cluster.get(ResourceClaim, f"default/{claim}")
    allocation = stored.status.allocation
    return (
        [result.device for result in allocation.devices.results] if allocation else []
    )


def test_a_pod_goes_where_its_claim_gets_a_device() -> None:
    harness = scheduled(
        make_node(name="a"),
        *node_with_gpus("b", 2),
        make_resource_claim(),
        claiming("claim"),
    )
    assert harness.node_of("pod") == "b"
    assert devices_of(harness) == ["gpu-0"]


def test_a_claim_says_who_uses_it_and_is_protected() -> None:
    harness = scheduled(*node_with_gpus("a"), make_resource_claim(), claiming("claim"))
    stored = harness.cluster.get(ResourceClaim, "default/claim")
    assert [reference.name for reference in stored.status.reserved_for] == ["pod"]
    assert stored.metadata.finalizers == ("resource.kubernetes.io/delete-protection",)
    assert stored.status.allocation is not None
    assert stored.status.allocation.allocation_timestamp == harness.clock.now()


def test_no_device_is_given_twice() -> None:
    pods = [claiming(f"claim-{at}", name=f"pod-{at}") for at in range(3)]
    claims = [make_resource_claim(name=f"claim-{at}") for at in range(3)]
    harness = scheduled(*node_with_gpus("a", 2), *claims, *pods)
    given = [device for claim in claims for device in devices_of(harness, claim.name)]
    assert sorted(given) == ["gpu-0", "gpu-1"]
    waiting = [pod.name for pod in pods if not harness.node_of(pod.name)]
    assert len(waiting) == 1
    assert harness.message(waiting[0]).startswith(
        "0/1 nodes are available: 1 cannot allocate all claims. preemption: "
    )


def test_a_pod_that_waits_gets_the_devices_that_another_claim_gives_back() -> None:
    taken = make_resource_claim(name="old", devices=["gpu.example.com/a/gpu-0"])
    harness = scheduled(
        *node_with_gpus("a"), taken, make_resource_claim(), claiming("claim")
    )
    assert not harness.node_of("pod")
    stored = harness.cluster.get(ResourceClaim, taken.key)
    harness.cluster.patch_status(stored, {"allocation": None})
    harness.settle()
    assert harness.node_of("pod") == "a"


def test_pods_share_a_claim_and_stay_where_its_devices_are() -> None:
    pods = [claiming("claim", name=f"pod-{at}") for at in range(3)]
    harness = scheduled(
        *node_with_gpus("a"), make_node(name="b"), make_resource_claim(), *pods
    )
    assert [harness.node_of(pod.name) for pod in pods] == ["a", "a", "a"]
    stored = harness.cluster.get(ResourceClaim, "default/claim")
    assert len(stored.status.reserved_for) == 3


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        pytest.param([], 'could not find ResourceClaim "default/claim"', id="missing"),
        pytest.param(
            [make_resource_claim(requests=[make_device_request(device_class="x")])],
            "request devices: device class x does not exist",
            id="class missing",
        ),
        pytest.param(
            [make_resource_claim(requests=[make_device_request(count=40)])],
            'running "DynamicResources" filter plugin: claim default/claim, request '
            "devices: adding 40 devices exceeds the claim limit of 32, with 0 already "
            "accounted for",
            id="too many devices",
        ),
        pytest.param(
            [
                make_resource_claim(
                    requests=[
                        make_device_request(
                            selectors=["quantity(device.driver).isInteger()"]
                        )
                    ]
                )
            ],
            "CEL runtime error",
            id="selector without a value",
        ),
    ],
)
def test_a_claim_that_cannot_be_met_says_why(
    claims: list[ResourceClaim], reason: str
) -> None:
    harness = PluginHarness(
        DynamicResources,
        nodes=[make_node(name="a")],
        objects=[make_device_class(), make_resource_slice(node="a"), *claims],
    )
    pod = claiming("claim")
    gate = harness.pre_enqueue(pod)
    answer = gate if gate is not None else harness.pre_filter(pod)
    if answer is None:
        answer = harness.filter(pod)["a"]
    assert isinstance(answer, Status)
    assert reason.removeprefix('running "DynamicResources" filter plugin: ') in (
        answer.message
    )


def test_an_extended_resource_of_a_class_is_served_by_devices() -> None:
    harness = SchedulerHarness(
        [
            make_device_class(extended_resource_name="example.com/gpu"),
            make_node(name="a"),
            *node_with_gpus("b"),
            make_pod(requests={"example.com/gpu": "1"}),
        ]
    )
    harness.settle()
    assert harness.node_of("pod") == "b"
    (claim,) = harness.cluster.list(ResourceClaim).items
    assert claim.name.startswith("pod-extended-resources-")
    status = harness.cluster.get(
        Pod, "default/pod"
    ).status.extended_resource_claim_status
    assert status is not None
    assert status.resource_claim_name == claim.name
    assert [mapping.resource_name for mapping in status.request_mappings] == [
        "example.com/gpu"
    ]


def test_a_node_that_offers_the_resource_itself_needs_no_claim() -> None:
    harness = SchedulerHarness(
        [
            make_device_class(extended_resource_name="example.com/gpu"),
            make_node(name="a", allocatable={"example.com/gpu": "1"}),
            make_pod(requests={"example.com/gpu": "1"}),
        ]
    )
    harness.settle()
    assert harness.node_of("pod") == "a"
    assert not harness.cluster.list(ResourceClaim).items


def test_what_was_promised_to_a_pod_is_free_again_after_unreserve() -> None:
    harness = PluginHarness(
        DynamicResources,
        nodes=[make_node(name="a")],
        objects=[
            make_device_class(),
            make_resource_slice(node="a"),
            make_resource_claim(),
            make_resource_claim(name="other"),
        ],
    )
    assert harness.filter(claiming("claim")) == {}
    assert harness.reserve(claiming("claim"), "a") is None
    in_flight = harness.pre_filter(claiming("claim"))
    assert in_flight == Status.unresolvable(
        "resource claim default/claim is in the process of being allocated"
    )
    assert harness.filter(claiming("other", name="other")) == {
        "a": Status.unresolvable("cannot allocate all claims")
    }
    harness = PluginHarness(
        DynamicResources,
        nodes=[make_node(name="a")],
        objects=[
            make_device_class(),
            make_resource_slice(node="a"),
            make_resource_claim(),
        ],
    )
    harness.filter(claiming("claim"))
    harness.reserve(claiming("claim"), "a")
    harness.unreserve(claiming("claim"), "a")
    assert harness.filter(claiming("claim")) == {}


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("1.36", Status.unschedulable("no new claims to deallocate")),
        ("1.37", Status.unschedulable()),
    ],
)
def test_rule_3_post_filter_has_nothing_to_deallocate(
    version: str, status: Status
) -> None:
    harness = PluginHarness(
        DynamicResources,
        nodes=[make_node(name="a")],
        beside=[Nowhere],
        kubernetes=Kubernetes(version),
    )
    result = harness.post_filter(make_pod())
    assert result.status == status
    assert result.nominating is None


def test_rule_4_post_filter_fails_if_pre_filter_never_came_to_it() -> None:
    harness = PluginHarness(
        DynamicResources, nodes=[make_node(name="a")], beside=[Never]
    )
    assert harness.post_filter(make_pod()).status == Status.from_error("not found")


def test_rule_4_preemption_is_not_tried_after_that_error() -> None:
    last = "DynamicResources", "DefaultPreemption"
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {
                    "multiPoint": {
                        "disabled": [{"name": name} for name in last],
                        "enabled": [{"name": name} for name in ("Never", *last)],
                    }
                }
            }
        ],
    }
    nodes = [make_node(name="a"), make_node(name="b"), make_node(name="c")]
    harness = SchedulerHarness(
        [*nodes, make_pod()], plugins={"Never": Never}, config=config
    )
    harness.settle()
    assert harness.message("pod") == "0/3 nodes are available: never. not found"


def test_rule_8_without_its_pre_filter_filter_and_score_are_errors() -> None:
    harness = PluginHarness(DynamicResources, nodes=[make_node(name="a")])
    rejected = harness.filter(make_pod(), pre_filter=False)
    assert rejected == {"a": Status.from_error("not found")}
    with pytest.raises(PluginStatusError, match="not found"):
        harness.score(make_pod(), pre_filter=False)


def test_every_node_scores_0() -> None:
    harness = SchedulerHarness([make_node(name="a"), make_node(name="b"), make_pod()])
    harness.settle()
    assert harness.node_of("pod")


@pytest.mark.parametrize(
    ("event", "new", "hint"),
    [
        pytest.param(OWN_UPDATE, make_pod(), QueueingHint.QUEUE, id="own claim made"),
        pytest.param(
            OWN_UPDATE, make_pod(name="other"), QueueingHint.SKIP, id="another pod's"
        ),
        pytest.param(
            ClusterEvent(EventResource.NODE, ActionType.ADD),
            make_node(),
            QueueingHint.QUEUE,
            id="node added",
        ),
        pytest.param(
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT),
            make_node(),
            QueueingHint.SKIP,
            id="node tainted",
        ),
        pytest.param(
            ClusterEvent(EventResource.RESOURCE_CLAIM, ActionType.ADD),
            make_resource_claim(),
            QueueingHint.SKIP,
            id="another claim added",
        ),
        pytest.param(
            ClusterEvent(EventResource.DEVICE_CLASS, ActionType.DELETE),
            make_device_class(),
            QueueingHint.SKIP,
            id="class deleted",
        ),
        pytest.param(
            ClusterEvent(EventResource.RESOURCE_SLICE, ActionType.UPDATE),
            None,
            QueueingHint.QUEUE,
            id="slice changed",
        ),
    ],
)
def test_hints(event: ClusterEvent, new: ApiObject | None, hint: QueueingHint) -> None:
    assert PluginHarness(DynamicResources).hint(make_pod(), event, None, new) is hint


@pytest.mark.parametrize(
    ("is_allocated", "version", "hint"),
    [
        (True, "1.36", QueueingHint.SKIP),
        (True, "1.37", QueueingHint.QUEUE),
        (False, "1.37", QueueingHint.SKIP),
    ],
)
def test_a_deleted_claim_gives_its_devices_back_since_1_37(
    is_allocated: bool, version: str, hint: QueueingHint
) -> None:
    claim = make_resource_claim()
    if is_allocated:
        status = replace(claim.status, allocation=AllocationResult())
        claim = replace(claim, status=status)
    harness = PluginHarness(DynamicResources, kubernetes=Kubernetes(version))
    deleted = ClusterEvent(EventResource.RESOURCE_CLAIM, ActionType.DELETE)
    assert harness.hint(make_pod(), deleted, claim) is hint


def test_defaults_are_upstreams() -> None:
    args = DynamicResourcesArgs()
    assert args.filter_timeout == timedelta(seconds=10)
    assert args.binding_timeout == timedelta(minutes=10)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"filterTimeout": "-1s"}, r"filterTimeout: expected .* 0s or more"),
        ({"bindingTimeout": "999ms"}, r"bindingTimeout: expected .* 1s or more"),
        ({"timeout": "1s"}, "timeout"),
    ],
)
def test_wrong_arguments_are_refused(args: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigErrors, match=message):
        PluginHarness(DynamicResources, args=args)


def test_right_arguments_are_accepted() -> None:
    PluginHarness(
        DynamicResources, args={"filterTimeout": "0s", "bindingTimeout": "1s"}
    )


def test_pods_with_claims_are_not_signed() -> None:
    plugin = PluginHarness(DynamicResources).plugin
    assert plugin.sign_pod(claiming("gpu")) is None
    assert plugin.sign_pod(make_pod()) == plugin.sign_pod(make_pod(name="other"))
