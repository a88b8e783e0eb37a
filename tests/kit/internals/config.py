"""What tests see of ``quaymaster._core.config``."""

from quaymaster._core.config.duration import parse_duration

__all__ = [
    "PARSE_CONFIG",
    "parse_duration",
]

PARSE_CONFIG = "quaymaster._core.config.watcher.parse_config"
"""Reads a file for the watcher."""
