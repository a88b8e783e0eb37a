"""The arguments of Coscheduling.

Mirrors ``CoschedulingArgs`` (scheduler-plugins v0.34.7, ``apis/config``: types,
defaults and validation).
"""

import attrs
from quaymaster.config import integer

__all__ = ["CoschedulingArgs"]


@attrs.frozen(kw_only=True)
class CoschedulingArgs:
    """The arguments of Coscheduling.

    Attributes:
        permit_waiting_time_seconds: How long a pod waits for the others of its group,
            if the group does not set it; 0 means 60.
        pod_group_backoff_seconds: How long a group that did not fit is not retried;
            with 0, until something has changed.
        pod_group_reject_percentage: Up to this share of missing pods, in percent of the
            group's ``minMember``, a pod that does not fit does not end the waiting of
            the others.
        pod_group_status_seconds: How often the status of groups is updated; 0 leaves
            it to a controller in the cluster.
    """

    permit_waiting_time_seconds: int = attrs.field(default=60, validator=integer(0))
    pod_group_backoff_seconds: int = attrs.field(default=0, validator=integer(0))
    pod_group_reject_percentage: int = attrs.field(
        default=10, validator=integer(0, 100)
    )
    pod_group_status_seconds: int = attrs.field(default=1, validator=integer(0))
