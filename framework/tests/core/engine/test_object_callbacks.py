"""``handle.informers.on_change``: plugins get the changes of objects as they arrive."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, cast

import pytest
from msgspec.structs import replace

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    Node,
    NodeInfo,
    PermitWait,
    Pod,
    PodUse,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.errors import ProfileError, UnfollowedKindError, VerificationError
from quaymaster.objects import ApiValue, PriorityClass
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import (
    PluginHarness,
    SchedulerHarness,
    make_metadata,
    make_node,
    make_pod,
)
from tests.kit.documents import HEADER

VERIFIED = SchedulerOptions(verify=1)
Seen = tuple[str, str]


class RackSpec(ApiValue, frozen=True, kw_only=True):
    free: int = 0


class Rack(ApiObject, frozen=True, kw_only=True):
    """An object named like its node."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Rack"
    plural: ClassVar[str] = "racks"
    namespaced: ClassVar[bool] = False

    spec: RackSpec = RackSpec()
    notes: dict[str, object] = {}


def make_rack(name: str = "n0", free: int = 1) -> Rack:
    return Rack(metadata=make_metadata(Rack, name=name), spec=RackSpec(free=free))


class Racks:
    """Passes the nodes whose rack has room; its answers are cached per node."""

    kinds = (Rack,)
    reads = ()
    scope = Scope.NODE
    pod_use = PodUse.NONE
    filtered: ClassVar[list[str]] = []
    reports: ClassVar[bool] = True
    in_start: ClassVar[bool] = False

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        self.free: dict[str, int] = {}
        self.seen: list[Seen] = []
        self.end: Callable[[], None] = lambda: None
        if not self.in_start:
            self.follow()

    def follow(self) -> None:
        self.end = self.handle.informers.on_change(Rack, self.learn)

    @hookimpl
    def start(self) -> None:
        self.seen.append(("start", ""))
        if self.in_start:
            self.follow()

    def learn(self, old: Rack | None, new: Rack | None) -> None:
        rack = new or old
        assert rack is not None
        verb = "added" if old is None else "deleted" if new is None else "changed"
        self.seen.append((verb, rack.name))
        self.free[rack.name] = 0 if new is None else new.spec.free
        if self.reports:
            self.handle.changed(nodes=[rack.name])

    @hookimpl
    def events_to_register(self) -> list[Any]:
        return []

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return ""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.filtered.append(node.name)
        if self.free.get(node.name, 0) > 0:
            return None
        return Status.unresolvable("the rack is full")


class Fails(Racks):
    """Has a callback that raises."""

    def learn(self, old: Rack | None, new: Rack | None) -> None:
        raise KeyError("zone")


class Writes(Racks):
    """Has a callback that changes its argument."""

    def learn(self, old: Rack | None, new: Rack | None) -> None:
        assert new is not None
        new.notes["seen"] = True


class Answers(Racks):
    """Has a callback that is written like a hook, or like a hint."""

    answer: ClassVar[object] = 3

    def learn(self, old: Rack | None, new: Rack | None) -> None:
        return self.answer  # type: ignore[return-value]  # the mistake


class Approval:
    """Lets pods wait on Permit until a rack of their name exists."""

    kinds = (Rack,)
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        handle.informers.on_change(Rack, self.approve)

    def approve(self, old: Rack | None, new: Rack | None) -> None:
        for waiting in self.handle.waiting_pods():
            if new is not None and waiting.pod.name == new.name:
                waiting.allow(self.handle.plugin_name)

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(timeout_seconds=600)


@pytest.fixture(autouse=True)
def fresh() -> None:
    Racks.filtered, Racks.reports, Racks.in_start = [], True, False


def config(*names: str) -> dict[str, Any]:
    enabled = [{"name": name} for name in names]
    plugins = {"multiPoint": {"enabled": enabled}}
    return {**HEADER, "profiles": [{"plugins": plugins}]}


