"""Quaymaster: the Kubernetes scheduling framework as a Python SDK.

A plugin imports the names below; further topics have their own modules:

- for plugins: `columns`, `counting`, `devices`, `objects`, `preemption`, `volumes`
- for programs: `autoscaling`, `cluster`, `config`, `experiments`, `gym`, `inmemory`,
  `kubernetes`, `manifests`, `planning`, `recording`, `reporting`, `scenarios`,
  `scheduler`, `service`, `simulation`
- for both: `errors`, `hookspecs`, `mypy`, `testing`

Names that begin with an underscore may change at any time.
"""

from typing import TYPE_CHECKING

from quaymaster._base.lazy_names import lazy_names

if TYPE_CHECKING:
    from quaymaster._api.objects import ApiObject, Node, Pod
    from quaymaster._core.contract.cluster_events import (
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
    from quaymaster._core.contract.cycle_state import CycleState, StateKey
    from quaymaster._core.contract.declarations import PodUse, Scope
    from quaymaster._core.contract.handle import Handle, WaitingPod
    from quaymaster._core.contract.hook_marks import hookimpl
    from quaymaster._core.contract.informers import Informers
    from quaymaster._core.contract.queueing import QueuedPodInfo
    from quaymaster._core.contract.results import (
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
    from quaymaster._core.contract.scores import MAX_NODE_SCORE, default_normalize
    from quaymaster._core.contract.status import Code, Status
    from quaymaster._core.state.arrays import BoolArray, Int64Array, Rows
    from quaymaster._core.state.node_info import NodeInfo
    from quaymaster._core.state.node_table import NodeTable
    from quaymaster._core.state.snapshot import Snapshot

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "quaymaster._api.objects": (
                "ApiObject",
                "Node",
                "Pod",
            ),
            "quaymaster._core.contract.cluster_events": (
                "ActionType",
                "Change",
                "ClusterEvent",
                "ClusterEventWithHint",
                "EventResource",
                "EventsOf",
                "QueueingHint",
                "on_node",
                "on_pod",
            ),
            "quaymaster._core.contract.cycle_state": (
                "CycleState",
                "StateKey",
            ),
            "quaymaster._core.contract.declarations": (
                "PodUse",
                "Scope",
            ),
            "quaymaster._core.contract.handle": (
                "Handle",
                "WaitingPod",
            ),
            "quaymaster._core.contract.hook_marks": ("hookimpl",),
            "quaymaster._core.contract.informers": ("Informers",),
            "quaymaster._core.contract.queueing": ("QueuedPodInfo",),
            "quaymaster._core.contract.results": (
                "NodeStatuses",
                "NodeVerdicts",
                "NominatingInfo",
                "NominatingMode",
                "PermitWait",
                "PostFilterResult",
                "PreBindPreFlightResult",
                "PreBindWait",
                "PreFilterResult",
            ),
            "quaymaster._core.contract.scores": (
                "MAX_NODE_SCORE",
                "default_normalize",
            ),
            "quaymaster._core.contract.status": (
                "Code",
                "Status",
            ),
            "quaymaster._core.state.arrays": (
                "BoolArray",
                "Int64Array",
                "Rows",
            ),
            "quaymaster._core.state.node_info": ("NodeInfo",),
            "quaymaster._core.state.node_table": ("NodeTable",),
            "quaymaster._core.state.snapshot": ("Snapshot",),
        },
    )
