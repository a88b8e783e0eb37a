"""What tests see of ``quaymaster._core.cycle``."""

from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.decisions import Decision, Feasible, FitError
from quaymaster._core.cycle.diagnosis import Diagnosis, PluginRejections
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.filtering import FilterStation
from quaymaster._core.cycle.nominated import NominatedPods
from quaymaster._core.cycle.pre_filter import PreFilterOutcome, PreFilterStation
from quaymaster._core.cycle.sampling import NodeOrder, nodes_to_find
from quaymaster._core.cycle.score_call import PluginScores
from quaymaster._core.cycle.scoring import Ties

__all__ = [
    "IS_CONSTANT",
    "Algorithm",
    "Attempt",
    "Decision",
    "Diagnosis",
    "Feasible",
    "FilterStation",
    "FitError",
    "NodeOrder",
    "NominatedPods",
    "PluginRejections",
    "PluginScores",
    "PreFilterOutcome",
    "PreFilterStation",
    "Ties",
    "explain",
    "nodes_to_find",
]

IS_CONSTANT = "quaymaster._core.cycle.score_call.is_constant"
"""Finds out whether all scores are equal."""
