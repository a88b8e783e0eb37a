"""Error statuses that replace the answers of failed hooks."""

from quaymaster._base.errors import PluginError
from quaymaster._base.raised import describe_exception, is_from_outside
from quaymaster._core.contract.status import Code, Status

__all__ = [
    "WrongAnswerError",
    "failure_of",
    "raised",
    "unexpected",
    "wrong_answer",
]


class WrongAnswerError(PluginError):
    """An answer that its hook does not allow, though its parts are valid."""


def raised(error: Exception) -> Status:
    """Return the status for an exception of a plugin: its type, its text, and the line.

    A `PluginError`, which the framework raises, already describes the problem.
    """
    if isinstance(error, PluginError):
        return Status.from_error(error)
    return Status(Code.ERROR, (describe_exception(error),), error=error)


def unexpected(plugin: str, hook: str, answer: object, expected: str) -> Status:
    """Return the status for an answer of a type that the hook does not allow."""
    problem = f"returned {type(answer).__name__}, expected {expected}"
    return wrong_answer(plugin, hook, problem)


def wrong_answer(plugin: str, hook: str, problem: str) -> Status:
    """Return the status for an answer that the hook does not allow."""
    return Status.from_error(WrongAnswerError(plugin, hook, problem))


def failure_of(plugin: str, hook: str, error: BaseException) -> Exception | None:
    """Return the failure of a plugin for an exception that ended its hook.

    Args:
        plugin: The plugin's name.
        hook: The hook.
        error: The exception.

    Returns:
        The error itself, or an exception that replaces an error which would end more
        than the attempt. None for errors from outside (Ctrl-C, a signal handler, a test
        framework), which the caller raises again.
    """
    if isinstance(error, Exception):
        return error
    if is_from_outside(error):
        return None
    problem = f"raised {type(error).__name__}"
    if isinstance(error, SystemExit):
        problem = f"called sys.exit({error.code!r})"
    failure = PluginError(plugin, hook, problem)
    # So the traceback shows the plugin's line, and the engine survives a ``sys.exit``.
    failure.__context__ = error
    return failure
