"""A configuration is replaced between two cycles.

What comes from the profiles is renewed; pods keep their history, and whatever has a
node already goes on with the plugins that gave it the node.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs
import msgspec
import pytest

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    PermitWait,
    Pod,
    QueuedPodInfo,
    Status,
    hookimpl,
)
from quaymaster.config import (
    ConfigChanges,
    Kubernetes,
    KubernetesError,
    default_config,
    parse_config,
)
from quaymaster.errors import QuaymasterError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import (
    PluginRegistry,
    QueueName,
    RealClock,
    Scheduler,
    WorkerExecutor,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of

Document = Mapping[str, object]


@attrs.frozen(kw_only=True)
class WallArgs:
    """What the wall lets through.

    Attributes:
        letter: The first letter of the names of the pods that pass.
        hears: Whether it registers for new nodes.
    """

    letter: str = ""
    hears: bool = False


class Wall:
    """Rejects pods by their name, whatever happens."""

    Args: ClassVar = WallArgs

    def __init__(self, args: WallArgs, handle: Handle) -> None:
        self.letter = args.letter
        self.hears = args.hears

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        event = ClusterEvent(EventResource.NODE, ActionType.ADD)
        return [ClusterEventWithHint(event)] if self.hears else []

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        if self.letter and pod.name.startswith(self.letter):
            return None
        return Status.unschedulable("node(s) stood behind a wall")


class Door:
    """Gates pods that have no key."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return []

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return None if "key" in pod.labels else Status.unresolvable("no key")


class Latch(Door):
    """Another one that does the same."""


