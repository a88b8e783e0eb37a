"""Simulations of whole clusters, and explanations of single decisions."""

from quaymaster._core.cycle.explanation import (
    Explanation,
    JudgedNode,
    NodeRejection,
    NodeScores,
    PluginScore,
)
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome, RejectedNodes
from quaymaster._studies.comparing.comparing import Comparison, VariantResult, compare
from quaymaster._studies.comparing.differences import (
    Difference,
    Divergence,
    MovedWorkload,
)
from quaymaster._studies.comparing.environments import (
    EnvironmentFailedError,
    EnvironmentVariant,
)
from quaymaster._studies.comparing.estimates import Estimate
from quaymaster._studies.comparing.outcome import Decision, Outcome
from quaymaster._studies.comparing.variants import ComparedVariant, Measures, Variant
from quaymaster._studies.comparing.versions import (
    ChangedDecision,
    VersionChanges,
    version_changes,
)
from quaymaster._studies.simulation.calls import observe, simulate
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.explained import (
    ExplainedPod,
    NodeFate,
    WhichAttempt,
    WhyNot,
)
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
    GroupAttempt,
    GroupMember,
    GroupOutcome,
    TriedPlacement,
    UnplacedMember,
)
from quaymaster._studies.simulation.explaining import explain_pod
from quaymaster._studies.simulation.explaining_groups import explain_group
from quaymaster._studies.simulation.group_names import GroupNotFoundError
from quaymaster._studies.simulation.history import History, NodeSpan, PodLife
from quaymaster._studies.simulation.names import NodeNotFoundError, PodNotFoundError
from quaymaster._studies.simulation.observed import (
    ObservedAttempt,
    ObservedRun,
)
from quaymaster._studies.simulation.observers import (
    HistoryObserver,
    SimulationObserver,
)
from quaymaster._studies.simulation.results import (
    Placement,
    Preemption,
    ProgressFn,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.simulation.run_observer import RunObserver
from quaymaster._studies.simulation.run_state import Standing
from quaymaster._studies.simulation.series import Sample
from quaymaster._studies.simulation.step_placements import PlacedPod, WorkloadSpread
from quaymaster._studies.simulation.steps import Step, StepOutcome
from quaymaster._studies.simulation.stuck_rollouts import StuckRollout
from quaymaster._studies.simulation.trial_error import TrialError
from quaymaster._studies.simulation.upcoming import InfeasibleNodeError, Upcoming
from quaymaster._studies.why.changes import ChangeKind, FieldChange, SuggestedChange
from quaymaster._studies.why.pending_groups import (
    Cause,
    CauseCount,
    PendingGroup,
    PendingSummary,
)
from quaymaster._studies.why.pod_group_suggestions import suggest_group_changes
from quaymaster._studies.why.suggestions import Suggestions, suggest_changes
from quaymaster._studies.why.summary import explain_pending

__all__ = [
    "Attempt",
    "AttemptOutcome",
    "Cause",
    "CauseCount",
    "ChangeKind",
    "ChangedDecision",
    "ComparedVariant",
    "Comparison",
    "Decision",
    "Difference",
    "Divergence",
    "EnvironmentFailedError",
    "EnvironmentVariant",
    "Estimate",
    "ExplainedGroup",
    "ExplainedPod",
    "Explanation",
    "FieldChange",
    "GroupAttempt",
    "GroupMember",
    "GroupNotFoundError",
    "GroupOutcome",
    "History",
    "HistoryObserver",
    "InfeasibleNodeError",
    "JudgedNode",
    "Measures",
    "MovedWorkload",
    "NodeFate",
    "NodeNotFoundError",
    "NodeRejection",
    "NodeScores",
    "NodeSpan",
    "ObservedAttempt",
    "ObservedRun",
    "Outcome",
    "PendingGroup",
    "PendingSummary",
    "PlacedPod",
    "Placement",
    "PluginScore",
    "PodLife",
    "PodNotFoundError",
    "Preemption",
    "ProgressFn",
    "RejectedNodes",
    "Run",
    "RunObserver",
    "Sample",
    "Simulation",
    "SimulationObserver",
    "SimulationResult",
    "Standing",
    "Step",
    "StepOutcome",
    "StuckRollout",
    "SuggestedChange",
    "Suggestions",
    "TrialError",
    "TriedPlacement",
    "UnplacedMember",
    "UnscheduledPod",
    "Upcoming",
    "Variant",
    "VariantResult",
    "VersionChanges",
    "WhichAttempt",
    "WhyNot",
    "WorkloadSpread",
    "compare",
    "explain_group",
    "explain_pending",
    "explain_pod",
    "observe",
    "simulate",
    "suggest_changes",
    "suggest_group_changes",
    "version_changes",
]
