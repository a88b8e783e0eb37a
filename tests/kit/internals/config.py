"""What tests see of ``quaymaster._config``."""

__all__ = [
    "PARSE_CONFIG",
]

PARSE_CONFIG = "quaymaster._config.watcher.parse_config"
"""How the watcher reads a file."""
