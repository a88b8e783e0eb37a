"""What tests see of ``quaymaster._cycle``."""

from quaymaster._cycle.algorithm import Algorithm
from quaymaster._cycle.attempt import Attempt
from quaymaster._cycle.decisions import Decision, Feasible, FitError
from quaymaster._cycle.diagnosis import Diagnosis
from quaymaster._cycle.explain import explain
from quaymaster._cycle.filtering import FilterStation
from quaymaster._cycle.nominated import NominatedPods
from quaymaster._cycle.pre_filter import PreFilterOutcome, PreFilterStation
from quaymaster._cycle.sampling import NodeOrder, nodes_to_find
from quaymaster._cycle.score_call import PluginScores
from quaymaster._cycle.scoring import Ties

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
    "PluginScores",
    "PreFilterOutcome",
    "PreFilterStation",
    "Ties",
    "explain",
    "nodes_to_find",
]

IS_CONSTANT = "quaymaster._cycle.score_call.is_constant"
"""How scores that are all alike are known."""
