"""A failed hook is reported in the pod's message, in the log and to tests."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from quaymaster import Code, CycleState, Handle, Pod, Scope, StateKey, Status, hookimpl
from quaymaster.errors import PluginError
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER

HERE = f"{'/'.join(__name__.split('.'))}.py"
KEY: StateKey[int] = StateKey("never written")
TELLING_KEY: StateKey[Status] = StateKey(
    "PreFilterPorts", missing='reading "PreFilterPorts" from cycleState: not found'
)


class Plugin:
    """Runs the action of the test."""

    act: ClassVar[Callable[..., object]]

    def __init__(self, args: object, handle: Handle) -> None:
        pass


class Failing(Plugin):
    @hookimpl
    def filter(self, state: CycleState, pod: Pod) -> object:
        return type(self).act(state, pod)


def looks_up(_state: CycleState, pod: Pod) -> object:
    return pod.labels["tier"]


def looks_up_a_missing_key(_state: CycleState, _pod: Pod) -> object:
    return int(["no", "number"][1][:0] or "x")


def reads_state(state: CycleState, _pod: Pod) -> object:
    return state[KEY]


def says_two_lines(_state: CycleState, _pod: Pod) -> object:
    raise RuntimeError("first\nsecond")


def says_nothing(_state: CycleState, _pod: Pod) -> object:
    raise RuntimeError


def raises_a_status(_state: CycleState, _pod: Pod) -> object:
    raise Status.unschedulable("no")  # type: ignore[misc]  # that is what is tested


def gives_the_error(_state: CycleState, _pod: Pod) -> object:
    return Status.from_error(KeyError("tier"))


def says_only(status: object) -> Callable[..., object]:
    return lambda _state, _pod: status


def line_of(function: Callable[..., object]) -> int:
    """Return the line of the only statement of a function."""
    return function.__code__.co_firstlineno + 1


def harness_for(
    plugin: type, *names: str, objects: Sequence[Any] = ()
) -> SchedulerHarness:
    enabled = [{"name": plugin.__name__}]
    return SchedulerHarness(
        [
            make_node(name="a"),
            *objects,
            *(make_pod(name=name, uid=name) for name in names),
        ],
        plugins={plugin.__name__: plugin},
        config={
            **HEADER,
            "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}],
        },
    )


def tried(act: Callable[..., object], *names: str) -> SchedulerHarness:
    Failing.act = staticmethod(act)
    harness = harness_for(Failing, *(names or ("p",)))
    while harness.schedule_one():
        pass
    return harness


@pytest.mark.parametrize(
    ("act", "said"),
    [
        pytest.param(looks_up, "KeyError: 'tier' ({place})", id="a KeyError"),
        pytest.param(
            looks_up_a_missing_key,
            "ValueError: invalid literal for int() with base 10: 'x' ({place})",
            id="an error in what the plugin calls",
        ),
        pytest.param(
            reads_state,
            "StateNotFoundError: nothing was written under 'never written' in this "
            "attempt ({place})",
            id="an error in the framework",
        ),
        pytest.param(
            says_two_lines, "RuntimeError: first second ({place})", id="two lines"
        ),
        pytest.param(says_nothing, "RuntimeError ({place})", id="no text"),
        pytest.param(
            raises_a_status,
            "TypeError: exceptions must derive from BaseException ({place})",
            id="a status that is raised",
        ),
    ],
)
def test_an_exception_is_reported_with_its_type_and_the_plugins_line(
    act: Callable[..., object], said: str
) -> None:
    place = f"{HERE}:{line_of(act)}"
    harness = tried(act)
    expected = said.format(place=place)
    assert harness.message("p") == f'running "Failing" filter plugin: {expected}'


@pytest.mark.parametrize(
    ("status", "said"),
    [
        pytest.param(
            Status.from_error("no volume"), "no volume", id="an error with a text"
        ),
        pytest.param(Status.from_error(KeyError("k")), "'k'", id="an error it caught"),
        pytest.param(Status(Code.ERROR), "it gave no reason", id="no reason"),
        pytest.param(
            Status(Code.SUCCESS),
            "a Status with code Success is no answer: success is None",
            id="Success",
        ),
        pytest.param(
            Status(Code.WAIT), "Wait is no answer to this hook", id="Wait in a filter"
        ),
        pytest.param(
            Status.skip(), "Skip is no answer to this hook", id="Skip in a filter"
        ),
    ],
)
def test_a_status_keeps_its_message_or_gets_one(status: Status, said: str) -> None:
    harness = tried(says_only(status))
    assert harness.message("p") == f'running "Failing" filter plugin: {said}'


def test_a_key_can_define_the_message_for_a_missing_value() -> None:
    harness = tried(lambda state, _: state[TELLING_KEY])
    said = 'reading "PreFilterPorts" from cycleState: not found'
    assert harness.message("p") == f'running "Failing" filter plugin: {said}'
    assert harness.errors == []


class Misreading(Plugin):
    """Fails in ``reserve`` and reads a missing key in ``unreserve``."""

    @hookimpl
    def reserve(self) -> Status:
        return Status.unschedulable("taken")

    @hookimpl
    def unreserve(self, state: CycleState) -> None:
        _ = state[TELLING_KEY]


def test_a_missing_key_is_an_exception_in_hooks_without_an_answer() -> None:
    harness = harness_for(Misreading, "p")
    harness.settle()
    assert {(error.hook, str(error.error)) for error in harness.errors} == {
        ("unreserve", 'reading "PreFilterPorts" from cycleState: not found')
    }


def test_a_test_can_see_the_errors() -> None:
    harness = tried(looks_up)
    (error,) = harness.errors
    assert (error.plugin, error.hook, error.pod) == ("Failing", "filter", "default/p")
    assert isinstance(error.error, KeyError)
    assert error.error.__traceback__ is not None


@pytest.mark.parametrize("answer", [True, False, "no", 3.5, object()])
def test_a_broken_contract_is_an_error_as_well(answer: object) -> None:
    harness = tried(says_only(answer))
    (error,) = harness.errors
    assert isinstance(error.error, PluginError)
    said = f"plugin 'Failing': filter returned {type(answer).__name__}, expected Status"
    assert str(error.error).startswith(said)


def test_statuses_that_hooks_return_are_not_errors() -> None:
    assert tried(gives_the_error).errors == []


def test_the_traceback_is_logged_once_in_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = tried(looks_up, "p", "q", "r")
    first = caplog.records[0]
    place = f"{HERE}:{line_of(looks_up)}"
    assert [*caplog.records] == [first]
    assert first.levelno == logging.ERROR
    assert first.getMessage() == (
        f"plugin 'Failing': filter failed for pod default/p: KeyError: 'tier' ({place})"
    )
    assert first.exc_info is not None

    seen = len(harness.errors)
    harness.advance(59)
    assert len(harness.errors) > seen
    assert [*caplog.records] == [first]
    harness.advance(30)
    _, second = caplog.records
    assert "failures more since the last one logged" in second.getMessage()


class Wrapping:
    """Wraps the filter of another plugin."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl(wrapper=True)
    def filter(self) -> Iterator[None]:
        return (yield)


