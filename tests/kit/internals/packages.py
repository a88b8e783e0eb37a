"""What tests see of ``quaymaster._packages``."""

from quaymaster._packages.events import events_told
from quaymaster._packages.names import PluginNames
from quaymaster._packages.new import POINTS, package_files

__all__ = ["POINTS", "PluginNames", "events_told", "package_files"]
