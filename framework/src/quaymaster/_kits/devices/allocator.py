"""Allocates the devices of a node to claims.

Mirrors ``Allocator`` (k8s.io/dynamic-resource-allocation v0.36 and v0.37,
``structured``).
"""

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from quaymaster._api.objects import AllocationResult, Node, ResourceClaim
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.counters import AvailableCounters
from quaymaster._kits.devices.errors import InvalidPoolsError
from quaymaster._kits.devices.inventory import Inventory, NodeDevices
from quaymaster._kits.devices.obstacles import Obstacles
from quaymaster._kits.devices.requests import ClaimRequests, ClassOf, requests_of
from quaymaster._kits.devices.results import result_of
from quaymaster._kits.devices.rules import DeviceRules
from quaymaster._kits.devices.search import Search
from quaymaster._kits.devices.shortages import Shortage, shortages

__all__ = ["Allocator"]

_MAX_STEPS: Final = 1_000_000
"""How many devices a search on one node may look at, each as often as it does.

Chosen, not measured: some seconds, as upstream's limit of 10 s; unlike that, a search
ends at the same step on every machine.
"""
_MAX_STEPS_OF_WHY_NOT: Final = 20_000
"""The same for each of the searches that explain, on whatever many nodes. Chosen."""


class Allocator:
    """Finds devices for some claims, on any number of nodes.

    Slices, classes and allocations must not change while it is in use.

    Args:
        inventory: All devices.
        allocated: The allocated devices.
        class_of: Returns the class with a name, or None.
        claims: The claims, in the order in which they are served.
        max_steps: How many devices one search may try.
        make_share_id: Makes the name of one share of a device; by default a random one.
        kubernetes: The version of Kubernetes whose decisions are made.
    """

    def __init__(
        self,
        inventory: Inventory,
        allocated: AllocatedDevices,
        class_of: ClassOf,
        claims: Iterable[ResourceClaim],
        *,
        max_steps: int = _MAX_STEPS,
        make_share_id: Callable[[], str] | None = None,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    ) -> None:
        self._inventory = inventory
        self._allocated = allocated
        self._class_of = class_of
        self._claims = tuple(claims)
        self._max_steps = max_steps
        self._make_share_id = make_share_id or _random_id
        self._rules = DeviceRules.of(kubernetes)
        self._counters = AvailableCounters(allocated, by_driver=self._rules.is_1_37)
        self._minds_taints = kubernetes.enabled("DRADeviceTaints")
        self._ready: Sequence[ClaimRequests] | None = None

    def allocate(self, node: Node) -> Sequence[AllocationResult] | None:
        """Return the results of the claims on a node, in their order; or None.

        Args:
            node: The node.

        Raises:
            AllocationError: A claim cannot be allocated on any node.
            InvalidPoolsError: No devices were found, and a pool of the node is invalid.
            StepLimitError: There were too many possibilities.
        """
        devices = self._inventory.on(node)
        search = self._search(node, devices, self._claims_ready(), self._max_steps)
        # An invalid pool is an error only if the other pools do not suffice:
        # ``Allocate`` reports it after the search has failed.
        if not search.run():
            if any(pool.problem for pool in devices.pools):
                raise InvalidPoolsError
            return None
        return [
            result_of(
                claim,
                chosen,
                picked,
                node.name,
                self._make_share_id,
                rules=self._rules,
            )
            for claim, chosen, picked in zip(
                self._claims_ready(), search.chosen, search.picked, strict=True
            )
        ]

    def why_not(self, node: Node) -> Sequence[Shortage]:
        """Return the requests that get no devices on a node, and why.

        Args:
            node: The node.

        Returns:
            The requests that cannot be served even alone, with one entry for each
            alternative. If there are none, the first one that cannot be served together
            with earlier ones. Empty if all claims can be served.

        Raises:
            AllocationError: A claim cannot be allocated on any node.
        """
        devices = self._inventory.on(node)
        steps = min(self._max_steps, _MAX_STEPS_OF_WHY_NOT)
        return shortages(
            self._claims_ready(),
            lambda claims: self._search(node, devices, claims, steps).run(),
            devices,
            Obstacles(node, self._allocated, self._counters, rules=self._rules),
        )

    def _claims_ready(self) -> Sequence[ClaimRequests]:
        # Prepared once for all nodes. Not in the constructor, since a mistake in a
        # claim is the error of the first node that is tried.
        if self._ready is None:
            self._ready = [
                requests_of(claim, self._class_of, minds_taints=self._minds_taints)
                for claim in self._claims
            ]
        return self._ready

    def _search(
        self,
        node: Node,
        devices: NodeDevices,
        claims: Sequence[ClaimRequests],
        max_steps: int,
    ) -> Search:
        return Search(
            node,
            devices,
            claims,
            self._allocated,
            self._counters,
            max_steps,
            rules=self._rules,
        )


def _random_id() -> str:
    return str(uuid.uuid4())
