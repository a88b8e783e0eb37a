"""Recorded answers of PreFilter and PreScore plugins, replayed for equal pods."""

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
"""Guards return this object for every Skip, so that it is compared by identity."""


class RecordedAnswers(msgspec.Struct, eq=False, frozen=True):
    """The recorded answers of one extension point, and the remaining calls.

    Attributes:
        calls: The remaining calls. A recorded rejection or `PreFilterResult` is one of
            them, because its position in the order of plugins counts.
        skips: The plugins that returned Skip.
    """

    calls: Calls
    skips: frozenset[str]
    _written: Mapping[StateKey[object], object]
    _cloneable: Sequence[StateKey[object]]
    _writers: Mapping[StateKey[object], str]
    _order: Sequence[str]
    _activated: Sequence[str]

    def write(self, state: CycleState) -> None:
        """Write the recorded values of the plugins to a state."""
        if self._written:
            state.update(self._written)
        if self._activated:
            state.pods_to_activate.extend(self._activated)
        # A value with a `clone` method may be changed during an attempt, so each state
        # gets its own copy. All other values are shared.
        for key in self._cloneable:
            state[key] = self._written[key].clone()  # type: ignore[attr-defined]

    def with_more(self, recorder: "AnswerRecorder") -> "RecordedAnswers":
        """Return these answers, with those recorded from the remaining calls."""
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
        """Delete the values of the plugins that come after the last one that ran.

        Returns:
            The plugins among them that returned Skip.
        """
        later = frozenset(self._order[self._order.index(last) + 1 :])
        for key, writer in self._writers.items():
            if writer in later:
                del state[key]
        return self.skips & later


class AnswerRecorder:
    """Records the answers of some plugins of an extension point.

    Args:
        state: The state of the attempt.
        plugins: The plugins whose answers are recorded.
        skipping: The plugins of which only a Skip is recorded.
    """

    def __init__(
        self,
        state: CycleState,
        plugins: frozenset[str],
        skipping: frozenset[str] = frozenset(),
    ) -> None:
        # No calls: the calls know the recorder, and each first decision of a kind would
        # leave a cycle of 129 objects to the garbage collector.
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

    def record(self, plugin: str, answer: object) -> None:
        """Record a plugin's answer, if it is one to record; called after every plugin.

        It has to see every plugin, because the log of writes does not name the writer.
        """
        is_recorded = plugin in self._plugins or (
            answer is _SKIP and plugin in self._skipping
        )
        activated: Sequence[str] = self._state.pods_to_activate
        if len(self._log) > self._logged or activated:
            keys = self._log[self._logged :]
            self._logged += len(keys)
            before, self._activations = self._activations, len(activated)
            if not is_recorded or not self._keep(plugin, keys):
                return
            self._activated += activated[before:]
        if is_recorded:
            self._answers[plugin] = answer

    def _keep(self, plugin: str, keys: Sequence[StateKey[object]]) -> bool:
        """Keep the values that a plugin wrote; return False if one cannot be cloned."""
        state = self._state
        try:
            written = {key: _copied(state[key]) for key in keys if key in state}
        except Exception:  # raised by a plugin's `clone`
            return False
        self._written.update(written)
        self._writers.update(dict.fromkeys(written, plugin))
        return True

    def recorded(self, calls: Calls) -> RecordedAnswers | None:
        """Return the answers of an attempt; None if some plugin was not called.

        Args:
            calls: All calls that the attempt could make at the extension point.
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
                left.append((plugin, _returning(answer)))
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


def _copied(value: object) -> object:
    """Return the value, or a copy if the attempt may change it."""
    return value.clone() if hasattr(value, "clone") else value


def _returning(answer: object) -> Callable[..., Any]:
    return lambda *_: answer