def make_harness(
    *objects: ApiObject,
    plugin: type = Racks,
    nodes: int = 2,
    options: SchedulerOptions = VERIFIED,
) -> SchedulerHarness:
    return SchedulerHarness(
        [*(make_node(name=f"n{number}") for number in range(nodes)), *objects],
        plugins={plugin.__name__: plugin},
        config=config(plugin.__name__),
        options=options,
    )


def place(harness: SchedulerHarness, name: str) -> str:
    harness.cluster.create(make_pod(name=name))
    harness.settle()
    return harness.node_of(name)


def seen(harness: SchedulerHarness, plugin: type[Racks] = Racks) -> Sequence[Seen]:
    found: list[Seen] = harness.plugin(plugin).seen
    return found


def test_existing_objects_are_added_before_start() -> None:
    harness = make_harness(make_rack("n0"), make_rack("n1"))
    assert seen(harness) == [("added", "n0"), ("added", "n1"), ("start", "")]


def test_callback_of_start_gets_existing_objects_at_once() -> None:
    Racks.in_start = True
    harness = make_harness(make_rack("n0"))
    assert seen(harness) == [("start", ""), ("added", "n0")]


def test_each_change_is_delivered_once_and_in_order() -> None:
    harness = make_harness()
    harness.cluster.create(make_rack("n0", 1))
    harness.cluster.update(make_rack("n0", 2))
    harness.cluster.delete(Rack, "n0")
    harness.settle()
    changes = [("added", "n0"), ("changed", "n0"), ("deleted", "n0")]
    assert list(seen(harness))[1:] == changes


def test_changed_node_is_judged_again_and_no_other() -> None:
    harness = make_harness(make_rack("n0", 1), make_rack("n1", 0), nodes=40)
    assert place(harness, "a") == "n0"
    del Racks.filtered[:]
    harness.cluster.update(make_rack("n1", 1))
    harness.cluster.update(make_rack("n0", 0))
    assert place(harness, "b") == "n1"
    options = SchedulerOptions()
    harness = make_harness(make_rack("n0", 1), nodes=40, options=options)
    place(harness, "a")
    del Racks.filtered[:]
    harness.cluster.update(make_rack("n0", 2))
    assert place(harness, "b") == "n0"
    assert Racks.filtered == ["n0"]


def test_change_of_one_node_requeues_the_rejected_pods() -> None:
    harness = make_harness(make_rack("n0", 0))
    assert place(harness, "a") == ""
    harness.cluster.update(make_rack("n0", 1))
    harness.settle()
    assert harness.node_of("a") == "n0"


def test_change_without_requeue_only_drops_cached_answers() -> None:
    class Quiet(Racks):
        def learn(self, old: Rack | None, new: Rack | None) -> None:
            assert new is not None
            self.free[new.name] = new.spec.free
            self.handle.changed(nodes=[new.name], requeue=False)

    harness = make_harness(make_rack("n0", 0), plugin=Quiet)
    place(harness, "a")
    harness.cluster.update(make_rack("n0", 1))
    harness.advance(60)
    assert harness.node_of("a") == ""
    assert place(harness, "b") == "n0"


def test_verify_finds_a_plugin_that_forgets_to_report() -> None:
    Racks.reports = False
    harness = make_harness(make_rack("n0", 1))
    place(harness, "a")
    harness.cluster.update(make_rack("n0", 0))
    with pytest.raises(VerificationError, match="n0: feasible, expected"):
        place(harness, "b")


def test_object_releases_a_pod_that_waits_on_permit() -> None:
    harness = make_harness(plugin=Approval)
    harness.cluster.create(make_pod(name="p"))
    harness.advance(5)
    assert harness.node_of("p") == ""
    harness.cluster.create(make_rack("p"))
    harness.advance(1)
    assert harness.node_of("p") != ""


def test_callback_that_raises_is_one_error_that_names_plugin_and_line() -> None:
    harness = make_harness(make_rack(), plugin=Fails)
    [error] = harness.errors
    assert (error.plugin, error.hook, error.pod) == ("Fails", "on_change", "")
    assert isinstance(error.error, KeyError)


