"""Simulations of whole clusters, and explanations of single decisions."""

from quaymaster._comparing.comparing import Comparison, VariantResult, compare
from quaymaster._comparing.differences import Difference, Divergence, MovedWorkload
from quaymaster._comparing.environments import (
    EnvironmentFailedError,
    EnvironmentVariant,
)
from quaymaster._comparing.estimates import Estimate
from quaymaster._comparing.outcome import Decision, Outcome
from quaymaster._comparing.variants import ComparedVariant, Measures, Variant
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
    "ComparedVariant",
    "Comparison",
    "Decision",
    "Difference",
    "Divergence",
    "EnvironmentFailedError",
    "EnvironmentVariant",
    "Estimate",
    "ExplainedPod",
    "Explanation",
    "History",
    "Measures",
    "MovedWorkload",
    "NodeRejection",
    "NodeScores",
    "NodeSpan",
    "ObservedAttempt",
    "ObservedRun",
    "Outcome",
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
    "Variant",
    "VariantResult",
    "WhichAttempt",
    "compare",
    "explain_pod",
    "observe",
    "simulate",
]
