"""Search devices for a pod's claims on a node, and explain rejections.

Mirrors ``Filter`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from quaymaster import Handle, Node, NodeInfo, Pod, Status
from quaymaster.devices import (
    AllocatedDevices,
    AllocationError,
    Allocator,
    DeviceId,
    ExtendedResources,
    InvalidPoolsError,
    Inventory,
    ObstacleKind,
    Shortage,
    StepLimitError,
)
from quaymaster.objects import (
    AllocationResult,
    DeviceClass,
    DeviceRequest,
    NodeMatcher,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster_dynamic_resources.args import DynamicResourcesArgs
from quaymaster_dynamic_resources.conditions import (
    BindingFailedError,
    has_timed_out,
    is_ready,
)
from quaymaster_dynamic_resources.extended import (
    Demand,
    NotServedError,
    demand_on,
    with_requests,
)
from quaymaster_dynamic_resources.state import ClaimsState, NodeAllocation
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = ["SHARE_ID", "NodeJudge"]

SHARE_ID: Final = "a share"
"""A placeholder for ids of shares until Reserve, because most results are unused."""

_NOT_ALLOCATED: Final = Status.unresolvable("cannot allocate all claims")
_NOT_AVAILABLE: Final = Status.unresolvable("resourceclaim not available on the node")
_OF_EARLIER_ATTEMPT: Final = Status.unresolvable(
    "cannot schedule extended resource claim"
)
_NOT_SERVED: Final = Status.unresolvable("cannot fit resource")
_NOTHING: Final = Demand((), ())
_TAKEN: Final = (ObstacleKind.ALLOCATED, ObstacleKind.CAPACITY)
_OPTIONAL_OPERATIONS: Final = "DRAOptionalNodeOperations"
_NAMED: Final = 4
"""How many claims with devices a message names at most."""
# Chosen, not measured: upstream's limit is a time and depends on the machine.
_STEPS_PER_SECOND: Final = 100_000


class NodeJudge:
    """Filters one node for one pod, and keeps the allocations that it found.

    Args:
        args: The limits for searching and for waiting.
        handle: The framework.
        tracker: The existing and the allocated devices.
        resources: The device classes with extended resources.
    """

    def __init__(
        self,
        args: DynamicResourcesArgs,
        handle: Handle,
        tracker: ClaimTracker,
        resources: ExtendedResources,
    ) -> None:
        self._handle = handle
        self._tracker = tracker
        self._resources = resources
        self._timeout_seconds = args.binding_timeout.total_seconds()
        self._max_steps = _steps(args.filter_timeout)
        self._minds_operations = handle.kubernetes.since("1.37")

    def judge(self, state: ClaimsState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return why a node cannot satisfy a pod's claims, or None if it can."""
        demand: Demand | None = None
        if state.implicit >= 0:
            implicit = state.claims[state.implicit]
            if implicit.spec.devices.requests:
                return _OF_EARLIER_ATTEMPT
            try:
                demand = demand_on(node, pod, state.amounts, self._resources)
            except NotServedError:
                return _NOT_SERVED
            if not state.has_own_claims and (
                demand is None or implicit.status.allocation is not None
            ):
                return None
        # Known before the search but reported after it: upstream allocates first, and
        # an error of the allocator overrides that a claim is elsewhere.
        unavailable = self._unavailable(state, node)
        allocation: NodeAllocation | None = None
        if state.needs_devices:
            answer = self._allocate(state, node, demand or _NOTHING)
            if isinstance(answer, Status):
                return answer
            allocation = answer
        # Noted for PostFilter, which frees only claims that some node could not use.
        if unavailable:
            state.unavailable.update(unavailable)
            return _NOT_AVAILABLE
        if allocation is not None:
            state.allocations[node.name] = allocation
        return None

    def explain(self, state: ClaimsState, pod: Pod, node: NodeInfo) -> Sequence[str]:
        """Return why a node cannot satisfy a pod's claims.

        The first sentence is the same for all nodes with equal devices; the others name
        claims and pools of this node.
        """
        demand: Demand | None = None
        if state.implicit >= 0:
            try:
                demand = demand_on(node, pod, state.amounts, self._resources)
            except NotServedError as error:
                return [f"neither the node nor any device class offers {error}"]
        reasons = [
            self._why_unavailable(state, at, node)
            for at in self._unavailable(state, node)
        ]
        claims = self._wanting(state, demand or _NOTHING)
        if not claims:
            return reasons
        allocator = self._allocator(state, _key(demand or _NOTHING), claims)
        try:
            shortages = allocator.why_not(node.node)
        except AllocationError as error:
            return [*reasons, str(error)]
        implicit = state.claims[state.implicit].name if demand else ""
        sentences = [
            _of_container(shortage, demand)
            if demand and shortage.claim.endswith(f"/{implicit}")
            else str(shortage)
            for shortage in shortages
        ]
        sentence = "; ".join((*reasons, *sentences))
        return [sentence, *_named(shortages, self._tracker.holders())]

    def _why_unavailable(self, state: ClaimsState, at: int, node: NodeInfo) -> str:
        claim = state.claims[at]
        if self._lacks_operations(claim.status.allocation, node):
            return (
                f"claim {claim.key}: the node does not declare the feature "
                f"{_OPTIONAL_OPERATIONS}"
            )
        if not _is_elsewhere(state.matchers[at], node):
            return f"claim {claim.key}: its devices have not become ready"
        allocation = claim.status.allocation or state.pending[at]
        devices = ", ".join(
            f"{result.driver}/{result.pool}/{result.device}"
            for result in allocation.devices.results
        )
        return f"claim {claim.key}: has devices that other nodes reach ({devices})"

    def _unavailable(self, state: ClaimsState, node: NodeInfo) -> Sequence[int]:
        """Return the claims whose devices this node cannot use, or that failed."""
        return [
            at
            for at, claim in enumerate(state.claims)
            if _is_elsewhere(state.matchers[at], node)
            or (
                claim.status.allocation is not None
                and (
                    self._lacks_operations(claim.status.allocation, node)
                    or self._is_lost(claim)
                )
            )
        ]

    def _lacks_operations(
        self, allocation: AllocationResult | None, node: NodeInfo
    ) -> bool:
        """Whether a node does not declare that it skips what a claim wants skipped.

        Upstream asks it of claims with devices whether the feature gate is on or off.
        """
        return (
            self._minds_operations
            and allocation is not None
            and any(
                result.skip_node_operations for result in allocation.devices.results
            )
            and _OPTIONAL_OPERATIONS not in node.node.status.declared_features
        )

    def _is_lost(self, claim: ResourceClaim) -> bool:
        """Whether the devices of a claim have failed or timed out."""
        try:
            if is_ready(claim):
                return False
        except BindingFailedError:
            return True
        return has_timed_out(claim, self._timeout_seconds, self._handle.clock.now())

    def _allocate(
        self, state: ClaimsState, node: NodeInfo, demand: Demand
    ) -> NodeAllocation | Status:
        for at, pending in state.pending.items():
            if self._lacks_operations(pending, node):
                return Status.unresolvable(
                    f"resource claim {state.claims[at].key} allocation requires "
                    f"{_OPTIONAL_OPERATIONS} feature on the node"
                )
        claims = self._wanting(state, demand)
        results = self._search(state, node, demand, claims) if claims else ()
        if results is None:
            return _NOT_ALLOCATED
        if isinstance(results, Status):
            return results
        return _with_pending(state, NodeAllocation(claims, results, demand.mappings))

    def _search(
        self,
        state: ClaimsState,
        node: NodeInfo,
        demand: Demand,
        claims: Sequence[ResourceClaim],
    ) -> Sequence[AllocationResult] | Status | None:
        """Search devices for claims; return None if the node cannot satisfy them."""
        try:
            return self._allocator(state, _key(demand), claims).allocate(node.node)
        except InvalidPoolsError as error:
            return Status.unresolvable(str(error))
        except StepLimitError:
            text = f"node {node.name}: timed out trying to allocate devices"
            return Status.from_error(text)
        except AllocationError as error:
            return Status.from_error(str(error))

    def _wanting(self, state: ClaimsState, demand: Demand) -> Sequence[ResourceClaim]:
        """Return the claims that need devices, the implicit one with its requests."""
        return [
            with_requests(state.claims[at], demand)
            if at == state.implicit
            else state.claims[at]
            for at in state.to_search
        ]

    def _allocator(
        self, state: ClaimsState, key: Hashable, claims: Sequence[ResourceClaim]
    ) -> Allocator:
        allocator = state.allocators.get(key)
        if allocator is None:
            allocator = state.allocators[key] = self._make(
                self._tracker.inventory, self._tracker.allocated, claims
            )
        return allocator

    def search_again(
        self,
        claims: Sequence[ResourceClaim],
        taken: AllocatedDevices,
        node: Node,
    ) -> Sequence[AllocationResult] | None:
        """Search devices on a node in the listed slices, without caches.

        Args:
            claims: The claims.
            taken: The devices of other claims.
            node: The node.

        Returns:
            An allocation for each claim, or None if the node cannot satisfy them.

        Raises:
            AllocationError: The search failed.
        """
        slices = self._handle.informers.list(ResourceSlice)
        inventory = Inventory(
            slices, self._tracker.taint_rules(), kubernetes=self._handle.kubernetes
        )
        return self._make(inventory, taken, claims).allocate(node)

    def _make(
        self,
        inventory: Inventory,
        taken: AllocatedDevices,
        claims: Sequence[ResourceClaim],
    ) -> Allocator:
        return Allocator(
            inventory,
            taken,
            lambda name: self._handle.informers.get(DeviceClass, name),
            claims,
            max_steps=self._max_steps,
            make_share_id=lambda: SHARE_ID,
            kubernetes=self._handle.kubernetes,
        )


