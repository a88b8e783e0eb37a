"""A Skip of a plugin that reads the whole cluster is cached until a change."""

import itertools
from collections.abc import Sequence
from typing import cast

import pytest

from quaymaster import CycleState, Handle, Pod, StateKey, Status, hookimpl
from quaymaster.columns import Revised
from quaymaster.objects import ObjectMeta, Service
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config

SEEN = StateKey[str]("Harbour")


class Harbour:
    """Skips pods while no service exists, and rejects them afterwards."""

    reads = (Service,)
    skips_binding = True
    depends: object = "services"
    calls: list[str]

    def __init__(self, _args: None, handle: Handle) -> None:
        self._informers = handle.informers
        self._services = handle.informers.changes(Service)

    @hookimpl
    def skips_depend_on(self) -> Sequence[Revised] | None:
        if self.depends == "services":
            return (self._services,)
        return cast("Sequence[Revised] | None", self.depends)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        Harbour.calls.append(f"pre_filter {pod.name}")
        if self._informers.list(Service):
            return Status.unresolvable("there is a service")
        state[SEEN] = "skipped"
        return Status.skip()

    @hookimpl
    def filter(self) -> None:
        raise AssertionError("no pod that passes PreFilter is to be filtered")

    @hookimpl
    def pre_score(self, pod: Pod) -> Status:
        Harbour.calls.append(f"pre_score {pod.name}")
        return Status.skip()

    @hookimpl
    def score(self) -> int:
        raise AssertionError("no pod is to be scored")

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        Harbour.calls.append(f"reserve {pod.name}")

    @hookimpl
    def unreserve(self) -> None:
        return None

    @hookimpl
    def permit(self, pod: Pod) -> None:
        Harbour.calls.append(f"permit {pod.name}")

    @hookimpl
    def post_bind(self, state: CycleState, pod: Pod) -> None:
        Harbour.calls.append(f"post_bind {pod.name} {state[SEEN]}")


def harness_of(plugin: type[Harbour] = Harbour) -> SchedulerHarness:
    Harbour.calls = []
    return SchedulerHarness(
        [make_node(name="a"), make_node(name="b")],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin]),
    )


def come(harness: SchedulerHarness, *names: str, **of: object) -> list[str]:
    """Create pods and return the calls of the plugin."""
    Harbour.calls = []
    for name in names:
        harness.cluster.create(make_pod(name=name, **of))  # type: ignore[arg-type]
        harness.settle()
    return Harbour.calls


def service(name: str) -> Service:
    return Service(metadata=ObjectMeta(name=name, namespace="default"))


def before_binding(calls: Sequence[str]) -> list[str]:
    return [call for call in calls if not call.startswith("post_bind")]


def test_the_second_pod_of_a_template_is_skipped_without_a_call() -> None:
    harness = harness_of()
    assert come(harness, "p", "q", "r") == [
        # The first pod fills the cache of pods, the second the cache of skips.
        "pre_filter p",
        "pre_score p",
        "post_bind p skipped",
        "pre_filter q",
        "pre_score q",
        "post_bind q skipped",
        "post_bind r skipped",
    ]


def test_a_pod_of_another_template_is_a_new_call() -> None:
    harness = harness_of()
    come(harness, "p", "q", "r")
    assert "pre_filter s" in come(harness, "s", labels={"app": "web"})
    calls = before_binding(come(harness, "t", "u", "v"))
    assert not [call for call in calls if call.endswith(" v")]


def test_pods_that_share_only_a_spec_cost_no_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As those of a template whose claims are named in their status.
    names = []

    def depends(self: Harbour, pod: Pod) -> None:
        names.append(pod.name)

    monkeypatch.setattr(Harbour, "skips_depend_on", hookimpl(depends))
    harness = harness_of()
    for name in ("p", "q", "r"):
        come(harness, name, labels={"of": name})
    assert names == []
    come(harness, "s", labels={"of": "r"})
    assert names == ["s"]


def test_after_a_change_the_plugin_is_called_again() -> None:
    harness = harness_of()
    come(harness, "p", "q", "r")
    harness.cluster.create(service("web"))
    assert set(come(harness, "s")) == {"pre_filter s"}
    assert "there is a service" in harness.message("s")
    harness.cluster.delete(Pod, "default/s")
    harness.cluster.delete(Service, "default/web")
    calls = before_binding(come(harness, "t", "u", "v"))
    assert "pre_filter t" in calls
    assert not [call for call in calls if call.endswith(" v")]


@pytest.mark.parametrize("depends", [None, 5, [5]])
def test_without_a_usable_answer_the_plugin_is_called_for_each_pod(
    depends: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Harbour, "depends", depends)
    harness = harness_of()
    come(harness, "p", "q", "r")
    assert before_binding(come(harness, "s")) == ["pre_filter s", "pre_score s"]


def test_a_dependency_that_always_changes_is_not_recorded_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Restless:
        numbers = itertools.count()

        @property
        def revision(self) -> int:
            return next(self.numbers)

    monkeypatch.setattr(Harbour, "depends", [Restless()])
    harness = harness_of()
    for name in "pqrstu":
        calls = before_binding(come(harness, name))
        assert calls[0] == f"pre_filter {name}"


class Binding(Harbour):
    """The same, and it reserves for pods that it skips."""

    skips_binding = False


def test_reserve_runs_for_skipped_pods_unless_the_class_declares_otherwise() -> None:
    come(harness_of(Binding), "p")
    assert {"reserve p", "permit p"} <= set(Harbour.calls)
    come(harness_of(Harbour), "p")
    assert not {"reserve p", "permit p"} & set(Harbour.calls)


def test_a_pod_that_is_tried_again_is_skipped_without_a_call() -> None:
    harness = harness_of()
    running = [make_pod(name=f"run-{number}", node="a") for number in range(4)]
    for pod in running:
        harness.cluster.create(pod)
    # The same spec and other labels: the pods take turns, and none follows itself.
    come(harness, "p", labels={"app": "web"}, requests={"cpu": "1000"})
    come(harness, "q", labels={"app": "job"}, requests={"cpu": "1000"})
    calls = []
    for pod in running:
        Harbour.calls = []
        harness.cluster.delete(Pod, pod.key, grace_period_seconds=0)
        harness.settle()
        calls.append(Harbour.calls)
    assert calls == [[], [], [], []]
