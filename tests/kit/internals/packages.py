"""What tests see of ``quaymaster._authors.packages``."""

from quaymaster._authors.packages.events import declared_events
from quaymaster._authors.packages.names import PluginNames
from quaymaster._authors.packages.new import POINTS, package_files

__all__ = ["POINTS", "PluginNames", "declared_events", "package_files"]
