"""What tests see of ``quaymaster._authors.packages``."""

from quaymaster._authors.packages import needed_sdk
from quaymaster._authors.packages.added_names import ADDED
from quaymaster._authors.packages.events import declared_events
from quaymaster._authors.packages.names import PluginNames
from quaymaster._authors.packages.new import POINTS, Scaffold, package_files

__all__ = [
    "ADDED",
    "POINTS",
    "PluginNames",
    "Scaffold",
    "declared_events",
    "needed_sdk",
    "package_files",
]