class LastNameFirst:
    """Sorts pods from z to a."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> list[int]:
        return [-ord(letter) for letter in queued.pod.name]


class Guard:
    """Makes pods wait on Permit and records the later calls."""

    log: ClassVar[list[str]] = []
    made: ClassVar[int] = 0

    def __init__(self, args: None, handle: Handle) -> None:
        Guard.made += 1
        self.number = Guard.made

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        Guard.log.append(f"{self.number} reserve {pod.name}")

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        Guard.log.append(f"{self.number} unreserve {pod.name}")

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(60.0)

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        Guard.log.append(f"{self.number} post_bind {pod.name}")


class Broken:
    """Cannot be built."""

    def __init__(self, args: None, handle: Handle) -> None:
        raise RuntimeError("the crane fell over")

    @hookimpl
    def filter(self) -> None:
        return None


class Mumbling:
    """Registers a value that is not an event."""

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> list[str]:
        return ["node added"]

    @hookimpl
    def filter(self) -> None:
        return None


PLUGINS = {
    plugin.__name__: plugin
    for plugin in (Wall, Door, Latch, LastNameFirst, Guard, Broken, Mumbling)
}
DEFAULT = "default-scheduler"


def profile(
    *plugins: str, name: str = DEFAULT, sort: str = "", **args: object
) -> Document:
    points: dict[str, object] = {
        "multiPoint": {"enabled": [{"name": p} for p in plugins]}
    }
    if sort:
        points["queueSort"] = {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": sort}],
        }
    given = [{"name": key, "args": value} for key, value in args.items()]
    return {"schedulerName": name, "plugins": points, "pluginConfig": given}


def document(*profiles: Document, **settings: object) -> Document:
    return {
        **HEADER,
        "profiles": list(profiles) or [profile()],
        **settings,
    }


def started(config: Document, *objects: ApiObject) -> SchedulerHarness:
    Guard.log, Guard.made = [], 0
    return SchedulerHarness(
        [make_node(name="n"), *objects], plugins=PLUGINS, config=config
    )


def reload(harness: SchedulerHarness, config: Document) -> ConfigChanges:
    """Replace the configuration without an attempt."""
    answer = harness.reload(config)
    scheduler_of(harness).catch_up()
    return answer.result(0)


def queue_of(harness: SchedulerHarness, name: str) -> QueueName | None:
    pending = harness.why_pending(name)
    return None if pending is None else pending.queue


# Renewed from the profiles ----------------------------------------------------------


def test_pods_that_a_plugin_rejected_are_tried_again_once_it_is_gone() -> None:
    harness = started(document(profile("Wall")), make_pod(name="p"))
    harness.settle()
    assert queue_of(harness, "p") is QueueName.UNSCHEDULABLE
    reload(harness, document())
    harness.advance(5.0)
    assert harness.node_of("p") == "n"


def test_pods_that_a_plugin_rejected_are_tried_again_with_its_new_arguments() -> None:
    harness = started(document(profile("Wall")), make_pod(name="p"))
    harness.settle()
    reload(harness, document(profile("Wall", Wall={"letter": "p"})))
    harness.advance(5.0)
    assert harness.node_of("p") == "n"


@pytest.mark.long
def test_settling_includes_what_a_reload_made_possible() -> None:
    harness = started(document(profile("Wall")), make_pod(name="p"))
    for _ in range(20):
        harness.reload(document(profile("Wall")))
        harness.settle()
    assert len(harness.attempts) == 20
    harness.reload(document())
    harness.settle()
    assert harness.node_of("p") == "n"


def test_a_pod_keeps_its_history_and_waits_for_the_end_of_its_backoff() -> None:
    harness = started(document(profile("Wall")), make_pod(name="p"))
    harness.schedule_one()
    before = harness.why_pending("p")
    reload(harness, document(profile("Wall")))
    after = harness.why_pending("p")
    assert before is not None
    assert after is not None
    assert before.queue is QueueName.UNSCHEDULABLE
    assert after.queue is QueueName.BACKOFF
    assert (
        (after.attempts, after.since)
        == (before.attempts, before.since)
        == (
            1,
            harness.clock.now(),
        )
    )


def test_backoff_is_computed_again_from_the_time_of_the_failure() -> None:
    settings = {"podInitialBackoffSeconds": 8, "podMaxBackoffSeconds": 8}
    harness = started(document(profile("Wall"), **settings), make_pod(name="p"))
    failed_at = harness.clock.now()
    harness.schedule_one()
    retries = []
    for seconds in (8, 2, 5):
        settings = {"podInitialBackoffSeconds": seconds, "podMaxBackoffSeconds": 8}
        reload(harness, document(profile("Wall"), **settings))
        pending = harness.why_pending("p")
        assert pending is not None
        assert pending.retry_at is not None
        retries.append(pending.retry_at - failed_at)
    assert retries == [9, 3, 6]  # through the last second of the backoff


def test_active_pods_are_sorted_by_the_new_plugin() -> None:
    pods = [make_pod(name=name) for name in "abc"]
    harness = started(document(), *pods)
    harness.schedule_one()
    reload(harness, document(profile("LastNameFirst", sort="LastNameFirst")))
    harness.settle()
    assert harness.attempts == ["default/a", "default/c", "default/b"]


def test_pods_with_equal_new_keys_keep_the_old_order() -> None:
    pods = [make_pod(name=name, priority=1) for name in "hdakcb"]
    harness = started(document(), *pods)
    order = [queued.key for queued in scheduler_of(harness).queue.active()]
    reload(harness, document(podMaxBackoffSeconds=99))
    assert [queued.key for queued in scheduler_of(harness).queue.active()] == order


def test_a_new_gate_holds_back_pods_that_were_active_or_in_backoff() -> None:
    harness = started(document(profile("Wall")), make_pod(name="late"))
    harness.schedule_one()
    reload(harness, document(profile("Wall")))
    harness.cluster.create(make_pod(name="new"))
    harness.cluster.create(make_pod(name="keyed", labels={"key": "1"}))
    scheduler_of(harness).catch_up()
    assert [queue_of(harness, name) for name in ("late", "new", "keyed")] == [
        QueueName.BACKOFF,
        QueueName.ACTIVE,
        QueueName.ACTIVE,
    ]
    reload(harness, document(profile("Door")))
    gates = {name: harness.why_pending(name) for name in ("late", "new", "keyed")}
    assert {name: why.gated_by for name, why in gates.items() if why} == {
        "late": "Door",
        "new": "Door",
        "keyed": "",
    }


@pytest.mark.parametrize(
    ("then", "gate"), [((), ""), (("Latch",), "Latch")], ids=["none", "another"]
)
def test_a_pod_whose_gate_is_gone_passes_the_remaining_gates(
    then: Sequence[str], gate: str
) -> None:
    harness = started(document(profile("Door")), make_pod(name="p"))
    harness.settle()
    reload(harness, document(profile(*then)))
    pending = harness.why_pending("p")
    assert pending is not None
    assert pending.gated_by == gate
    harness.settle()
    assert bool(harness.node_of("p")) is not bool(gate)


def test_a_gated_pod_that_is_gated_again_has_not_been_tried() -> None:
    harness = started(document(profile("Door")), make_pod(name="p"))
    harness.settle()
    reload(harness, document(profile("Door")))
    harness.settle()
    assert harness.attempts == []


@pytest.mark.parametrize("hears", [False, True])
def test_events_are_those_that_the_new_plugins_registered(hears: bool) -> None:
    def walled(*, hears: bool) -> Document:
        return document(profile("Wall", Wall={"hears": hears}))

    harness = started(walled(hears=not hears), make_pod(name="p"))
    harness.settle()
    reload(harness, walled(hears=hears))
    harness.advance(5.0)
    harness.cluster.create(make_node(name="m"))
    harness.advance(15.0)
    assert len(harness.attempts) == 2 + hears


def test_a_nomination_lives_as_long_as_its_profile() -> None:
    pod = make_pod(name="p")
    nominated = msgspec.structs.replace(pod.status, nominated_node_name="n")
    harness = started(document(), msgspec.structs.replace(pod, status=nominated))
    reload(harness, document(profile("Door")))
    assert [pod.name for pod in scheduler_of(harness).queue.nominator.pods_on("n")] == [
        "p"
    ]
    reload(harness, document(profile(name="other")))
    assert scheduler_of(harness).queue.nominator.pods_on("n") == ()


# Profiles that come and go ----------------------------------------------------------


def test_pods_of_a_new_profile_are_queued() -> None:
    over = make_pod(name="over", scheduler_name="other", phase="Failed")
    bound = make_pod(name="bound", scheduler_name="other", node="n")
    harness = started(
        document(), make_pod(name="p", scheduler_name="other"), over, bound
    )
    harness.settle()
    assert harness.attempts == []
    changes = reload(harness, document(profile(), profile(name="other")))
    assert changes == ConfigChanges(added=("other",))
    assert [queued.key for queued in scheduler_of(harness).queue] == ["default/p"]
    harness.settle()
    assert harness.node_of("p") == "n"


def test_pods_of_a_profile_that_is_gone_leave_the_queue_and_come_back_with_it() -> None:
    both = document(profile(), profile("Wall", name="other"))
    harness = started(both, make_pod(name="p", scheduler_name="other"))
    harness.settle()
    changes = reload(harness, document())
    assert changes == ConfigChanges(removed=("other",))
    assert harness.why_pending("p") is None
    harness.settle()
    reload(harness, document(profile(), profile(name="other")))
    harness.settle()
    assert harness.attempts == ["default/p", "default/p"]
    assert harness.node_of("p") == "n"


def test_pods_that_change_profile_do_not_wake_each_other() -> None:
    harness = started(
        document(profile(name="a")),
        make_pod(name="p", scheduler_name="a"),
        make_pod(name="q", scheduler_name="b"),
    )
    reload(harness, document(profile(name="b")))
    harness.settle()
    assert (harness.node_of("p"), harness.node_of("q")) == ("", "n")


# Pods that have a node --------------------------------------------------------------


def allow(harness: SchedulerHarness) -> None:
    for waiting in list(scheduler_of(harness).waiting):
        waiting.allow("Guard")


def test_a_waiting_pod_is_bound_by_the_plugins_that_it_waited_for() -> None:
    harness = started(document(profile("Guard")), make_pod(name="p"))
    harness.advance(1.0)
    reload(harness, document())
    assert harness.waiting_pods() == ["default/p"]
    allow(harness)
    harness.settle()
    assert harness.node_of("p") == "n"
    assert Guard.log == ["1 reserve p", "1 post_bind p"]


def test_a_waiting_pod_that_fails_is_unreserved_once_and_retried() -> None:
    harness = started(document(profile("Guard")), make_pod(name="p"))
    harness.advance(1.0)
    reload(harness, document())
    harness.advance(70.0)  # no plugin allows it: its wait times out
    assert Guard.log == ["1 reserve p", "1 unreserve p"]
    assert harness.attempts == ["default/p", "default/p"]
    assert harness.node_of("p") == "n"


def test_the_new_plugins_may_allow_what_waits_for_the_old_ones_of_their_name() -> None:
    harness = started(document(profile("Guard")), make_pod(name="p"))
    harness.advance(1.0)
    reload(harness, document(profile("Guard")))
    allow(harness)
    harness.settle()
    assert Guard.log == ["1 reserve p", "1 post_bind p"]


def test_a_waiting_pod_whose_profile_is_gone_ends_and_does_not_come_back() -> None:
    both = document(profile(), profile("Guard", name="other"))
    harness = started(both, make_pod(name="p", scheduler_name="other"))
    harness.advance(1.0)
    reload(harness, document())
    harness.advance(70.0)
    assert Guard.log == ["1 reserve p", "1 unreserve p"]
    assert harness.why_pending("p") is None
    assert harness.attempts == ["default/p"]
    assert scheduler_of(harness).queue.in_flight == []
    assert harness.pod("p").status.nominated_node_name == ""


def test_a_waiting_pod_that_is_rejected_without_a_profile_is_not_queued() -> None:
    both = document(profile(), profile("Guard", name="other"))
    harness = started(both, make_pod(name="p", scheduler_name="other"))
    harness.advance(1.0)
    reload(harness, document())
    for waiting in scheduler_of(harness).waiting:
        waiting.reject("Guard", "no")
    scheduler_of(harness).catch_up()
    assert Guard.log == ["1 reserve p", "1 unreserve p"]
    assert harness.why_pending("p") is None


def test_a_waiting_pod_whose_profile_comes_back_is_not_queued_twice() -> None:
    both = document(profile(), profile("Guard", name="other"))
    harness = started(both, make_pod(name="p", scheduler_name="other"))
    harness.advance(1.0)
    reload(harness, document())
    reload(harness, document(profile(), profile(name="other")))
    assert harness.why_pending("p") is None
    harness.advance(70.0)
    assert Guard.log == ["1 reserve p", "1 unreserve p"]
    assert harness.attempts == ["default/p", "default/p"]
    assert harness.node_of("p") == "n"


def test_a_deleted_waiting_pod_whose_profile_is_gone_frees_its_place() -> None:
    both = document(profile(), profile("Guard", name="other"))
    harness = started(both, make_pod(name="p", scheduler_name="other"))
    harness.advance(1.0)
    reload(harness, document())
    harness.cluster.delete(Pod, "default/p")
    harness.advance(1.0)  # long before its time on Permit is over
    assert Guard.log == ["1 reserve p", "1 unreserve p"]
    assert harness.waiting_pods() == []
    assert [uid for info in scheduler_of(harness).snapshot for uid in info.pods] == []


# Requests and answers ---------------------------------------------------------------


def test_the_answer_lists_the_differences() -> None:
    harness = started(document(profile(name="a"), profile(name="b")))
    changes = reload(
        harness,
        document(
            profile("Wall", name="b"),
            profile(name="c"),
            podMaxBackoffSeconds=20,
            leaderElection={"leaderElect": False},
        ),
    )
    assert changes == ConfigChanges(
        added=("c",),
        removed=("a",),
        changed=("b",),
        settings=("podMaxBackoffSeconds", "leaderElection"),
        need_restart=("leaderElection",),
    )
    assert str(changes) == (
        "profile 'c' added, profile 'a' removed, profile 'b' changed, "
        "podMaxBackoffSeconds changed, leaderElection changed, "
        "for leaderElection: restart to apply"
    )


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            document(profile(), profile("Broken", name="b")),
            "profile 'b': plugin 'Broken'.*: RuntimeError: the crane fell over",
        ),
        (
            document(profile("Mumbling")),
            "'Mumbling'.*: events_to_register returned a str among its events",
        ),
        (
            document(extenders=[{"urlPrefix": "nowhere", "filterVerb": "filter"}]),
            "extenders: urlPrefix: expected a URL .* got 'nowhere'",
        ),
    ],
    ids=["constructor", "events", "extender"],
)
def test_a_configuration_that_cannot_be_built_changes_nothing(
    config: Document, problem: str
) -> None:
    harness = started(document(profile("Wall")), make_pod(name="p"))
    harness.settle()
    scheduler = scheduler_of(harness)
    before = dict(scheduler.frameworks), scheduler.config, harness.why_pending("p")
    with pytest.raises(QuaymasterError, match=problem):
        reload(harness, config)
    after = dict(scheduler.frameworks), scheduler.config, harness.why_pending("p")
    assert after == before
    harness.cluster.create(make_pod(name="q"))
    harness.settle()
    assert "behind a wall" in harness.message("q")


def test_a_reload_that_is_cancelled_in_time_does_not_happen() -> None:
    harness = started(document())
    answer = harness.reload(document(profile("Wall")))
    assert answer.cancel()
    harness.cluster.create(make_pod(name="p"))
    harness.settle()
    assert harness.node_of("p") == "n"


def test_the_last_of_several_reloads_counts() -> None:
    harness = started(document(), make_pod(name="p"))
    for config in (document(profile("Wall")), document(profile("Guard")), document()):
        harness.reload(config)
    harness.settle()
    assert harness.node_of("p") == "n"


def test_a_scheduler_that_runs_takes_a_reload_from_another_thread() -> None:
    clock = RealClock()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(name="n")])
    registry = PluginRegistry.discover().with_plugin(Wall, "Wall")
    walled, free = (
        parse_config(given, registry)
        for given in (document(profile("Wall")), document())
    )
    scheduler = Scheduler(
        cluster, walled, registry, clock=clock, make_executor=WorkerExecutor
    )
    scheduler.start()
    stop = threading.Event()
    thread = threading.Thread(target=scheduler.run, args=(stop,))
    thread.start()
    try:
        answers = [scheduler.reload(config) for config in (free, walled, free)]
        changes = [answer.result(30) for answer in answers]
    finally:
        stop.set()
        scheduler.wake()
        thread.join(30)
    assert changes == [ConfigChanges(changed=(DEFAULT,))] * 3
    assert scheduler.config is free


def test_a_configuration_for_another_version_is_refused_as_a_whole() -> None:
    harness = SchedulerHarness([make_node(name="n")], kubernetes=Kubernetes("1.36"))
    scheduler, before = scheduler_of(harness), harness.config
    newer = default_config(harness.registry, kubernetes=Kubernetes("1.37"))
    answer = scheduler.reload(newer)
    scheduler.catch_up()
    expected = "the scheduler runs as 1.36, got 1.37: start a new scheduler"
    with pytest.raises(KubernetesError, match=expected):
        answer.result(timeout=0)
    assert scheduler.config is before
