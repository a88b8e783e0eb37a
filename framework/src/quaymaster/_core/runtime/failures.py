"""Makes the Error statuses that stand for the answers of failed hooks."""

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
    """An answer that its hook does not allow, though its parts are right."""


def raised(error: Exception) -> Status:
    """Return the status for what a plugin raised: its type, its text, and the line.

    A `PluginError`, which the framework raised, says all that already.
    """
    if isinstance(error, PluginError):
        return Status.from_error(error)
    return Status(Code.ERROR, (describe_exception(error),), error=error)


def unexpected(plugin: str, hook: str, answer: object, expected: str) -> Status:
    """Return the status for an answer of a type that the hook does not allow."""
    found = type(answer).__name__
    return wrong_answer(plugin, hook, f"returned {found}, expected {expected}")


def wrong_answer(plugin: str, hook: str, problem: str) -> Status:
    """Return the status for an answer that the hook does not allow."""
    return Status.from_error(WrongAnswerError(plugin, hook, problem))


def failure_of(plugin: str, hook: str, error: BaseException) -> Exception | None:
    """Return the failure of a plugin for what was raised while its hook ran.

    Args:
        plugin: The plugin's name.
        hook: The hook.
        error: What was caught.

    Returns:
        The failure: the error itself, or an exception in place of one that would end
        more than the attempt. None for errors from outside (Ctrl-C, the handler of a
        signal, a test framework), which are to be raised again.
    """
    if isinstance(error, Exception):
        return error
    if is_from_outside(error):
        return None
    problem = f"raised {type(error).__name__}"
    if isinstance(error, SystemExit):
        problem = f"called sys.exit({error.code!r})"
    failure = PluginError(plugin, hook, problem)
    failure.__context__ = error
    return failure
