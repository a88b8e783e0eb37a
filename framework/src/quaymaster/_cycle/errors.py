"""What goes wrong in plugins, in upstream's words."""

from quaymaster.errors import PluginError
from quaymaster.status import Code, Status

__all__ = ["PluginError", "failed", "unexpected"]


def unexpected(plugin: str, hook: str, answer: object, expected: str) -> Status:
    """The status for an answer of a type that the hook does not allow."""
    problem = f"returned {type(answer).__name__}, expected {expected}"
    return Status.from_error(PluginError(plugin, hook, problem))


def failed(prefix: str, plugin: str, status: Status) -> Status:
    """An Error status in upstream's form: ``running <what> "<plugin>": <why>``.

    Args:
        prefix: The text in front of the reasons.
        plugin: The plugin that failed.
        status: What it said.
    """
    return Status(Code.ERROR, (f"{prefix}: {status.message}",), plugin, status.error)
