"""RLScheduler (SC '20): the order of jobs on one machine, by simple policies."""

from quaymaster_order.rlscheduler.keys import PUBLISHED_UNICEP, PUBLISHED_WFP3
from quaymaster_order.rlscheduler.starts import Starts
from quaymaster_order.rlscheduler.study import (
    JOBS,
    POLICIES,
    PUBLISHED,
    SEQUENCES,
    experiment,
)

__all__ = [
    "JOBS",
    "POLICIES",
    "PUBLISHED",
    "PUBLISHED_UNICEP",
    "PUBLISHED_WFP3",
    "SEQUENCES",
    "Starts",
    "experiment",
]
