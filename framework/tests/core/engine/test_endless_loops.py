"""Plugins that cause their own calls without end do not hang a simulation."""

from collections.abc import Sequence
from functools import partial

import pytest
from msgspec.structs import replace

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Node,
    PermitWait,
    Pod,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.cluster import Verb, Write
from quaymaster.errors import EndlessLoopError
from quaymaster.scheduler import RealClock, VirtualClock
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.internals.engine import Inbox


def harness_with(plugin: type, pods: int = 1) -> SchedulerHarness:
    return SchedulerHarness(
        [make_node(name="n"), *(make_pod(name=f"p{at}") for at in range(pods))],
        plugins={plugin.__name__: plugin},
        config=profile_config(enable=[plugin.__name__]),
    )


class Plugin:
    """Keeps its handle, and registers no events."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]


class ActivatesAgain(Plugin):
    """Makes each pod active again that it has rejected."""

    @hookimpl
    def filter(self, pod: Pod) -> Status:
        self.handle.activate([pod])
        return Status.unschedulable("not now")


class AllowsWithoutWait(Plugin):
    """Lets every other pod wait; the next one allows it for a plugin without a wait."""

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        waiting = list(self.handle.waiting_pods())
        if not waiting:
            self.handle.activate(self.handle.informers.list(Pod))
            return PermitWait(60)
        waiting[0].allow("Slow")
        return None

    @hookimpl
    def reserve(self) -> None:
        """Required, so that unreserve is called."""

    @hookimpl
    def unreserve(self) -> None:
        for waiting in self.handle.waiting_pods():
            waiting.reject(self.handle.plugin_name, "another one has failed")


class TicksWithoutDelay(Plugin):
    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(0, self.start)

    @hookimpl
    def filter(self) -> None: ...


class WritesWhenItChanges(Plugin):
    writes = (Write(Verb.UPDATE, Node),)

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        handle.informers.on_change(Node, self.follow)

    def follow(self, _old: Node | None, new: Node | None) -> None:
        if new is not None:
            labels = {"seen": new.metadata.resource_version}
            metadata = replace(new.metadata, labels=labels)
            self.handle.cluster.update(replace(new, metadata=metadata))

    @hookimpl
    def filter(self) -> None: ...


@pytest.mark.long
def test_pod_that_is_active_again_after_each_attempt_ends_the_simulation() -> None:
    with harness_with(ActivatesAgain) as kit, pytest.raises(EndlessLoopError) as raised:
        kit.advance(20)
    assert "'default/p0' was tried more than" in str(raised.value)
    assert "not now" in str(raised.value)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_error_in_permit_that_repeats_at_once_is_shown() -> None:
    with (
        harness_with(AllowsWithoutWait, 3) as kit,
        pytest.raises(EndlessLoopError, match="UnknownObjectionError"),
    ):
        kit.advance(20)


@pytest.mark.long
def test_callback_that_changes_what_it_follows_ends_the_simulation() -> None:
    with harness_with(WritesWhenItChanges) as kit, pytest.raises(EndlessLoopError):
        kit.advance(20)


def test_timer_that_sets_itself_without_delay_ends_the_simulation() -> None:
    with pytest.raises(EndlessLoopError, match=r"TicksWithoutDelay\.start"):
        harness_with(TicksWithoutDelay).advance(20)


def test_timers_of_one_moment_are_no_endless_loop() -> None:
    clock = VirtualClock()
    ran: list[int] = []
    for at in range(12_000):
        clock.call_later(1.0, partial(ran.append, at))
    clock.advance(2.0)
    assert len(ran) == 12_000


def test_real_clock_goes_on_after_a_long_chain_of_timers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = RealClock()

    def tick() -> None:
        clock.call_later(0, tick)

    tick()
    assert clock.run_due() >= 10_000
    assert clock.next_due() is not None
    assert "set timers with a delay" in caplog.text
    assert "or for a time after clock.now()" in caplog.text


def test_calls_that_post_each_other_are_an_error_in_virtual_time() -> None:
    inbox = Inbox(is_virtual=True)

    def again() -> None:
        inbox.post(again)

    inbox.post(again)
    with pytest.raises(EndlessLoopError, match="again"):
        inbox.drain()


def test_calls_that_post_each_other_end_a_turn_in_real_time() -> None:
    inbox = Inbox()

    def again() -> None:
        inbox.post(again)

    inbox.post(again)
    assert inbox.drain()
    assert inbox.has_work
