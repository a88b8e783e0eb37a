"""A compiled hook never raises, whatever the plugin does."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EventResource,
    Handle,
    NodeVerdicts,
    Pod,
    PreBindWait,
    QueueingHint,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.errors import PluginError, ProfileError
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.runtime import (
    EXPECTED,
    HookGuards,
    HookTimer,
    WrongAnswerError,
    unguarded,
)

ARGUMENTS = {
    hook: getattr(point.spec, hook).__code__.co_varnames[
        1 : getattr(point.spec, hook).__code__.co_argcount
    ]
    for point in EXTENSION_POINTS
    for hook in point.hooks
}
HOOKS = sorted(ARGUMENTS)
ANY_ANSWER = (
    *("queue_sort", "sign_pod", "unreserve", "post_bind"),
    *("start", "close"),
)
"""Hooks with answers of any type, or with answers that are not read."""


class Rows:
    """A fake of the rows, nodes and scores that an answer is about."""

    shape = (2,)

    def __len__(self) -> int:
        return 2

    def count(self, _rows: object) -> int:
        return 2


class Queued:
    pod = make_pod(name="p")


GIVEN = {
    "pod": make_pod(name="p"),
    "queued": Queued(),
    "nodes": Rows(),
    "candidates": Rows(),
    "rows": Rows(),
    "scores": Rows(),
    "state": CycleState(),
}


class FailureLog:
    """Records failures."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, str, str, str]] = []

    def failed(self, plugin: str, hook: str, pod: str, error: BaseException) -> None:
        self.failures.append((plugin, hook, pod, type(error).__name__))


def call(hook: str, act: Callable[[], object], guards: HookGuards | None = None) -> Any:  # noqa: ANN401 - whatever the hook gives
    """Call a hook with this body as the framework does."""
    names = ARGUMENTS[hook]
    compiled = (guards or HookGuards()).compile("P", hook, names, (), act)
    return compiled(*[GIVEN.get(name) for name in names])


def breaks() -> object:
    raise KeyError("tier")


def exits() -> object:
    sys.exit(3)


def is_cancelled() -> object:
    raise asyncio.CancelledError


def interrupts() -> object:
    raise KeyboardInterrupt


def test_each_hook_and_the_callback_of_objects_have_an_expected_answer() -> None:
    assert sorted(EXPECTED) == sorted([*HOOKS, "on_change"])


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(
    ("act", "said", "kind"),
    [
        (breaks, "KeyError: 'tier' (", "KeyError"),
        (exits, "plugin 'P': {hook} called sys.exit(3)", "PluginError"),
        (is_cancelled, "plugin 'P': {hook} raised CancelledError", "PluginError"),
    ],
)
def test_what_a_hook_raises_becomes_a_status(
    hook: str, act: Callable[[], object], said: str, kind: str
) -> None:
    log = FailureLog()
    status = call(hook, act, HookGuards(failed=log.failed))
    assert type(status) is Status
    assert status.is_error
    assert status.message.startswith(said.format(hook=hook))
    assert type(status.error).__name__ == kind
    pod = "default/p" if {"pod", "queued"} & {*ARGUMENTS[hook]} else ""
    assert log.failures == [("P", hook, pod, kind)]


