"""A cached PreFilter answer has the same effects as a new call."""

import gc
import weakref
from collections.abc import Hashable

from quaymaster import CycleState, Handle, Pod, Scope, StateKey, Status, hookimpl
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of
from tests.kit.internals.memo import Signatures

KEY = StateKey[bool]("Late")


class Early:
    """Rejects pods when the test sets it; it is called for each pod."""

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
    """Writes to the state, and is cached; reads the state in PostFilter."""

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
            **HEADER,
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


def test_a_spec_is_freed_with_its_last_pod_despite_the_cache() -> None:
    harness = SchedulerHarness([make_node(name="a")])
    framework = scheduler_of(harness).frameworks["default-scheduler"]
    signatures = Signatures(framework.profile, scheduler_of(harness).snapshot.nodes)
    pod = make_pod(name="p", requests={"cpu": "1"})
    memo = signatures.recall(pod)
    assert memo is not None
    assert signatures.recall(make_pod(name="q", requests={"cpu": "1"})) is memo
    spec = weakref.ref(pod.spec)
    gc.disable()  # values are not among what the collector looks at
    try:
        del pod
        assert spec() is None
    finally:
        gc.enable()
