"""Gymnasium environments in which an agent makes the scheduling decisions.

They need the extra ``gym``. Importing this module registers ``Quaymaster/Nodes-v0``,
where an action is a node, and ``Quaymaster/Weights-v0``, where an action sets the
weights of the Score plugins.
"""

from quaymaster._studies.gym.actions import (
    Action,
    Actions,
    NodeActions,
    WeightActions,
    score_plugins,
)
from quaymaster._studies.gym.columns import NodeColumns, ShareColumns
from quaymaster._studies.gym.environment import Reward, SchedulingEnv, placed
from quaymaster._studies.gym.workloads import small_workload

__all__ = [
    "Action",
    "Actions",
    "NodeActions",
    "NodeColumns",
    "Reward",
    "SchedulingEnv",
    "ShareColumns",
    "WeightActions",
    "placed",
    "score_plugins",
    "small_workload",
]
