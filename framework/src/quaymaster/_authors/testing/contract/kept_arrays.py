"""Keeps the arrays that the hooks of a plugin return, and finds those that change."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.pod_groups import PodGroupPlacement
from quaymaster._core.mutations.returned import array_of
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["ChangedArray", "KeptArrays"]

_REMEDY: Final = (
    "the framework keeps what a hook returns, such as for the next pod of the same "
    "signature, so return a new array in each call, or a copy of one that the plugin "
    "writes to or that follows the cluster, such as a slice of a column"
)


@attrs.frozen
class ChangedArray:
    """An array that has changed since a hook returned it.

    Attributes:
        hook: The hook.
        problem: The difference, and what to do.
    """

    hook: str
    problem: str


@attrs.frozen(eq=False)
class _Kept:
    """One array of an answer.

    Attributes:
        hook: The hook that returned it.
        pod: The key of its pod, or empty.
        array: The array.
        copy: A copy of that moment.
    """

    hook: str
    pod: str
    array: npt.NDArray[Any]
    copy: npt.NDArray[Any]


class KeptArrays:
    """Keeps the arrays that hooks have returned; implements `Watch` of `guards`.

    It finds arrays that change in any way: by a later call of a hook, by a callback or
    a timer, or because they share memory with a column.
    """

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """Return a function that keeps the arrays of each answer."""
        del plugin
        place = offered.index("pod") if "pod" in offered else None

        @functools.wraps(function)
        def watched(*args: object) -> object:
            answer: object = function(*args)
            for array in _arrays_of(answer):
                pod = args[place] if place is not None else None
                key = pod.key if isinstance(pod, ApiObject) else ""
                self._kept.append(_Kept(hook, key, array, array.copy()))
            return answer

        return watched

    def first_change(self, since: str) -> ChangedArray | None:
        """Return the first array that has changed, or None.

        Args:
            since: What may have changed it.
        """
        for kept in self._kept:
            if not np.array_equal(kept.array, kept.copy):
                pod = f" for pod '{kept.pod}'" if kept.pod else ""
                text = (
                    f"the array that it returned{pod} was {kept.copy.tolist()} and is "
                    f"{kept.array.tolist()} {since}: {_REMEDY}"
                )
                return ChangedArray(kept.hook, text)
        return None


def _arrays_of(answer: object) -> Iterator[npt.NDArray[Any]]:
    array = array_of(answer)
    if array is not None:
        yield array
    elif isinstance(answer, tuple):
        for part in answer:
            if isinstance(part, PodGroupPlacement) and isinstance(
                part.rows, np.ndarray
            ):
                yield part.rows