@pytest.mark.parametrize("hook", HOOKS)
def test_an_interrupt_goes_through_every_hook(hook: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        call(hook, interrupts)


@pytest.mark.parametrize("hook", [name for name in HOOKS if name not in ANY_ANSWER])
@pytest.mark.parametrize("answer", [3.5, True, object(), ...])
def test_an_answer_of_a_wrong_type_becomes_a_status(hook: str, answer: object) -> None:
    log = FailureLog()
    given = call(hook, lambda: answer, HookGuards(failed=log.failed))
    status = given if isinstance(given, Status) else given.status
    assert type(status) is Status
    assert status.is_error
    if hook == "events_to_register":  # reported when the profile is loaded
        return
    assert isinstance(status.error, WrongAnswerError)
    found = type(answer).__name__
    expected = f"plugin 'P': {hook} returned {found}, expected "
    assert status.message.startswith(expected)
    assert log.failures == []  # the attempt that ends with it is


@pytest.mark.parametrize(
    "hook", [name for name in HOOKS if name not in ("queue_sort", "sign_pod")]
)
def test_a_status_with_invalid_parts_becomes_an_error(hook: str) -> None:
    make: Callable[..., Status] = Status
    log = FailureLog()
    status = call(hook, lambda: make(2), HookGuards(failed=log.failed))
    assert type(status.error) is PluginError
    said = f"plugin 'P': {hook} returned a Status with a int as its code"
    assert status.message == said
    assert len(log.failures) == 1


@pytest.mark.parametrize("hook", ["unreserve", "post_bind"])
@pytest.mark.parametrize("answer", [5, Status.unschedulable("no"), Status.skip()])
def test_wrong_answers_that_are_not_read_are_not_failures(
    hook: str, answer: object
) -> None:
    assert call(hook, lambda: answer) is None


@pytest.mark.parametrize(
    ("answer", "score"), [(np.int64(7), 7), (np.uint8(3), 3), (-(2**63), -(2**63))]
)
def test_scores_of_all_integers_are_plain_ones(answer: object, score: int) -> None:
    given = call("score", lambda: answer)
    assert type(given) is int
    assert given == score


@pytest.mark.parametrize("score", [2**63, -(2**63) - 1])
def test_a_score_beyond_64_bits_is_rejected(score: int) -> None:
    status = call("score", lambda: score)
    assert "which is not a 64-bit integer" in status.message


@pytest.mark.parametrize("act", [breaks, exits])
def test_the_reasons_behind_verdicts_never_raise_either(
    act: Callable[[], object],
) -> None:
    def status_of(_code: int) -> Any:  # noqa: ANN401 - that is what is tested
        return act()

    verdicts = NodeVerdicts(np.array([1, 0]), status_of)
    status = call("filter_nodes", lambda: verdicts).status_of(1)
    assert type(status) is Status
    assert status.is_error


@pytest.mark.parametrize("act", [breaks, exits, lambda: 3.5])
def test_the_condition_of_a_wait_never_raises_either(act: Callable[[], Any]) -> None:
    timed_out = Status.unschedulable("too slow")
    wait = PreBindWait(check=act, timeout_seconds=9.0, timed_out=timed_out)
    assert call("pre_bind", lambda: wait).check().is_error


def test_the_plugins_own_function_is_behind_a_compiled_hook() -> None:
    names: Sequence[str] = ["state", "pod", "node"]
    compiled = HookGuards().compile("P", "filter", names, ["pod"], lambda pod: 1 / 0)
    assert compiled(None, GIVEN["pod"], None).is_error
    with pytest.raises(ZeroDivisionError):
        unguarded(compiled)(None, GIVEN["pod"], None)


def test_a_hook_that_fails_is_timed_all_the_same() -> None:
    times = iter([0.0, 3.0])
    slow: list[tuple[str, str, str, float]] = []
    timer = HookTimer(lambda: next(times), 1.0, lambda *report: slow.append(report))
    assert call("filter", breaks, HookGuards(timer)).is_error
    assert slow == [("P", "filter", "default/p", 3.0)]


class Leaving:
    """Calls ``sys.exit`` in the hook of its name."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return Status.unschedulable("no") if pod.name == "rejected" else None


class WhenRegistering(Leaving):
    @hookimpl
    def events_to_register(self) -> Any:  # noqa: ANN401 - that is what is tested
        exits()


class WhenBuilt(Leaving):
    def __init__(self, args: object, handle: Handle) -> None:
        exits()


class WhenSigning(Leaving):
    @hookimpl
    def sign_pod(self) -> Any:  # noqa: ANN401 - that is what is tested
        exits()


class WhenHinting(Leaving):
    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        added = ClusterEvent(EventResource.NODE, ActionType.ADD)
        return [ClusterEventWithHint(added, lambda _pod, _old, _new: self.hint())]

    def hint(self) -> QueueingHint:
        sys.exit(3)


def harness_for(plugin: type, pod: str) -> SchedulerHarness:
    enabled = [{"name": plugin.__name__}]
    return SchedulerHarness(
        [make_node(name="a"), make_pod(name=pod)],
        plugins={plugin.__name__: plugin},
        config={
            **HEADER,
            "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}],
        },
    )


def test_a_plugin_that_exits_while_it_registers_keeps_its_profile_from_loading() -> (
    None
):
    with pytest.raises(ProfileError, match=r"events_to_register called sys\.exit\(3\)"):
        harness_for(WhenRegistering, "p")


def test_a_plugin_that_exits_while_it_is_built_keeps_its_profile_from_loading() -> None:
    with pytest.raises(ProfileError, match="could not be built: SystemExit: 3"):
        harness_for(WhenBuilt, "p")


def test_exit_while_signing_is_reported_and_the_pod_is_scheduled() -> None:
    harness = harness_for(WhenSigning, "p")
    harness.settle()
    assert harness.node_of("p") == "a"
    assert [error.hook for error in harness.errors] == ["sign_pod"]


def test_exit_in_a_hint_counts_as_queue(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = harness_for(WhenHinting, "rejected")
    assert harness.schedule_one()
    harness.cluster.create(make_node(name="b"))
    harness.settle()
    assert "queueing hint called sys.exit(3)" in caplog.text
