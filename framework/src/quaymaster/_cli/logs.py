"""The log of commands that run for long."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

from quaymaster._base.logs import FORMATTERS
from quaymaster._cli.output import print_line
from quaymaster._core.config.watcher import ConfigWatcher
from quaymaster._surfaces.operation.dump import dump_in_lines

__all__ = ["log_formats", "logging_to_stderr"]

_log = logging.getLogger(__name__)

_SHOWN_MODULES: Final = (ConfigWatcher.__module__, dump_in_lines.__module__, __name__)
"""The modules whose messages of level INFO are shown."""


def log_formats() -> list[str]:
    """The names of the formats of log lines."""
    return list(FORMATTERS)


@contextmanager
def logging_to_stderr(form: str = "text") -> Iterator[Callable[[str], None]]:
    """Log warnings, errors, reloads of configuration files, and dumps.

    Args:
        form: The format of the lines.

    Yields:
        A function that prints a line to standard output, or to a log for programs.

    Raises:
        SystemExit: Replaces an error of the command if the log for programs has it.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTERS[form]())
    everything = logging.getLogger("quaymaster")
    loggers = list(map(logging.getLogger, _SHOWN_MODULES))
    levels = [logger.level for logger in loggers]
    everything.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.INFO)
    try:
        yield print_line if form == "text" else _log.info
    except click.ClickException as error:
        if form == "text":
            raise
        _log.error("%s", error.format_message())
        raise SystemExit(error.exit_code) from error
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        everything.removeHandler(handler)
