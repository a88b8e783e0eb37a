"""Quaymaster: the Kubernetes scheduling framework as a Python SDK.

A plugin author needs the names below; everything else is in the topic modules
(`quaymaster.objects`, `quaymaster.node_table`, `quaymaster.config`,
`quaymaster.testing`, ...). Modules that begin with an underscore may change any time.
"""

from quaymaster.cluster_events import (
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
from quaymaster.cycle_state import CycleState, StateKey
from quaymaster.errors import QuaymasterError
from quaymaster.handle import Handle
from quaymaster.hookspecs import PodUse, Scope, hookimpl
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import NodeTable
from quaymaster.objects import Node, Pod, SpecKey
from quaymaster.options import EngineOptions
from quaymaster.results import (
    NodeVerdicts,
    NominatingInfo,
    PermitWait,
    PostFilterResult,
    PreBindWait,
    PreFilterResult,
)
from quaymaster.snapshot import Snapshot
from quaymaster.status import Code, Status

__all__ = [
    "ActionType",
    "Change",
    "ClusterEvent",
    "ClusterEventWithHint",
    "Code",
    "CycleState",
    "EngineOptions",
    "EventResource",
    "EventsOf",
    "Handle",
    "Node",
    "NodeInfo",
    "NodeTable",
    "NodeVerdicts",
    "NominatingInfo",
    "PermitWait",
    "Pod",
    "PodUse",
    "PostFilterResult",
    "PreBindWait",
    "PreFilterResult",
    "QuaymasterError",
    "QueueingHint",
    "Scope",
    "Snapshot",
    "SpecKey",
    "StateKey",
    "Status",
    "hookimpl",
    "on_node",
    "on_pod",
]
