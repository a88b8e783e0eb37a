"""What tests see of ``quaymaster._core.config``."""

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.document import PluginRef, PluginSet
from quaymaster._core.config.duration import parse_duration
from quaymaster._core.config.load import _shipped_sets
from quaymaster._core.config.merge import EntrySets, entry_sets, merge_sets
from quaymaster._core.config.schema import SCHEMA_FILE

__all__ = [
    "PARSE_CONFIG",
    "SCHEMA_FILE",
    "EntrySets",
    "PluginRef",
    "PluginSet",
    "default_sets",
    "entry_sets",
    "merge_sets",
    "parse_duration",
]

PARSE_CONFIG = "quaymaster._core.config.watcher.parse_config"
"""Reads a file for the watcher."""


def default_sets(kubernetes: Kubernetes) -> EntrySets:
    """Return the plugins of the shipped profile, for every extension point."""
    return _shipped_sets(kubernetes)
