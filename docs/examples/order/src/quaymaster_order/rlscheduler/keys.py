"""WFP3 and UNICEP as the published program computes them.

The program takes the start time of a job for the current time. For a job that waits,
that is -1, so its waiting time is -1 minus its submit time, and long jobs come first.
(`HPCSimPickJobs.py`, ``wfp_score`` and ``uni_score``.)
"""

import math
from typing import Final

from quaymaster_order.jobs import BatchJob
from quaymaster_order.policies import Policy
from quaymaster_order.usage import Usage

__all__ = ["PUBLISHED_UNICEP", "PUBLISHED_WFP3"]

_NOT_STARTED: Final = -1.0
_EPSILON: Final = 1e-15


def _wfp3(job: BatchJob, _now: float, _usage: Usage) -> float:
    waited = _NOT_STARTED - job.submitted
    return -math.pow(waited / job.requested_seconds, 3) * job.cpus


def _unicep(job: BatchJob, _now: float, _usage: Usage) -> float:
    waited = _NOT_STARTED - job.submitted
    width = math.log2(job.cpus + _EPSILON)
    return -(waited + _EPSILON) / (width * job.requested_seconds)


PUBLISHED_WFP3: Final = Policy(_wfp3, ages=False)
"""WFP3 with the waiting time of the program."""

PUBLISHED_UNICEP: Final = Policy(_unicep, ages=False)
"""UNICEP with the waiting time of the program."""
