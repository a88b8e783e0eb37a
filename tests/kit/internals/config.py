"""What tests see of ``quaymaster._core.config``."""

__all__ = [
    "PARSE_CONFIG",
]

PARSE_CONFIG = "quaymaster._core.config.watcher.parse_config"
"""Reads a file for the watcher."""
