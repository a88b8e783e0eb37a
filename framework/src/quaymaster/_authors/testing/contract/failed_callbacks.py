"""Collects the callbacks of a plugin that fail, which the framework only logs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cluster import ApiError
from quaymaster._core.engine.guarded import run_guarded

__all__ = ["collecting_failures"]


@contextmanager
def collecting_failures(failures: list[tuple[str, str]]) -> Iterator[None]:
    """Collect the callbacks of timers and background tasks that fail in the block.

    The framework logs these failures, which have no other effect.

    Args:
        failures: Gets the name of each function, and its problem.
    """

    class Collector(logging.Handler):
        """Keeps the name of a function, and the exception that it has raised."""

        def emit(self, record: logging.LogRecord) -> None:
            """Keep a failure."""
            error = record.exc_info[1] if record.exc_info else None
            if error is not None and isinstance(record.args, tuple):
                name = str(record.args[-1]).rpartition(".")[2]
                text = f"raised {describe_exception(error)}"
                if isinstance(error, ApiError):
                    text = (
                        f"{text}: any call of handle.cluster may fail so. Catch "
                        "ApiError in the task: after an exception, its done is not "
                        "called, and what done should release is kept for ever"
                    )
                failures.append((name, text))

    handler = Collector()
    logger = logging.getLogger(run_guarded.__module__)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
