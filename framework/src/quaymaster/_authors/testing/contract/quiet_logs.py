"""Keeps the log records that a check provokes out of its report.

A check calls hooks thousands of times, and lets calls of the cluster fail. A plugin
that logs each failure, as it should, would bury the finding in its records.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from quaymaster._authors.testing.faults import INJECTED
from quaymaster._base.raised import describe_exception

__all__ = ["quiet_logs"]


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Let handlers of the root logger have few records in the block.

    They get the first record of each line of code, and none about an injected fault.
    pytest's report is such a handler. Handlers of other loggers get every record.
    """
    handlers = [*logging.getLogger().handlers]
    if logging.lastResort is not None:
        handlers.append(logging.lastResort)
    with ExitStack() as stack:
        for handler in handlers:
            own = _FirstOfEachLine()  # it keeps what its handler has got
            handler.addFilter(own)
            stack.callback(handler.removeFilter, own)
        yield


class _FirstOfEachLine(logging.Filter):
    """Passes on the first record of each line that is not about an injected fault."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: set[tuple[str, int, type | None]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        line = record.pathname, record.lineno, type(error) if error else None
        # A record that cannot be formatted fails here, as it does in pytest's handler.
        is_injected = INJECTED in record.getMessage() or _is_injected(error)
        if is_injected or line in self._lines:
            return False
        self._lines.add(line)
        return True


def _is_injected(error: BaseException | None) -> bool:
    """Return whether an injected fault led to an exception."""
    while error is not None:
        if INJECTED in describe_exception(error):
            return True
        error = error.__context__ if error.__cause__ is None else error.__cause__
    return False
