"""Annotations chosen in Reserve: on the assumed pod at once, written by the bind."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pytest

from quaymaster import (
    ApiObject,
    CycleState,
    Handle,
    Node,
    PermitWait,
    Pod,
    Status,
    hookimpl,
)
from quaymaster.errors import LateAnnotationError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import (
    Fault,
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
    profile_config,
)
from tests.kit.device_share import (
    COUNT,
    DEVICE,
    WANTS,
    DeviceShare,
    make_sharer,
)
from tests.kit.fake_extender import fake_extender


class Gate:
    """Returns at Permit what the test sets."""

    answer: ClassVar[PermitWait | Status | None] = None

    def __init__(self, args: None, handle: Handle) -> None:
        self.handle = handle
        self.seen: list[Mapping[str, str]] = []

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        self.seen.append(pod.annotations)
        return self.answer


@pytest.fixture(autouse=True)
def _open_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gate, "answer", None)


def harness_with(
    objects: Sequence[ApiObject],
    *,
    more: Mapping[str, type] | None = None,
    config: Mapping[str, object] | None = None,
    faults: Mapping[Fault, float] | None = None,
) -> SchedulerHarness:
    plugins = {"DeviceShare": DeviceShare, "Gate": Gate, **(more or {})}
    return SchedulerHarness(
        objects,
        plugins=plugins,
        config=config or profile_config(enable=list(plugins.values())),
        faults=faults,
    )


def device_node(count: int = 2, name: str = "n") -> Node:
    return make_node(name=name, labels={COUNT: str(count)})


def left(harness: SchedulerHarness, node: str = "n") -> list[int]:
    plugin = harness.plugin(DeviceShare)
    nodes = plugin.handle.snapshot.nodes
    found: list[int] = plugin.left.of(nodes)[nodes.rows_of([node])[0]].tolist()
    return found


def test_bound_pod_has_the_annotation_beside_its_own() -> None:
    with harness_with([device_node(), make_sharer(name="p", wants=300)]) as harness:
        harness.settle()
        assert harness.pod("p").annotations == {WANTS: "300", DEVICE: "0"}


def test_assumed_pod_has_it_from_the_end_of_reserve_on() -> None:
    pods = [make_sharer(name=name, wants=700) for name in ("p", "q")]
    with harness_with([device_node(), *pods]) as harness:
        Gate.answer = PermitWait(60)
        harness.advance(0)
        gate = harness.plugin(Gate)
        assert [seen[DEVICE] for seen in gate.seen] == ["0", "1"]
        waiting = [pod.pod.annotations[DEVICE] for pod in gate.handle.waiting_pods()]
        assert waiting == ["0", "1"]
        assert left(harness) == [300, 300, 0, 0]
        assert harness.node_of("p") == harness.node_of("q") == ""


def test_rejected_pod_loses_the_chosen_annotation() -> None:
    with harness_with([device_node(), make_sharer(name="p")]) as harness:
        Gate.answer = Status.unschedulable("not today")
        harness.schedule_one()
        assert [seen[DEVICE] for seen in harness.plugin(Gate).seen] == ["0"]
        assert left(harness) == [1000, 1000, 0, 0]
        assert harness.pod("p").annotations == {WANTS: "500"}


def test_pod_that_is_deleted_while_it_waits_loses_the_chosen_annotation() -> None:
    with harness_with([device_node(), make_sharer(name="p")]) as harness:
        Gate.answer = PermitWait(60)
        harness.advance(0)
        harness.cluster.delete(Pod, "default/p")
        harness.advance(0)
        assert left(harness) == [1000, 1000, 0, 0]


class Refusing:
    """Refuses to bind."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def pre_bind(self) -> Status:
        return Status.from_error("no")


def test_failed_binding_removes_the_chosen_annotation() -> None:
    objects = [device_node(), make_sharer(name="p")]
    with harness_with(objects, more={"Refusing": Refusing}) as harness:
        harness.schedule_one()
        assert left(harness) == [1000, 1000, 0, 0]
        assert DEVICE not in harness.pod("p").annotations


