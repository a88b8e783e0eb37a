"""Answers of PreFilter and PreScore plugins, recorded to be given again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from quaymaster._core.contract.cycle_state import CycleState, StateKey
from quaymaster._core.contract.results import PreFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.pre_filter import Calls
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["AnswerRecorder", "RecordedAnswers"]

_NOTHING: Final = object()

_SKIP: Final = Status.skip()
"""Guards give this very object for any Skip."""


class RecordedAnswers(msgspec.Struct, eq=False, frozen=True):
    """The recorded answers of one extension point, and the calls that are left.

    Attributes:
        calls: The calls that are left. A recorded answer that decides something is
            still given in its place in the order.
        skips: The plugins that said Skip.
    """

    calls: Calls
    skips: frozenset[str]
    _written: Mapping[StateKey[object], object]
    _cloneable: Sequence[StateKey[object]]
    _writers: Mapping[StateKey[object], str]
    _order: Sequence[str]
    _activated: Sequence[str]

    def write(self, state: CycleState) -> None:
        """Write to a state what the recorded plugins wrote."""
        if self._written:
            state.update(self._written)
        if self._activated:
            state.pods_to_activate.extend(self._activated)
        # Copy on write: a plugin may change its value in the course of an attempt, and
        # says so by a `clone` method. All other values are handed out as they are.
        for key in self._cloneable:
            state[key] = self._written[key].clone()  # type: ignore[attr-defined]

    def with_more(self, recorder: "AnswerRecorder") -> "RecordedAnswers":
        """Return these answers and those recorded when the rest was called."""
        more = recorder.recorded(self.calls)
        if more is None:
            return self
        return RecordedAnswers(
            more.calls,
            self.skips | more.skips,
            {**self._written, **more._written},
            [*self._cloneable, *more._cloneable],
            {**self._writers, **more._writers},
            self._order,
            [*self._activated, *more._activated],
        )

    def take_back(self, state: CycleState, last: str) -> frozenset[str]:
        """Delete what plugins wrote that come after the one which ended it.

        Returns:
            The plugins among them that said Skip.
        """
        later = frozenset(self._order[self._order.index(last) + 1 :])
        for key, writer in self._writers.items():
            if writer in later:
                del state[key]
        return self.skips & later


class AnswerRecorder:
    """Records what some plugins of an extension point answer.

    Args:
        state: The state of the attempt in which they are asked.
        plugins: The plugins to listen to.
        skipping: The plugins of which only a Skip is recorded.
    """

    def __init__(
        self,
        state: CycleState,
        plugins: frozenset[str],
        skipping: frozenset[str] = frozenset(),
    ) -> None:
        self._state = state
        self._log = state.log_writes()
        self._logged = 0
        self._activations = len(state.pods_to_activate)
        self._plugins = plugins
        self._skipping = skipping
        self._answers: dict[str, object] = {}
        self._written: dict[StateKey[object], object] = {}
        self._writers: dict[StateKey[object], str] = {}
        self._activated: list[str] = []

    def heard(self, plugin: str, answer: object) -> None:
        """Record what a plugin answered; called after each plugin, wanted or not."""
        is_wanted = plugin in self._plugins or (
            answer is _SKIP and plugin in self._skipping
        )
        activated: Sequence[str] = self._state.pods_to_activate
        if len(self._log) > self._logged or activated:
            keys = self._log[self._logged :]
            self._logged += len(keys)
            before, self._activations = self._activations, len(activated)
            if not is_wanted or not self._keep(plugin, keys):
                return
            self._activated += activated[before:]
        if is_wanted:
            self._answers[plugin] = answer

    def _keep(self, plugin: str, keys: Sequence[StateKey[object]]) -> bool:
        """Keep what a plugin has written under some keys; return whether it can be."""
        state = self._state
        try:
            written = {key: _kept(state[key]) for key in keys if key in state}
        except Exception:  # a value's that cannot be cloned
            return False
        self._written.update(written)
        self._writers.update(dict.fromkeys(written, plugin))
        return True

    def recorded(self, calls: Calls) -> RecordedAnswers | None:
        """Return the answers of an attempt; None if not every plugin was asked.

        Args:
            calls: All calls of the point, as they were before.
        """
        left: list[tuple[str, HookFunction]] = []
        skips: set[str] = set()
        answers = self._answers
        for plugin, hook in calls:
            answer = answers.get(plugin, _NOTHING)
            if answer is _SKIP:
                skips.add(plugin)
            elif plugin not in self._plugins:
                left.append((plugin, hook))
            elif answer is None:
                continue
            elif isinstance(answer, PreFilterResult) or (
                isinstance(answer, Status) and answer.is_rejected
            ):
                left.append((plugin, _saying(answer)))
            else:
                return None
        written = self._written
        cloneable = [key for key in written if hasattr(written[key], "clone")]
        order = [plugin for plugin, _ in calls]
        return RecordedAnswers(
            left,
            frozenset(skips),
            written,
            cloneable,
            self._writers,
            order,
            self._activated,
        )


def _kept(value: object) -> object:
    """Return the value, or a copy if the attempt may change it."""
    return value.clone() if hasattr(value, "clone") else value


def _saying(answer: object) -> Callable[..., Any]:
    return lambda *_: answer
