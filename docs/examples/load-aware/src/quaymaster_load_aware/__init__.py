"""Pods go to nodes by what these are measured to do."""

from quaymaster_load_aware.args import LoadAwareArgs
from quaymaster_load_aware.plugin import LoadAware

__all__ = ["LoadAware", "LoadAwareArgs"]
