"""What tests see of ``quaymaster._authors.packages``."""

from quaymaster._authors.packages.events import events_told
from quaymaster._authors.packages.names import PluginNames
from quaymaster._authors.packages.new import POINTS, package_files

__all__ = ["POINTS", "PluginNames", "events_told", "package_files"]
