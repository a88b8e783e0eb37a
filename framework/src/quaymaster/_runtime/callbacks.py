"""Functions inside of answers: they are called later, and never raise, either."""

from collections.abc import Callable
from typing import Any

from quaymaster._contract.status import Status
from quaymaster._errors import PluginError
from quaymaster._runtime.failures import failure_of, raised, unexpected
from quaymaster._runtime.parts import part_problem

__all__ = ["guarded_function"]


def guarded_function(
    plugin: str,
    hook: str,
    function: Callable[..., object],
    kinds: tuple[type, ...],
    expected: str,
) -> Callable[..., Any]:
    """Make a function of a plugin's answer one that never raises.

    Args:
        plugin: The plugin's name.
        hook: What to call the function where it fails.
        function: The function.
        kinds: What it may give, `Status` among it.
        expected: The same in words.

    Returns:
        A function with the same arguments; an Error status stands for what the other
        raised, or must not give.
    """

    def guarded(*args: object) -> object:
        try:
            answer = function(*args)
            problem = part_problem(answer)
        except BaseException as error:
            failure = failure_of(plugin, hook, error)
            if failure is None:
                raise
            return raised(failure)
        if problem:
            return Status.from_error(PluginError(plugin, hook, problem))
        if isinstance(answer, kinds):
            return answer
        return unexpected(plugin, hook, answer, expected)

    return guarded
