"""Marks the hooks that run outside of an attempt, so that a hang has a pod's name."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from quaymaster._core.contract.attempt_marks import AttemptMarks
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["MarkedHooks"]

_OUTSIDE: Final = frozenset({"bind", "post_bind", "pre_bind", "pre_enqueue"})
"""Hooks of single pods that are called outside of attempts."""

_POD: Final = "pod"


class MarkedHooks(msgspec.Struct, frozen=True):
    """Marks hooks while they run.

    Attributes:
        marks: The marks.
    """

    marks: AttemptMarks

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """Return a function that marks a hook of one pod; see `Watch`."""
        if hook not in _OUTSIDE or _POD not in offered:
            return function
        place, marks = list(offered).index(_POD), self.marks

        def marked(*arguments: Any) -> object:  # those of the hook
            mark = marks.begin_hook(arguments[place], plugin, hook)
            try:
                return function(*arguments)
            finally:
                marks.end_hook(mark)

        marked.__wrapped__ = function  # type: ignore[attr-defined]  # see `unguarded`
        return marked