def test_later_callbacks_still_run_after_one_that_raises() -> None:
    class Later(Racks):
        """The same, in another class."""

    harness = SchedulerHarness(
        [make_node(name="n0"), make_rack()],
        plugins={"Fails": Fails, "Later": Later},
        config=config("Fails", "Later"),
    )
    assert ("added", "n0") in seen(harness, Later)


@pytest.mark.parametrize(
    ("answer", "name"), [(3, "int"), (Status.unschedulable("full"), "Status")]
)
def test_callback_must_return_nothing(
    answer: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answers, "answer", answer)
    harness = make_harness(make_rack(), plugin=Answers)
    [error] = harness.errors
    text = f"plugin 'Answers': on_change returned {name}, expected None"
    assert str(error.error) == text


def test_callback_that_changes_its_object_is_found() -> None:
    options = SchedulerOptions(check_mutations=True)
    harness = make_harness(make_rack(), plugin=Writes, options=options)
    [error] = harness.errors
    text = "on_change changed notes of rack 'n0', which it may only read"
    assert text in str(error.error)


def test_callbacks_end_when_the_plugin_is_replaced() -> None:
    harness = make_harness(make_rack())
    old = harness.plugin(Racks)
    harness.reload(config("Racks"))
    harness.settle()
    harness.cluster.update(make_rack("n0", 5))
    harness.settle()
    assert old.free == {"n0": 1}
    assert harness.plugin(Racks).free == {"n0": 5}


def test_new_plugin_gets_all_objects_when_it_replaces_another() -> None:
    harness = make_harness(make_rack())
    harness.reload(config("Racks"))
    harness.settle()
    assert seen(harness) == [("added", "n0"), ("start", "")]


def test_plugin_can_end_its_callback() -> None:
    harness = make_harness(make_rack())
    harness.plugin(Racks).end()
    harness.cluster.delete(Rack, "n0")
    harness.settle()
    assert list(seen(harness)) == [("added", "n0"), ("start", "")]


def test_nodes_and_pods_have_callbacks_too() -> None:
    names: list[str] = []

    class Watches(Racks):
        def follow(self) -> None:
            informers = self.handle.informers
            informers.on_change(Node, lambda _old, new: self.note(new))
            informers.on_change(Pod, lambda _old, new: self.note(new))

        def note(self, obj: ApiObject | None) -> None:
            assert obj is not None
            names.append(obj.name)

    harness = make_harness(make_pod(name="p"), plugin=Watches, nodes=1)
    assert names == ["n0", "p"]
    assert not harness.errors


@pytest.mark.parametrize(
    ("callback", "problem"),
    [
        (lambda rack: None, r"cannot be called with \(old, new\): too many positional"),
        (3, r"on_change\(Rack\): expected a function of \(old, new\), got int"),
    ],
    ids=["one argument", "no function"],
)
def test_wrong_callback_is_reported_at_load(callback: object, problem: str) -> None:
    class Wrong(Racks):
        def follow(self) -> None:
            self.handle.informers.on_change(Rack, cast("Any", callback))

    with pytest.raises(ProfileError, match=problem):
        make_harness(plugin=Wrong)


def test_async_callback_is_reported_at_load() -> None:
    class Waits(Racks):
        def follow(self) -> None:
            async def learn(old: object, new: object) -> None:
                pass

            self.handle.informers.on_change(Rack, learn)  # type: ignore[arg-type]  # the mistake

    with pytest.raises(ProfileError, match="expected a plain function"):
        make_harness(plugin=Waits)


def test_kind_that_is_not_followed_is_reported_at_load() -> None:
    class Looks(Racks):
        def follow(self) -> None:
            self.handle.informers.on_change(PriorityClass, lambda _old, _new: None)

    with pytest.raises(UnfollowedKindError, match="PriorityClass is not followed"):
        make_harness(plugin=Looks)


