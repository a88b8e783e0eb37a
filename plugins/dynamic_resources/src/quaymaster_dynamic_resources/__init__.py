"""Allocate the devices that pods claim."""

from quaymaster_dynamic_resources.args import DynamicResourcesArgs
from quaymaster_dynamic_resources.dynamic_resources import DynamicResources

__all__ = ["DynamicResources", "DynamicResourcesArgs"]
