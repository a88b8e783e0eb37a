"""`PluginHarness` calls every hook, and `profile_config` selects the plugins."""

from collections.abc import Hashable

import pytest
from msgspec.structs import replace

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    PermitWait,
    Pod,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.columns import RowArray
from quaymaster.objects import Namespace
from quaymaster.testing import (
    ContractError,
    PluginHarness,
    PluginStatusError,
    ScheduleError,
    SchedulerHarness,
    UnexpectedHookErrors,
    make_namespace,
    make_node,
    make_pod,
    profile_config,
)
from tests.kit.device_share import COUNT, DEVICE, DeviceShare, make_sharer, with_device

_COUNT = StateKey[int]("Count")
FULL = Status.unschedulable("full")


class AtMostTwo:
    """Allows two pods per node, waits a minute and records bound pods."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.bound: list[str] = []

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.namespace

    @hookimpl
    def pre_filter(self, state: CycleState) -> Status | None:
        state[_COUNT] = 0
        return None

    @hookimpl
    def add_pod(self, state: CycleState) -> Status | None:
        state[_COUNT] += 1
        return None

    @hookimpl
    def remove_pod(self, state: CycleState) -> Status | None:
        state[_COUNT] -= 1
        return None

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        return FULL if len(node.pods) >= 2 else None

    @hookimpl
    def permit(self, node_name: str) -> PermitWait | Status | None:
        return PermitWait(60)

    @hookimpl
    def post_bind(self, pod: Pod, node_name: str) -> None:
        self.bound.append(f"{pod.name} on {node_name}")


def test_pods_can_be_added_and_removed_in_an_attempt() -> None:
    running = make_pod(name="running", node="node")
    harness = PluginHarness(AtMostTwo, nodes=[make_node()], pods=[running])
    pod, other = make_pod(), make_pod(name="other")
    assert harness.filter(pod) == {}
    assert harness.add_pod(pod, other, "node") is None
    assert harness.state[_COUNT] == 1
    assert harness.filter_imagined(pod, "node") == FULL
    assert harness.remove_pod(pod, running, "node") is None
    assert harness.state[_COUNT] == 0
    assert harness.filter_imagined(pod, "node") is None
    assert harness.filter(pod) == {}
    assert harness.filter_imagined(pod, "node") is None
    with pytest.raises(LookupError, match="no node 'nowhere'"):
        harness.add_pod(pod, other, "nowhere")


def test_pods_can_be_added_before_the_first_filter() -> None:
    harness = PluginHarness(AtMostTwo, nodes=[make_node()])
    pod = make_pod()
    harness.pre_filter(pod)
    for name in ("first", "second"):
        harness.add_pod(pod, make_pod(name=name), "node")
    assert harness.state[_COUNT] == 2
    assert harness.filter_imagined(pod, "node") == FULL


def test_a_plugin_reads_the_namespaces_among_the_objects() -> None:
    shop = make_namespace(name="shop", labels={"team": "web"})
    harness = PluginHarness(AtMostTwo, objects=[shop])
    listed = harness.handle.informers.get(Namespace, "shop")
    assert listed is not None
    assert listed.metadata.labels["team"] == "web"


def test_permit_post_bind_and_sign_pod() -> None:
    harness = PluginHarness(AtMostTwo, nodes=[make_node()])
    assert harness.permit(make_pod(), "node") == PermitWait(60)
    harness.post_bind(make_pod(), "node")
    assert isinstance(harness.plugin, AtMostTwo)
    assert harness.plugin.bound == ["pod on node"]
    assert harness.sign_pod(make_pod(namespace="shop")) == "shop"


class Roomiest:
    """Breaks ties by the number of pods, and does nothing else."""

    answer: int | Status | None = None

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def break_tie(self, nodes: NodeTable, tied: RowArray) -> int | Status:
        if self.answer is not None:
            return self.answer
        return int(tied[nodes.pod_count[tied].argmin()])


def test_ties_are_broken_among_all_nodes_or_some() -> None:
    nodes = [make_node(name=name) for name in "abc"]
    pods = [make_pod(name="1", node="a"), make_pod(name="2", node="b")]
    pods.append(make_pod(name="3", node="a"))
    harness = PluginHarness(Roomiest, nodes=nodes, pods=pods)
    assert harness.break_tie(make_pod()) == "c"
    assert harness.break_tie(make_pod(), "a", "b") == "b"


def test_wrong_answer_to_a_tie_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = PluginHarness(Roomiest, nodes=[make_node(name=name) for name in "abc"])
    monkeypatch.setattr(Roomiest, "answer", 1)
    text = "'Roomiest': break_tie returned 1, expected one of the rows 0, 2"
    with pytest.raises(ContractError, match=text):
        harness.break_tie(make_pod(), "a", "c")
    monkeypatch.setattr(Roomiest, "answer", Status.from_error("no idea"))
    with pytest.raises(PluginStatusError, match="no idea"):
        harness.break_tie(make_pod())


class OnlyFails:
    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        raise KeyError("tier")


def test_a_plugin_without_signature_has_none() -> None:
    with pytest.raises(LookupError, match="OnlyFails has no hook sign_pod"):
        PluginHarness(OnlyFails).sign_pod(make_pod())


def test_break_tie_of_a_plugin_without_the_hook_is_an_error() -> None:
    with pytest.raises(LookupError, match="OnlyFails has no hook break_tie"):
        PluginHarness(OnlyFails).break_tie(make_pod())


def harness_of(config: dict[str, object], *plugins: type) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name="small", capacity={"cpu": "1"}), make_node(name="large")],
        plugins={plugin.__name__: plugin for plugin in plugins},
        config=config,
    )


def test_profile_config_builds_a_profile() -> None:
    config = profile_config(
        enable=[AtMostTwo],
        disable=["ImageLocality"],
        args={"NodeResourcesFit": {"ignoredResources": ["example.com/foo"]}},
        weights={"TaintToleration": 7},
        scheduler_name="mine",
    )
    harness = harness_of(config, AtMostTwo)
    (profile,) = harness.config.profiles
    assert profile.scheduler_name == "mine"
    filters = [ref.name for ref in profile.plugins["filter"]]
    weights = {ref.name: ref.weight for ref in profile.plugins["score"]}
    assert "AtMostTwo" in filters
    assert "ImageLocality" not in weights
    assert weights["TaintToleration"] == 7
    assert "example.com/foo" in str(profile.plugin_args["NodeResourcesFit"])


def test_a_failed_assertion_shows_the_reasons_for_each_node() -> None:
    harness = harness_of(profile_config())
    harness.cluster.create(make_pod(name="huge", requests={"cpu": "64"}))
    harness.cluster.create(make_pod(name="web", requests={"cpu": "2"}))
    harness.settle()
    harness.assert_pending("huge", reason="Insufficient cpu")
    harness.assert_scheduled("web", on="large")
    with pytest.raises(ScheduleError) as caught:
        harness.assert_scheduled("huge")
    assert "pod 'default/huge' has no node, expected one" in str(caught.value)
    code = "UnschedulableAndUnresolvable"
    said = f"node small: NodeResourcesFit says {code}: Insufficient cpu"
    assert said in str(caught.value)
    with pytest.raises(ScheduleError) as caught:
        harness.assert_scheduled("web", on="small")
    assert "runs on 'large', expected 'small'" in str(caught.value)
    assert "node large: " in str(caught.value)
    assert "NodeResourcesFit " in str(caught.value)
    with pytest.raises(ScheduleError, match="runs on 'large', expected no node"):
        harness.assert_pending("web")
    with pytest.raises(ScheduleError, match="expected 'no luck' in it"):
        harness.assert_pending("huge", reason="no luck")


def test_hooks_that_fail_are_reported() -> None:
    harness = harness_of(profile_config(enable=[OnlyFails]), OnlyFails)
    harness.assert_no_errors()
    harness.cluster.create(make_pod(name="web"))
    harness.schedule_one()
    with pytest.raises(UnexpectedHookErrors, match="for pod default/web: KeyError"):
        harness.assert_no_errors()
    harness.errors.clear()
    harness.assert_no_errors()


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "on the node already"])
def test_pod_is_on_its_node_while_it_is_reserved(is_there: bool) -> None:
    pod = make_sharer(name="p", wants=600)
    pods = [with_device(make_sharer(name="q", node="n"), 0)]
    if is_there:
        pods.append(replace(pod, node_name="n"))
    node = make_node(name="n", labels={COUNT: "2"})
    harness = PluginHarness(DeviceShare, nodes=[node], pods=pods)
    assert harness.reserve(pod, "n") is None
    assert harness.state.annotations == {DEVICE: "1"}
    info = harness.snapshot.get("n")
    assert info is not None
    assert len(info.pods) == len(pods)
