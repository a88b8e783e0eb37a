"""The log of commands that run for long."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from quaymaster._config.watcher import ConfigWatcher

__all__ = ["logging_to_stderr"]


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Show warnings and errors, and what becomes of changed configuration files."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    everything = logging.getLogger("quaymaster")
    reloads = logging.getLogger(ConfigWatcher.__module__)
    level = reloads.level
    everything.addHandler(handler)
    reloads.setLevel(logging.INFO)
    try:
        yield
    finally:
        reloads.setLevel(level)
        everything.removeHandler(handler)
