"""Simulates a cluster: schedules all that waits until nothing changes any more.

Time is virtual, so hours of backoff take milliseconds, and the same input gives the
same result.
"""

from quaymaster._simulation.calls import explain_pod, simulate
from quaymaster._simulation.explained import Attempt, ExplainedPod, WhichAttempt
from quaymaster._simulation.names import PodNotFoundError
from quaymaster._simulation.results import (
    Placement,
    Preemption,
    ProgressFn,
    SimulationResult,
    UnscheduledPod,
)

__all__ = [
    "Attempt",
    "ExplainedPod",
    "Placement",
    "PodNotFoundError",
    "Preemption",
    "ProgressFn",
    "SimulationResult",
    "UnscheduledPod",
    "WhichAttempt",
    "explain_pod",
    "simulate",
]
