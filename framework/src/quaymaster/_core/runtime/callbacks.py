"""Guards for the functions in answers, which the framework calls later."""

from collections.abc import Callable
from typing import Any

from quaymaster._base.errors import PluginError
from quaymaster._core.contract.status import Status
from quaymaster._core.runtime.failures import failure_of, raised, unexpected
from quaymaster._core.runtime.parts import part_problem

__all__ = ["guarded_function"]


def guarded_function(
    plugin: str,
    hook: str,
    function: Callable[..., object],
    kinds: tuple[type, ...],
    expected: str,
) -> Callable[..., Any]:
    """Guard a function in a plugin's answer, so that it never raises.

    Args:
        plugin: The plugin's name.
        hook: The name of the function in errors.
        function: The function.
        kinds: The types that it may return, `Status` included.
        expected: The same types in words.

    Returns:
        A function with the same arguments. It returns an Error status if ``function``
        raises or returns another type.
    """

    # Runs after the hook has returned, so the hook's own guard no longer protects it.
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

    # As `functools.wraps` does, which would copy more: `inspect.unwrap` finds it.
    guarded.__dict__["__wrapped__"] = function
    return guarded
