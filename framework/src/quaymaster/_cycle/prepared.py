"""What PreFilter and PreScore plugins said of a pod, to be said again for its like."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from quaymaster._runtime import HookFunction
from quaymaster.cycle_state import CycleState, StateKey
from quaymaster.results import PreFilterResult
from quaymaster.status import Status

__all__ = ["Calls", "Lesson", "Prepared"]

Calls: TypeAlias = Sequence[tuple[str, HookFunction]]
"""Plugins and their hooks, in profile order."""

_NOTHING: Final = object()


@attrs.frozen(eq=False)
class Prepared:
    """An extension point without the calls whose answers are known.

    Attributes:
        calls: What is left to do. A remembered answer that decides something is still
            given in its place.
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
        """Write into a state what the remembered plugins wrote."""
        state.update(self._written)
        if self._activated:
            state.pods_to_activate.extend(self._activated)
        for key in self._cloneable:
            state[key] = self._written[key].clone()  # type: ignore[attr-defined]

    def take_back(self, state: CycleState, last: str) -> frozenset[str]:
        """Take back what those wrote who come after the plugin that ended it all.

        Returns:
            The plugins among them that said Skip.
        """
        later = frozenset(self._order[self._order.index(last) + 1 :])
        for key, writer in self._writers.items():
            if writer in later:
                del state[key]
        return self.skips & later


class Lesson:
    """Listens to some plugins at an extension point, to remember their answers.

    Args:
        calls: All calls of the point.
        plugins: Those to listen to.
        skipping: Those of which nothing is to be remembered but a Skip.

    Attributes:
        calls: The same calls, listened to.
    """

    def __init__(
        self,
        calls: Calls,
        plugins: frozenset[str],
        skipping: frozenset[str] = frozenset(),
    ) -> None:
        self._plugins = plugins
        self._skipping = skipping
        self._answers: dict[str, object] = {}
        self._written: dict[StateKey[object], object] = {}
        self._writers: dict[StateKey[object], str] = {}
        self._activated: list[str] = []
        listened_to = plugins | skipping
        self.calls: Calls = [
            (plugin, self._listening(plugin, hook) if plugin in listened_to else hook)
            for plugin, hook in calls
        ]

    def learnt(self, calls: Calls) -> Prepared | None:
        """What there is to remember of an attempt; None if it ended too early.

        Args:
            calls: All calls of the point, as they were before.
        """
        left: list[tuple[str, HookFunction]] = []
        skips: set[str] = set()
        for plugin, hook in calls:
            answer = self._answers.get(plugin, _NOTHING)
            if _is_skip(answer):
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
        return Prepared(
            left,
            frozenset(skips),
            written,
            cloneable,
            self._writers,
            order,
            self._activated,
        )

    def _listening(self, plugin: str, hook: HookFunction) -> HookFunction:
        def listen(state: CycleState, *rest: object) -> object:
            before, activated = state.values(), len(state.pods_to_activate)
            answer = hook(state, *rest)
            try:
                written = {
                    key: _kept(value)
                    for key, value in state.values().items()
                    if before.get(key, _NOTHING) is not value
                }
            except Exception:  # a value's that cannot be cloned, and so not kept
                return answer
            if plugin in self._skipping and not _is_skip(answer):
                return answer
            self._written.update(written)
            self._writers.update(dict.fromkeys(written, plugin))
            self._activated += state.pods_to_activate[activated:]
            self._answers[plugin] = answer
            return answer

        return listen


def _is_skip(answer: object) -> bool:
    return isinstance(answer, Status) and answer.is_skip


def _kept(value: object) -> object:
    """The value, or a copy if it may be changed in the course of the attempt."""
    return value.clone() if hasattr(value, "clone") else value


def _saying(answer: object) -> Callable[..., Any]:
    return lambda *_: answer
