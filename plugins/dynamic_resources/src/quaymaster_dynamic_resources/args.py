"""The arguments of DynamicResources.

Mirrors ``DynamicResourcesArgs`` (kube-scheduler 1.36.2,
``pkg/scheduler/apis/config``: types, defaults and validation).
"""

from datetime import timedelta

import attrs

from quaymaster.config import duration

__all__ = ["DynamicResourcesArgs"]


@attrs.frozen(kw_only=True)
class DynamicResourcesArgs:
    """The arguments of DynamicResources; they matter only to pods with claims.

    Attributes:
        filter_timeout: How long to search per node; 0 means no limit.
        binding_timeout: How long to wait for devices to become ready.
    """

    filter_timeout: timedelta = attrs.field(
        default=timedelta(seconds=10), validator=duration(timedelta(0))
    )
    binding_timeout: timedelta = attrs.field(
        default=timedelta(minutes=10), validator=duration(timedelta(seconds=1))
    )
