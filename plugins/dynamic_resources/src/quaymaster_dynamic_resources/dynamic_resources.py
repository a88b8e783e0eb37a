"""Keep pods that claim devices off until devices can be allocated.

A pod without claims passes everywhere, and every hook answers as upstream's does for
such a pod, messages included. A pod with claims is rejected, since allocating devices
is not supported.

Mirrors ``DynamicResources`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``) for pods
without claims.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    Int64Array,
    NodeTable,
    Pod,
    PodUse,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    default_normalize,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.objects import DeviceClass, ResourceClaim, ResourceSlice
from quaymaster_dynamic_resources.args import DynamicResourcesArgs
from quaymaster_dynamic_resources.claims import may_need_devices, why_devices_are_needed

__all__ = ["DynamicResources"]

_SEEN: Final = StateKey[bool](
    "DynamicResources",
    missing="not found",
)
_NOTHING_TO_FREE: Final = Status.unschedulable("no new claims to deallocate")


class DynamicResources:
    """Lets pods without claims pass, and rejects the others.

    Args:
        _args: Without an effect while nothing is allocated.
        handle: The framework.
    """

    Args = DynamicResourcesArgs
    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = (DeviceClass, ResourceClaim, ResourceSlice)
    blocks = False

    def __init__(self, _args: DynamicResourcesArgs, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        return None if may_need_devices(pod) else ()

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # Upstream does not register the deletion of a class; here, it ends a rejection.
        return [
            on_node(
                Change.ADD | Change.UPDATE_NODE_LABEL | Change.UPDATE_NODE_ALLOCATABLE
            ),
            EventsOf(ResourceClaim)(Change.ADD | Change.UPDATE, _after_claim_change),
            on_pod(Change.UPDATE_POD_GENERATED_RESOURCE_CLAIM, _after_claim_generation),
            EventsOf(DeviceClass)(Change.ADD | Change.UPDATE | Change.DELETE),
            EventsOf(ResourceSlice)(Change.ADD | Change.UPDATE),
        ]

    @hookimpl
    def pre_enqueue(self) -> None:
        """A pod with claims is not gated: its rejection shall be seen."""

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status:
        state[_SEEN] = True
        classes = self._handle.informers.list(DeviceClass)
        needed = why_devices_are_needed(pod, classes)
        if needed:
            text = f"pod needs {needed}, and allocating devices is not supported"
            return Status.unresolvable(text)
        return Status.skip()

    @hookimpl
    def filter(self, state: CycleState) -> None:
        _expect_prepared(state)

    @hookimpl
    def filter_nodes(self, state: CycleState) -> None:
        _expect_prepared(state)

    @hookimpl
    def post_filter(self, state: CycleState) -> Status:
        _expect_prepared(state)
        return _NOTHING_TO_FREE

    @hookimpl
    def score(self, state: CycleState) -> int:
        _expect_prepared(state)
        return 0

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        _expect_prepared(state)
        return np.zeros(nodes.count(rows), dtype=np.int64)

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores)

    @hookimpl
    def reserve(self, state: CycleState) -> None:
        _expect_prepared(state)

    @hookimpl
    def unreserve(self) -> None:
        """There is nothing to give back."""

    @hookimpl
    def pre_bind(self, state: CycleState) -> None:
        _expect_prepared(state)

    @hookimpl
    def pre_bind_pre_flight(self, state: CycleState) -> Status:
        _expect_prepared(state)
        return Status.skip()


def _expect_prepared(state: CycleState) -> None:
    """Fail with upstream's error if ``pre_filter`` never came to look at the pod."""
    _ = state[_SEEN]


def _after_claim_change(
    _pod: Pod, _old: ApiObject | None, _new: ApiObject
) -> QueueingHint:
    """No claim helps a pod as long as none is allocated."""
    return QueueingHint.SKIP


def _after_claim_generation(pod: Pod, _old: Pod, new: Pod) -> QueueingHint:
    """Queue the pod if it is the one that changed."""
    return QueueingHint.QUEUE if new.uid == pod.uid else QueueingHint.SKIP