def test_text_is_no_kind() -> None:
    class Names(Racks):
        def follow(self) -> None:
            self.handle.informers.on_change("Rack", print)  # type: ignore[arg-type]  # the mistake

    with pytest.raises(ProfileError, match="expected a class of objects, got 'Rack'"):
        make_harness(plugin=Names)


def test_callback_is_registered_once() -> None:
    class Repeats(Racks):
        @hookimpl
        def pre_filter(self) -> None:
            self.follow()

    harness = make_harness(make_rack(), plugin=Repeats)
    place(harness, "a")
    assert "the callback is registered already" in harness.message("a")


def test_another_thread_cannot_register_a_callback() -> None:
    harness = make_harness()
    problems: list[str] = []

    def register() -> None:
        try:
            harness.plugin(Racks).follow()
        except RuntimeError as error:
            problems.append(str(error))

    thread = threading.Thread(target=register)
    thread.start()
    thread.join()
    assert "expected the scheduling thread" in problems[0]


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [("n0", r"write nodes=\['n0'\]"), ([make_node(name="n0")], "among them")],
    ids=["a string", "objects"],
)
def test_changed_takes_names_of_nodes(nodes: object, problem: str) -> None:
    harness = make_harness()
    with pytest.raises(TypeError, match=problem):
        harness.plugin(Racks).handle.changed(nodes=cast("Any", nodes))


def test_changed_ignores_nodes_that_do_not_exist() -> None:
    harness = make_harness(make_rack())
    harness.plugin(Racks).handle.changed(nodes=["gone"])
    assert place(harness, "a") == "n0"


def test_plugin_harness_delivers_objects_and_shows_what_was_reported() -> None:
    with PluginHarness(Racks, nodes=[make_node(name="n0")]) as harness:
        assert "n0" in harness.filter(make_pod())
        harness.put(make_rack())
        assert harness.filter(make_pod()) == {}
        assert harness.changed_nodes == {"n0"}
        assert not harness.has_changed
        harness.remove(make_rack())
        assert "n0" in harness.filter(make_pod())
        assert harness.plugin.seen == [("added", "n0"), ("deleted", "n0")]


def test_plugin_harness_raises_what_a_callback_raises() -> None:
    harness = PluginHarness(Fails, nodes=[make_node(name="n0")])
    with pytest.raises(KeyError, match="zone"):
        harness.put(make_rack())


def test_plugin_harness_delivers_new_versions_of_pods() -> None:
    pod = make_pod(name="p")
    with PluginHarness(Racks, nodes=[make_node(name="n0")], objects=[pod]) as harness:
        harness.put(replace(pod, node_name="n0"))
        assert [*harness.snapshot.nodes.infos[0].pods] == [pod.uid]  # type: ignore[union-attr]  # there is a node


class HelpsOnly:
    """Has no hook that rejects pods, but an event."""

    kinds = (Rack,)

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        handle.informers.on_change(Rack, self.retry)
        self.rejected: dict[str, Pod] = {}

    def retry(self, old: Rack | None, new: Rack | None) -> None:
        self.handle.activate(self.rejected.values())

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        self.rejected[pod.uid] = pod
        return Status.unschedulable("wait for a rack")


def test_events_of_a_plugin_that_rejects_nothing_are_refused_at_load() -> None:
    class Registers(HelpsOnly):
        @hookimpl
        def events_to_register(self) -> Sequence[ClusterEventWithHint]:
            return [EventsOf(Rack)(Change.ADD)]

    with pytest.raises(ProfileError, match="so they requeue nothing: register none"):
        make_harness(plugin=Registers)


def test_callback_of_a_post_filter_plugin_tries_its_pods_again() -> None:
    harness = make_harness(plugin=HelpsOnly, nodes=0)
    place(harness, "a")
    before = len(harness.attempts)
    harness.cluster.create(make_rack())
    harness.settle()
    assert len(harness.attempts) > before
