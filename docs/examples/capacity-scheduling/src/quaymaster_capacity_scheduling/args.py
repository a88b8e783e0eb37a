"""The arguments of CapacityScheduling; upstream's has none."""

import attrs
from quaymaster.config import integer

__all__ = ["CapacitySchedulingArgs"]


@attrs.frozen(kw_only=True)
class CapacitySchedulingArgs:
    """The arguments of CapacityScheduling.

    Attributes:
        elastic_quota_status_seconds: How often the status of quotas is updated; 0
            leaves it to a controller in the cluster.
    """

    elastic_quota_status_seconds: int = attrs.field(default=1, validator=integer(0))