def test_the_error_of_a_wrapped_plugin_does_not_name_the_wrapper() -> None:
    Failing.act = staticmethod(looks_up)
    names = [{"name": "Failing"}, {"name": "Wrapping"}]
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Failing": Failing, "Wrapping": Wrapping},
        config={
            **HEADER,
            "profiles": [{"plugins": {"multiPoint": {"enabled": names}}}],
        },
    )
    harness.schedule_one()
    assert f"KeyError: 'tier' ({HERE}:{line_of(looks_up)})" in harness.message("p")


def fails(*_args: object) -> Any:  # noqa: ANN401 - it fits every hook
    raise LookupError("gone")


class InPermit(Plugin):
    @hookimpl
    def permit(self, pod: Pod) -> object:
        return type(self).act(pod)


class InPostBind(Plugin):
    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        fails()


class InPreBind(Plugin):
    @hookimpl
    def pre_bind(self, pod: Pod) -> None:
        fails()


class InPreEnqueue(Plugin):
    @hookimpl
    def pre_enqueue(self, pod: Pod) -> None:
        fails()


class InPostFilter(Plugin):
    @hookimpl
    def filter(self, pod: Pod) -> Status:
        return Status.unschedulable("no")

    @hookimpl
    def post_filter(self, pod: Pod) -> None:
        fails()


class InSignPod(Plugin):
    scope = Scope.NODE

    @hookimpl
    def filter(self, pod: Pod) -> None: ...

    @hookimpl
    def sign_pod(self, pod: Pod) -> None:
        fails()


@pytest.mark.parametrize(
    ("plugin", "hook"),
    [
        (InPermit, "permit"),
        (InPostBind, "post_bind"),
        (InPreBind, "pre_bind"),
        (InPreEnqueue, "pre_enqueue"),
        (InPostFilter, "post_filter"),
    ],
)
def test_exceptions_in_all_hooks_are_reported(plugin: type[Plugin], hook: str) -> None:
    plugin.act = staticmethod(fails)
    harness = harness_for(plugin, "p")
    harness.schedule_one()
    assert {(error.plugin, error.hook) for error in harness.errors} == {
        (plugin.__name__, hook)
    }


def test_a_pod_that_cannot_be_signed_is_reported_and_scheduled() -> None:
    harness = harness_for(InSignPod, "p")
    harness.settle()
    assert harness.node_of("p") == "a"
    assert [error.hook for error in harness.errors] == ["sign_pod"]


def test_an_exception_in_post_filter_names_the_plugin() -> None:
    harness = harness_for(InPostFilter, "p")
    harness.schedule_one()
    said = 'running PostFilter plugin "InPostFilter": LookupError: gone ('
    assert said in harness.message("p")


@pytest.mark.parametrize("reasons", [(), ("waiting for the group",)])
def test_permit_cannot_wait_without_an_end(reasons: tuple[str, ...]) -> None:
    InPermit.act = staticmethod(lambda _pod: Status(Code.WAIT, reasons))
    harness = harness_for(InPermit, "p")
    harness.schedule_one()
    assert harness.message("p") == (
        'running Permit plugin "InPermit": permit returned a Status with code Wait, '
        "expected PermitWait(timeout_seconds)"
    )
    assert [error.hook for error in harness.errors] == ["permit"]
