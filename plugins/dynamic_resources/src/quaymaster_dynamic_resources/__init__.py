"""Give pods the devices that their claims ask for."""

from quaymaster_dynamic_resources.args import DynamicResourcesArgs
from quaymaster_dynamic_resources.dynamic_resources import DynamicResources

__all__ = ["DynamicResources", "DynamicResourcesArgs"]
