"""What is remembered of PreFilter must leave the same traces as asking again."""

from collections.abc import Hashable

from quaymaster import (
    CycleState,
    Handle,
    Pod,
    Scope,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod

KEY = StateKey[bool]("Late")


class Early:
    """Rejects pods when it is told to, and is asked anew each time."""

    rejects = False

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Take no arguments."""

    @hookimpl
    def pre_filter(self) -> Status | None:
        return Status.unresolvable("no") if Early.rejects else None

    @hookimpl
    def filter(self) -> None:
        return None


class Late:
    """Writes to the state, and is remembered; reads it when all is over."""

    scope = Scope.NODE
    seen: list[bool]

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Take no arguments."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.spec.priority

    @hookimpl
    def pre_filter(self, state: CycleState) -> None:
        state[KEY] = True

    @hookimpl
    def filter(self) -> None:
        return None

    @hookimpl
    def post_filter(self, state: CycleState) -> Status:
        Late.seen.append(KEY in state)
        return Status.unschedulable()


def test_a_plugin_after_the_one_that_rejects_has_written_nothing() -> None:
    Early.rejects, Late.seen = False, []
    enabled = [{"name": "Early"}, {"name": "Late"}]
    harness = SchedulerHarness(
        [make_node(name="a")],
        plugins={"Early": Early, "Late": Late},
        config={
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}],
        },
    )
    harness.cluster.create(make_pod(name="one"))
    harness.settle()
    assert harness.node_of("one") == "a"
    Early.rejects = True
    harness.cluster.create(make_pod(name="two"))
    harness.settle()
    assert Late.seen
    assert not any(Late.seen)
