"""Keep a pod off nodes that lack a feature that it needs.

Kubelets declare in ``status.declaredFeatures`` features that some nodes of the cluster
may lack. Most pods need none of these features, and are not filtered.

Mirrors ``NodeDeclaredFeatures`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go``).
"""

from collections.abc import Sequence
from typing import Final

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    Node,
    NodeInfo,
    Pod,
    PodUse,
    QueueingHint,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster_node_declared_features.features import NEEDS, required_features

__all__ = ["NodeDeclaredFeatures"]

_REQUIRED: Final = StateKey[frozenset[str]](
    "PreFilterNodeDeclaredFeatures",
    missing='error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found',
)
_LACKING: Final = Status.unresolvable("node(s) didn't match Pod's required features")


class NodeDeclaredFeatures:
    """Rejects nodes that do not declare all features that the pod needs."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Create the plugin, which uses neither arguments nor the framework."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(
                Change.ADD | Change.UPDATE_NODE_DECLARED_FEATURE, _after_node_change
            ),
            on_pod.target(Change.UPDATE, _after_pod_update),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> frozenset[str]:
        return required_features(pod.spec)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        required = required_features(pod.spec)
        if not required:
            return Status.skip()
        state[_REQUIRED] = required
        return None

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        required = state[_REQUIRED]
        return (
            None if required.issubset(node.node.status.declared_features) else _LACKING
        )

    @hookimpl
    def explain_filter(self, state: CycleState, node: NodeInfo) -> Sequence[str]:
        missing = state[_REQUIRED].difference(node.node.status.declared_features)
        return [
            f"the node does not declare the feature {name}, which {NEEDS[name]} needs"
            for name in sorted(missing)
        ]


def _after_node_change(_pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    """Queue the pod if a node is new, or its declared features have changed."""
    if old is None or old.status.declared_features != new.status.declared_features:
        return QueueingHint.QUEUE
    return QueueingHint.SKIP


def _after_pod_update(pod: Pod, old: Pod, new: Pod) -> QueueingHint:
    """Queue the pod if it has changed itself and needs other features now."""
    if new.uid != pod.uid:
        return QueueingHint.SKIP
    if required_features(old.spec) == required_features(new.spec):
        return QueueingHint.SKIP
    return QueueingHint.QUEUE
