"""What tests see of ``quaymaster._packages``."""

from quaymaster._packages.names import PluginNames
from quaymaster._packages.new import POINTS, package_files

__all__ = ["POINTS", "PluginNames", "package_files"]
