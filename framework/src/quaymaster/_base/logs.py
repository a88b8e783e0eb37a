"""Log lines as text or JSON objects.

The fields ``ts``, ``level`` and ``msg`` are those of upstream's JSON logs
(k8s.io/component-base v0.36, ``logs/json``). Others are ``logger``, ``error`` with a
traceback, and the extra fields of a message, such as ``pod``, ``node`` or ``plugin``.
They have no secrets.
"""

import logging
import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from quaymaster._base.errors import escaped

__all__ = ["FORMATTERS", "JsonFormatter", "TextFormatter", "without_secrets"]

_LONGEST: Final = 1 << 14
"""Characters of a message: clients and tenants choose parts of it."""

_USUAL: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}

_SECRETS: Final = (
    (re.compile(r"(bearer|basic)\s+[-\w.~+/=]{8,}", re.IGNORECASE), r"\1 [redacted]"),
    (re.compile(r"(?<=://)[^/@\s]+@"), "[redacted]@"),
    (re.compile(r"\beyJ[-\w]+\.[-\w]+\.[-\w]+"), "[redacted]"),
)
"""Credentials of headers and URLs, and JSON web tokens."""


def without_secrets(text: str) -> str:
    """Return a text with ``[redacted]`` in place of what looks like a credential."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class TextFormatter(logging.Formatter):
    """Writes the message of each record so that it looks like no other message.

    Control characters are escaped, further lines are indented, and long messages are
    cut.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - its name
        """See `logging.Formatter`; a traceback is added later."""
        return "\n  ".join(map(escaped, _cut(record.message).split("\n")))


def _cut(message: str) -> str:
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."


class JsonFormatter(logging.Formatter):
    """Writes each record as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        fields: dict[str, object] = {
            "ts": round(record.created, 6),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": without_secrets(_cut(record.getMessage())),
        }
        for name, value in vars(record).items():
            if name not in _USUAL and name not in fields:
                is_plain = isinstance(value, int | float | bool)
                fields[name] = value if is_plain else without_secrets(str(value))
        if record.exc_info:
            fields["error"] = without_secrets(self.formatException(record.exc_info))
        return msgspec.json.encode(fields).decode()


FORMATTERS: Final[Mapping[str, Callable[[], logging.Formatter]]] = {
    "text": TextFormatter,
    "json": JsonFormatter,
}
"""The formatters of log lines, by the name of the format."""
