"""Keep pods that claim devices off until devices can be allocated."""

from quaymaster_dynamic_resources.args import DynamicResourcesArgs
from quaymaster_dynamic_resources.dynamic_resources import DynamicResources

__all__ = ["DynamicResources", "DynamicResourcesArgs"]
