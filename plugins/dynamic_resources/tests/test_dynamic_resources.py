"""DynamicResources: pods without claims pass, pods with claims are told why not."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Handle,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
)
from quaymaster.config import ConfigErrors
from quaymaster.objects import (
    DeviceClass,
    DeviceClassSpec,
    ObjectMeta,
    PodResourceClaim,
)
from quaymaster.testing import (
    PluginHarness,
    PluginStatusError,
    SchedulerHarness,
    make_node,
    make_pod,
)
from quaymaster_dynamic_resources import DynamicResources, DynamicResourcesArgs

NOT_SUPPORTED = "and allocating devices is not supported"
OWN_UPDATE = ClusterEvent(
    EventResource.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
)


class Never:
    """Rejects every pod before DynamicResources is asked."""

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


def device_class(name: str, resource: str | None = None) -> DeviceClass:
    spec = DeviceClassSpec(extended_resource_name=resource)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=spec)


def claiming(*claims: str) -> Pod:
    pod = make_pod()
    named = tuple(
        PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims
    )
    return replace(pod, spec=replace(pod.spec, resource_claims=named))


def test_a_pod_without_claims_is_skipped() -> None:
    harness = PluginHarness(DynamicResources, nodes=[make_node(name="a")])
    assert harness.pre_filter(make_pod()) == Status.skip()
    assert harness.filter(make_pod()) == {}


def test_a_pod_with_claims_is_refused_in_plain_words() -> None:
    answer = PluginHarness(DynamicResources).pre_filter(claiming("gpu", "nic"))
    assert answer == Status.unresolvable(
        f"pod needs resource claims (gpu, nic), {NOT_SUPPORTED}"
    )


@pytest.mark.parametrize(
    ("resource", "is_refused"),
    [
        pytest.param("example.com/gpu", True, id="resource of a class"),
        pytest.param("deviceclass.resource.kubernetes.io/a", True, id="named by class"),
        pytest.param("deviceclass.resource.kubernetes.io/b", False, id="no such class"),
        pytest.param("example.com/other", False, id="resource of no class"),
        pytest.param("cpu", False, id="no extended resource"),
    ],
)
def test_extended_resources_of_device_classes_are_claims(
    resource: str, is_refused: bool
) -> None:
    classes = [device_class("a", "example.com/gpu"), device_class("c")]
    harness = PluginHarness(DynamicResources, objects=classes)
    answer = harness.pre_filter(make_pod(requests={resource: "1"}))
    text = f"pod needs extended resources of device classes ({resource}), "
    refused = Status.unresolvable(text + NOT_SUPPORTED)
    assert answer == (refused if is_refused else Status.skip())


def test_a_refused_pod_is_not_gated_and_says_why_in_its_condition() -> None:
    harness = SchedulerHarness([make_node(name="a"), claiming("gpu")])
    harness.settle()
    assert harness.message("pod") == (
        "0/1 nodes are available: pod needs resource claims (gpu), "
        f"{NOT_SUPPORTED}. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling."
    )


def test_a_refused_pod_is_tried_again_when_the_device_class_is_gone() -> None:
    pod = make_pod(requests={"example.com/gpu": "1"})
    node = make_node(name="a", allocatable={"example.com/gpu": "1"})
    harness = SchedulerHarness([node, pod, device_class("a", "example.com/gpu")])
    harness.settle()
    assert not harness.node_of("pod")
    harness.cluster.delete(DeviceClass, "a")
    harness.settle()
    assert harness.node_of("pod") == "a"


def test_rule_3_post_filter_has_nothing_to_deallocate() -> None:
    harness = PluginHarness(
        DynamicResources, nodes=[make_node(name="a")], beside=[Nowhere]
    )
    result = harness.post_filter(make_pod())
    assert result.status == Status.unschedulable("no new claims to deallocate")
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
        harness.score(make_pod())


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
            None,
            QueueingHint.SKIP,
            id="claim added",
        ),
        pytest.param(
            ClusterEvent(EventResource.DEVICE_CLASS, ActionType.DELETE),
            None,
            QueueingHint.QUEUE,
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
def test_hints(event: ClusterEvent, new: Pod | None, hint: QueueingHint) -> None:
    assert PluginHarness(DynamicResources).hint(make_pod(), event, None, new) is hint


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
    assert isinstance(plugin, DynamicResources)
    assert plugin.sign_pod(claiming("gpu")) is None
    assert plugin.sign_pod(make_pod()) == plugin.sign_pod(make_pod(name="other"))
