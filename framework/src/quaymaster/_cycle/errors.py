"""What goes wrong in plugins, in upstream's words."""

from collections.abc import Mapping
from typing import Final

from quaymaster._raised import describe_exception
from quaymaster.errors import PluginError
from quaymaster.status import Code, Status

__all__ = ["PluginError", "failed", "raised", "reasons_of", "unexpected"]

_WITHOUT_REASONS: Final[Mapping[Code, str]] = {
    Code.SUCCESS: "a Status with code Success is no answer: success is None",
    Code.ERROR: "it gave no reason",
}


def raised(error: Exception) -> Status:
    """The status for what a plugin raised: its type, its text, and the line.

    What the framework raised itself about an answer says all that already.
    """
    if isinstance(error, PluginError):
        return Status.from_error(error)
    return Status(Code.ERROR, (describe_exception(error),), error=error)


def unexpected(plugin: str, hook: str, answer: object, expected: str) -> Status:
    """The status for an answer of a type that the hook does not allow."""
    problem = f"returned {type(answer).__name__}, expected {expected}"
    return Status.from_error(PluginError(plugin, hook, problem))


def failed(prefix: str, plugin: str, status: Status) -> Status:
    """An Error status in upstream's form: ``running <what> "<plugin>": <why>``.

    Args:
        prefix: The text in front of the reasons.
        plugin: The plugin that failed.
        status: What it said. Upstream's text ends with the colon if that is nothing.
    """
    why = status.message or reasons_of(status)[0]
    return Status(Code.ERROR, (f"{prefix}: {why}",), plugin, status.error)


def reasons_of(status: Status) -> tuple[str, ...]:
    """The reasons of a status that ends an attempt; if it has none, what it means."""
    code = status.code
    meaning = _WITHOUT_REASONS.get(code, f"{code.label} is no answer to this hook")
    return status.reasons or (meaning,)