def test_new_scheduler_reads_the_choice_of_the_previous_one() -> None:
    nodes = [device_node()]
    pods = [make_sharer(name=name, wants=600) for name in ("p", "q")]
    with harness_with([*nodes, pods[0]]) as first:
        first.settle()
        bound = first.pod("p")
    with harness_with([*nodes, bound, pods[1]]) as second:
        assert left(second) == [400, 1000, 0, 0]
        second.settle()
        assert second.pod("q").annotations[DEVICE] == "1"


def test_choice_survives_a_lost_answer() -> None:
    objects = [device_node(), *(make_sharer(name=f"p{at}") for at in range(4))]
    faults = {Fault.LOST_ANSWER: 0.5}
    with harness_with(objects, faults=faults) as harness:
        harness.advance(600)
        devices = [harness.pod(f"p{at}").annotations[DEVICE] for at in range(4)]
        assert sorted(devices) == ["0", "0", "1", "1"]
        assert left(harness) == [0, 0, 0, 0]


class Late:
    """Chooses in PreBind."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def pre_bind(self, state: CycleState) -> None:
        state.annotate("example.com/late", "yes")


def test_annotation_chosen_in_pre_bind_is_written_by_the_bind() -> None:
    with harness_with([make_node(), make_pod(name="p")], more={"Late": Late}) as run:
        run.settle()
        assert run.pod("p").annotations == {"example.com/late": "yes"}


class TooLate:
    """Chooses in PostBind, when the binding has been written."""

    def __init__(self, args: None, handle: Handle) -> None:
        self.earlier: Mapping[str, str] = {}

    @hookimpl
    def post_bind(self, state: CycleState) -> None:
        self.earlier = state.annotations
        state.annotate("example.com/late", "yes")


def test_annotation_chosen_after_the_bind_is_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    objects = [device_node(), make_sharer(name="p")]
    with harness_with(objects, more={"TooLate": TooLate}) as run:
        run.settle()
        assert run.pod("p").annotations == {WANTS: "500", DEVICE: "0"}
        assert run.plugin(TooLate).earlier == {DEVICE: "0"}
    text = "the pod is bound already, so example.com/late would not be written"
    assert text in caplog.text


def test_harness_raises_the_error_of_a_late_annotation() -> None:
    harness = PluginHarness(TooLate, nodes=[make_node(name="n")])
    with pytest.raises(LateAnnotationError) as caught:
        harness.post_bind(make_pod(name="p"), "n")
    assert caught.value.key == "example.com/late"
    harness.state.annotate("example.com/next", "another attempt")


def test_extender_that_binds_cannot_lose_a_choice() -> None:
    with fake_extender() as extender:
        config = profile_config(enable=[DeviceShare, Gate])
        extenders = [{"urlPrefix": extender.url, "bindVerb": "bind"}]
        objects = [device_node(), make_sharer(name="p")]
        with harness_with(
            objects, config={**config, "extenders": extenders}
        ) as harness:
            harness.schedule_one()
            assert (
                f"extender {extender.url} binds the pod, but cannot write the "
                f"annotations that plugins set: {DEVICE}"
            ) in harness.message("p")
            assert left(harness) == [1000, 1000, 0, 0]
        assert not extender.requests_for("bind")


def test_binding_adds_annotations_and_replaces_those_of_the_same_key() -> None:
    cluster = InMemoryCluster(VirtualClock())
    cluster.create(make_node(name="n"))
    pod = cluster.create(make_pod(name="p", annotations={"a": "1", "b": "2"}))
    cluster.bind(pod, "n", annotations={"b": "3", "c": "4"})
    assert cluster.get(Pod, "default/p").annotations == {"a": "1", "b": "3", "c": "4"}


@pytest.mark.parametrize("key", ["", "no spaces", "a/b/c", "/device"])
def test_annotation_needs_a_key_that_annotations_may_have(key: str) -> None:
    with pytest.raises(ValueError, match="expected the key of an annotation, such as"):
        CycleState().annotate(key, "0")


def test_annotation_is_a_text() -> None:
    with pytest.raises(TypeError, match=f"expected a text for {DEVICE}, got 3"):
        CycleState().annotate(DEVICE, 3)  # type: ignore[arg-type]  # the mistake


def test_annotations_of_a_cloned_state_are_its_own() -> None:
    state = CycleState()
    state.annotate(DEVICE, "0")
    state.clone().annotate(DEVICE, "1")
    assert state.annotations == {DEVICE: "0"}