def _with_pending(state: ClaimsState, allocation: NodeAllocation) -> NodeAllocation:
    """Return an allocation with the devices that other pods of the group reserved.

    Upstream puts them behind the new ones, so that Reserve may give a claim the devices
    of another claim. Here they are in the order of the claims.
    """
    if not state.pending:
        return allocation
    claims, results = iter(allocation.claims), iter(allocation.results)
    both = [
        (state.claims[at], state.pending[at])
        if at in state.pending
        else (next(claims), next(results))
        for at in state.to_allocate
    ]
    return NodeAllocation(
        [claim for claim, _ in both],
        [result for _, result in both],
        allocation.mappings,
    )


def _is_elsewhere(matcher: NodeMatcher | None, node: NodeInfo) -> bool:
    return matcher is not None and not matcher.matches(node.node)


def _named(
    shortages: Sequence[Shortage], holders: Mapping[DeviceId, Sequence[str]]
) -> Iterator[str]:
    """Name the claims and pools that block devices."""
    claims = {
        name: None
        for shortage in shortages
        for blocked in shortage.blocked
        if any(cause.kind in _TAKEN for cause in blocked.causes)
        for name in holders.get(blocked.device, ())
    }
    if claims:
        more = f" and {len(claims) - _NAMED} more" if len(claims) > _NAMED else ""
        yield f"devices are allocated to {', '.join(list(claims)[:_NAMED])}{more}"
    pools = {
        pool: why for shortage in shortages for pool, why in shortage.pools.items()
    }
    for pool, why in pools.items():
        yield f"pool {pool} is {why}"


def _of_container(shortage: Shortage, demand: Demand | None) -> str:
    """Describe the shortage of an implicit request by the resource that it serves."""
    resources = {
        f"{mapping.resource_name} of container {mapping.container_name}"
        for mapping in (demand.mappings if demand else ())
        if mapping.request_name == shortage.request
    }
    return shortage.told(f"extended resource {' and '.join(sorted(resources))}")


def _key(demand: Demand) -> Hashable:
    return tuple(map(_key_of, demand.requests))


def _key_of(request: DeviceRequest) -> Hashable:
    """Return the parts in which requests for extended resources can differ."""
    exactly = request.exactly
    return request.name, exactly and (exactly.device_class_name, exactly.count)


def _steps(timeout: timedelta) -> int:
    """Convert a time limit to a number of search steps; 0 means no limit."""
    if not timeout:
        return sys.maxsize
    return int(timeout.total_seconds() * _STEPS_PER_SECOND)
