"""Gymnasium environments in which an agent makes the scheduling decisions.

They need the extra ``gym``. Importing this module registers ``Quaymaster/Nodes-v0``,
where an action is a node, ``Quaymaster/Weights-v0``, where an action sets the weights
of the Score plugins, and ``Quaymaster/Queue-v0``, where an action is a waiting pod and
its node, or to wait.
"""

from quaymaster._studies.gym.actions import (
    Action,
    Actions,
    NodeActions,
    WeightActions,
    score_plugins,
)
from quaymaster._studies.gym.columns import NodeColumns, ShareColumns
from quaymaster._studies.gym.compiled_workloads import RunTimeEstimate
from quaymaster._studies.gym.elapsed import (
    Elapsed,
    ElapsedReward,
    added_slowdown,
    bounded_slowdown,
    started_pods,
    waiting_seconds,
)
from quaymaster._studies.gym.environment import Reward, SchedulingEnv, placed
from quaymaster._studies.gym.queue_environment import QueueEnv
from quaymaster._studies.gym.queue_observations import QueueColumns
from quaymaster._studies.gym.unsupported import UnsupportedWorkloadError
from quaymaster._studies.gym.vector_environment import (
    QueueObservation,
    SchedulerVectorEnv,
)
from quaymaster._studies.gym.workloads import queue_workload, small_workload

__all__ = [
    "Action",
    "Actions",
    "Elapsed",
    "ElapsedReward",
    "NodeActions",
    "NodeColumns",
    "QueueColumns",
    "QueueEnv",
    "QueueObservation",
    "Reward",
    "RunTimeEstimate",
    "SchedulerVectorEnv",
    "SchedulingEnv",
    "ShareColumns",
    "UnsupportedWorkloadError",
    "WeightActions",
    "added_slowdown",
    "bounded_slowdown",
    "placed",
    "queue_workload",
    "score_plugins",
    "small_workload",
    "started_pods",
    "waiting_seconds",
]
