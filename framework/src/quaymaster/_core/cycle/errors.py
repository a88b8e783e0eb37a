"""Error statuses for what goes wrong in plugins, in upstream's words."""

from collections.abc import Mapping
from typing import Final

from quaymaster._core.contract.status import Code, Status

__all__ = ["failed", "reasons_of"]

_WITHOUT_REASONS: Final[Mapping[Code, str]] = {
    Code.SUCCESS: "a Status with code Success is no answer: success is None",
    Code.ERROR: "it gave no reason",
}


def failed(prefix: str, plugin: str, status: Status) -> Status:
    """Make an Error status in upstream's form: ``running <what> "<plugin>": <why>``.

    Args:
        prefix: The text in front of the reasons.
        plugin: The plugin that failed.
        status: What it said. Upstream's text ends with the colon if that is nothing.
    """
    why = status.message or reasons_of(status)[0]
    return Status(Code.ERROR, (f"{prefix}: {why}",), plugin, status.error)


def reasons_of(status: Status) -> tuple[str, ...]:
    """Return the reasons of a status that ends an attempt, or what its code means."""
    code = status.code
    meaning = _WITHOUT_REASONS.get(code, f"{code.label} is no answer to this hook")
    return status.reasons or (meaning,)
