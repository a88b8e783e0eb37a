"""What is known of a pod's claims during one attempt.

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
)
from quaymaster_dynamic_resources.extended import Mappings

__all__ = ["ClaimsState", "NodeAllocation"]


class KnownVerdicts(Protocol):
    """What is known of nodes for claims of a kind.

    Attributes:
        results: Row -> what the claims get there, if that is known.
    """

    results: dict[int, Sequence[AllocationResult]]

    def has_passed(self, row: int) -> bool:
        """Whether a row is known to have devices."""


@attrs.frozen(eq=False)
class NodeAllocation:
    """What was found for a pod on a node.

    Attributes:
        claims: The claims that were to be allocated, that of extended resources last,
            as the node calls for it.
        results: What they get.
        mappings: Which request serves which extended resource.
    """

    claims: Sequence[ResourceClaim]
    results: Sequence[AllocationResult]
    mappings: Mappings = ()


@attrs.define(eq=False)
class ClaimsState:
    """The claims of a pod, and what was found for them.

    Attributes:
        claims: The claims, that of extended resources last.
        implicit: The place of the claim of extended resources; -1 if there is none.
        implicit_uid: Its uid while it is in no cluster.
        amounts: Resource -> how much of it the pod requests.
        matchers: Claim -> where its devices can be used; None stands for all nodes.
        needs_devices: Whether some claim has no devices yet.
        has_alternatives: Whether a request of some claim has several.
        allocators: What finds devices, by what extended resources call for.
        allocations: Node -> what was found there.
        reserved: Claim -> what it was given in Reserve; None if it had devices.
        in_doubt: The claims of which it is not known whether they were written.
        unavailable: The claims that cannot be used on some node.
        known: The verdicts that were known, of rows for which nothing was found yet.
    """

    claims: list[ResourceClaim] = attrs.field(factory=list)
    implicit: int = -1
    implicit_uid: str = ""
    amounts: Mapping[str, int] = attrs.field(factory=dict)
    matchers: Sequence[NodeMatcher | None] = ()
    needs_devices: bool = False
    has_alternatives: bool = False
    allocators: dict[Hashable, Allocator] = attrs.field(factory=dict)
    allocations: dict[str, NodeAllocation] = attrs.field(factory=dict)
    reserved: dict[int, AllocationResult] = attrs.field(factory=dict)
    in_doubt: set[int] = attrs.field(factory=set)
    unavailable: set[int] = attrs.field(factory=set)
    known: KnownVerdicts | None = None

    @property
    def has_own_claims(self) -> bool:
        """Whether the pod names claims, beside its extended resources."""
        return len(self.claims) > (self.implicit >= 0)

    @property
    def to_allocate(self) -> Sequence[int]:
        """The places of the claims without devices."""
        return [
            at
            for at, claim in enumerate(self.claims)
            if claim.status.allocation is None
        ]

    def results_on(self, node: NodeInfo) -> Sequence[AllocationResult] | None:
        """What was found on a node for claims that the pod names, if for those alone.

        What the claim of extended resources asks for differs from node to node.
        """
        found = self.allocations.get(node.name)
        return None if found is None or self.implicit >= 0 else found.results

    def take_on(self, node: NodeInfo, results: Sequence[AllocationResult]) -> None:
        """Take over what claims that ask for the same get on a node."""
        wanting = [self.claims[at] for at in self.to_allocate]
        self.allocations[node.name] = NodeAllocation(wanting, results)

    @property
    def unavailable_claims(self) -> Sequence[ResourceClaim]:
        """The claims that cannot be used on some node, in order."""
        return [self.claims[at] for at in sorted(self.unavailable - {self.implicit})]
