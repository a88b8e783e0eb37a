"""Error statuses for failures of plugins, with upstream's texts."""

from collections.abc import Mapping
from typing import Final

from quaymaster._base.errors import PluginError
from quaymaster._core.contract.status import Code, Status

__all__ = ["failed", "reasons_of"]

_WITHOUT_REASONS: Final[Mapping[Code, str]] = {
    Code.SUCCESS: "a Status with code Success is no answer: success is None",
    Code.ERROR: "it gave no reason",
}


def failed(prefix: str, plugin: str, status: Status) -> Status:
    """Make an Error status in upstream's form: ``running X "plugin": message``.

    Args:
        prefix: The text before the message; it names the plugin.
        plugin: The plugin that failed.
        status: The status of the plugin. If it has no message, upstream's text ends
            with the colon; here the meaning of its code follows.
    """
    message = status.message or reasons_of(status)[0]
    error = status.error
    if isinstance(error, PluginError) and error.plugin == plugin:
        message = message.replace(str(error), error.of_hook)
    return Status(Code.ERROR, (f"{prefix}: {message}",), plugin, status.error)


def reasons_of(status: Status) -> tuple[str, ...]:
    """Return the reasons of a status that ends an attempt, or its code's meaning."""
    code = status.code
    meaning = _WITHOUT_REASONS.get(code, f"{code.label} is no answer to this hook")
    return status.reasons or (meaning,)
