"""The state of a pod's claims during one attempt.

Mirrors ``stateData`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

import attrs

from quaymaster import NodeInfo
from quaymaster.devices import Allocator
from quaymaster.objects import (
    AllocationResult,
    NodeMatcher,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from quaymaster_dynamic_resources.extended import Mappings

__all__ = ["ClaimsState", "NodeAllocation"]


class Verdicts(Protocol):
    """Cached verdicts on nodes for one kind of claims.

    Attributes:
        results: Row -> the cached allocations there.
    """

    results: dict[int, Sequence[AllocationResult]]

    def has_passed(self, row: int) -> bool:
        """Whether the cached verdict on a row is that it passes."""


@attrs.frozen(eq=False)
class NodeAllocation:
    """The allocations for a pod on a node.

    Attributes:
        claims: The unallocated claims, the implicit one last, with its requests on this
            node.
        results: Their allocations.
        mappings: The requests that serve each extended resource.
    """

    claims: Sequence[ResourceClaim]
    results: Sequence[AllocationResult]
    mappings: Mappings = ()


@attrs.define(eq=False)
class ClaimsState:
    """The claims of a pod, and their allocations.

    Attributes:
        claims: The claims, the implicit one for extended resources last.
        implicit: The index of the implicit claim, or -1.
        implicit_uid: Its uid before it is created.
        amounts: Resource -> the pod's request.
        consumers: Index of a claim -> the object it is reserved for, the pod or its
            group; the implicit claim has none.
        matchers: Index of a claim -> the nodes that can use its devices; None is all.
        pending: Index of a claim -> its allocation, which another pod of the group has
            reserved in the same cycle.
        needs_devices: Whether some claim is not allocated yet.
        has_alternatives: Whether a request of some claim has alternatives.
        allocators: The searches, by the device requests for extended resources.
        allocations: Node -> the allocations there.
        reserved: Index of a claim -> its allocation in Reserve.
        in_doubt: The indexes of claims whose write has an unknown outcome.
        unavailable: The indexes of claims that some node cannot use.
        verdicts: Cached verdicts, for rows that have no entry in `allocations`.
    """

    claims: list[ResourceClaim] = attrs.field(factory=list)
    implicit: int = -1
    implicit_uid: str = ""
    amounts: Mapping[str, int] = attrs.field(factory=dict)
    consumers: Sequence[ResourceClaimConsumerReference] = ()
    matchers: Sequence[NodeMatcher | None] = ()
    pending: dict[int, AllocationResult] = attrs.field(factory=dict)
    needs_devices: bool = False
    has_alternatives: bool = False
    allocators: dict[Hashable, Allocator] = attrs.field(factory=dict)
    allocations: dict[str, NodeAllocation] = attrs.field(factory=dict)
    reserved: dict[int, AllocationResult] = attrs.field(factory=dict)
    in_doubt: set[int] = attrs.field(factory=set)
    unavailable: set[int] = attrs.field(factory=set)
    verdicts: Verdicts | None = None

    @property
    def has_own_claims(self) -> bool:
        """Whether the pod has claims other than the implicit one."""
        return len(self.claims) > (self.implicit >= 0)

    @property
    def to_allocate(self) -> Sequence[int]:
        """The indexes of the unallocated claims."""
        return [
            at
            for at, claim in enumerate(self.claims)
            if claim.status.allocation is None
        ]

    @property
    def to_search(self) -> Sequence[int]:
        """The indexes of the claims that need devices which no pod has reserved."""
        return [at for at in self.to_allocate if at not in self.pending]

    def results_on(self, node: NodeInfo) -> Sequence[AllocationResult] | None:
        """Return the allocations on a node, or None if there is an implicit claim.

        The requests of the implicit claim differ from node to node.
        """
        allocation = self.allocations.get(node.name)
        return None if allocation is None or self.implicit >= 0 else allocation.results

    def take_on(self, node: NodeInfo, results: Sequence[AllocationResult]) -> None:
        """Use the cached allocations of equal claims on a node."""
        wanting = [self.claims[at] for at in self.to_allocate]
        self.allocations[node.name] = NodeAllocation(wanting, results)

    @property
    def unavailable_claims(self) -> Sequence[ResourceClaim]:
        """The claims that some node cannot use, in order."""
        return [self.claims[at] for at in sorted(self.unavailable - {self.implicit})]
