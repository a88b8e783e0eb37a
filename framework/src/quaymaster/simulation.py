"""Simulations of whole clusters, and explanations of single decisions."""

from quaymaster._cycle.explanation import (
    Explanation,
    NodeRejection,
    NodeScores,
    PluginScore,
)
from quaymaster._simulation.calls import explain_pod, observe, simulate
from quaymaster._simulation.explained import Attempt, ExplainedPod, WhichAttempt
from quaymaster._simulation.history import History, NodeSpan, PodLife
from quaymaster._simulation.names import PodNotFoundError
from quaymaster._simulation.observed import (
    ObservedAttempt,
    ObservedRun,
    RejectedNodes,
)
from quaymaster._simulation.results import (
    Placement,
    Preemption,
    ProgressFn,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster._simulation.run import Simulation
from quaymaster._simulation.series import Sample

__all__ = [
    "Attempt",
    "ExplainedPod",
    "Explanation",
    "History",
    "NodeRejection",
    "NodeScores",
    "NodeSpan",
    "ObservedAttempt",
    "ObservedRun",
    "Placement",
    "PluginScore",
    "PodLife",
    "PodNotFoundError",
    "Preemption",
    "ProgressFn",
    "RejectedNodes",
    "Sample",
    "Simulation",
    "SimulationResult",
    "UnscheduledPod",
    "WhichAttempt",
    "explain_pod",
    "observe",
    "simulate",
]
