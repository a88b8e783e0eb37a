"""Finds writes to arrays that hooks have returned, and that the framework shares."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from quaymaster._base.errors import PluginError
from quaymaster._core.contract.results import NodeVerdicts
from quaymaster._core.contract.status import Status
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["ReturnedArrays", "array_of"]

_OFF_THREAD: Final = frozenset({"pre_bind", "bind"})
"""Hooks that may run while the engine's thread calls the same plugin."""

_REMEDY: Final = (
    "the framework keeps it, so return a new array, or a copy, from each call"
)

_Array: TypeAlias = npt.NDArray[Any]


class ReturnedArrays:
    """Finds the plugins that write to an array after they have returned it.

    It compares the last array that each hook of a plugin returned, before and after
    each call of the plugin's hooks.
    """

    def __init__(self) -> None:
        self._last: dict[str, dict[str, _Array]] = {}

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """See `quaymaster._core.runtime.Watch`."""
        del offered  # arguments are not compared here
        if hook in _OFF_THREAD:
            return function
        returned = self._last.setdefault(plugin, {})

        @functools.wraps(function)
        def watched(*args: object) -> object:
            saved = [(name, array, array.copy()) for name, array in returned.items()]
            answer: object = function(*args)
            for name in _written(saved):
                text = f"wrote to the array that {name} had returned: {_REMEDY}"
                return Status.from_error(PluginError(plugin, hook, text))
            array = array_of(answer)
            if array is not None:
                returned[hook] = array
            return answer

        return watched


def _written(saved: Sequence[tuple[str, _Array, _Array]]) -> Iterator[str]:
    """Yield the hooks whose arrays have changed."""
    for hook, array, copy in saved:
        if not np.array_equal(array, copy):
            yield hook


def array_of(answer: object) -> _Array | None:
    """Return the array in an answer, or None."""
    if isinstance(answer, NodeVerdicts):
        answer = answer.codes
    return answer if isinstance(answer, np.ndarray) else None
