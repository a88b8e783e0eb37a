"""Quaymaster: the Kubernetes scheduling framework as a Python SDK.

A plugin's header needs the names below; each further topic is a module of its own:
`columns`, `counting`, `objects`, `preemption` and `volumes` for plugins; `config`,
`cluster`, `inmemory`, `kubernetes`, `manifests`, `scheduler` and `simulation` for
programs; `testing`, `errors` and `hookspecs` for both. What begins with an underscore
may change any time.
"""

from quaymaster._contract.cluster_events import (
    ActionType,
    Change,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    EventsOf,
    QueueingHint,
    on_node,
    on_pod,
)
from quaymaster._contract.cycle_state import CycleState, StateKey
from quaymaster._contract.declarations import PodUse, Scope
from quaymaster._contract.handle import Handle, Informers, WaitingPod
from quaymaster._contract.hook_marks import hookimpl
from quaymaster._contract.queueing import QueuedPodInfo
from quaymaster._contract.results import (
    NodeStatuses,
    NodeVerdicts,
    NominatingInfo,
    NominatingMode,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
)
from quaymaster._contract.scores import MAX_NODE_SCORE, default_normalize
from quaymaster._contract.status import Code, Status
from quaymaster._objects import ApiObject, Node, Pod
from quaymaster._state.arrays import BoolArray, Int64Array, Rows
from quaymaster._state.node_info import NodeInfo
from quaymaster._state.node_table import NodeTable
from quaymaster._state.snapshot import Snapshot

__all__ = [
    "MAX_NODE_SCORE",
    "ActionType",
    "ApiObject",
    "BoolArray",
    "Change",
    "ClusterEvent",
    "ClusterEventWithHint",
    "Code",
    "CycleState",
    "EventResource",
    "EventsOf",
    "Handle",
    "Informers",
    "Int64Array",
    "Node",
    "NodeInfo",
    "NodeStatuses",
    "NodeTable",
    "NodeVerdicts",
    "NominatingInfo",
    "NominatingMode",
    "PermitWait",
    "Pod",
    "PodUse",
    "PostFilterResult",
    "PreBindPreFlightResult",
    "PreBindWait",
    "PreFilterResult",
    "QueuedPodInfo",
    "QueueingHint",
    "Rows",
    "Scope",
    "Snapshot",
    "StateKey",
    "Status",
    "WaitingPod",
    "default_normalize",
    "hookimpl",
    "on_node",
    "on_pod",
]
