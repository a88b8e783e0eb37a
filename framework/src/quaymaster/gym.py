"""An environment of Gymnasium in which an agent takes a scheduler's decisions.

It needs the extra ``gym``. To import this module registers ``Quaymaster/Nodes-v0``,
where an action is a node, and ``Quaymaster/Weights-v0``, where it is the weights of the
Score plugins.
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
