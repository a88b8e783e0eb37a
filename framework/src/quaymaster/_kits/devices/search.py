"""The search for devices on one node: first fit, with backtracking.

Mirrors ``Allocate`` and ``allocateOne`` (k8s.io/dynamic-resource-allocation v0.36,
``structured/internal/incubating/allocator_incubating.go``), also in what its failed
tries leave behind before Kubernetes 1.37: counters stay consumed until the search ends
if a taint or constraint rejects the device, or if a shared device is given up.
"""

import enum
import itertools
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._api.objects.quantity import Quantity
from quaymaster._kits.devices.allocated import AllocatedDevices, Consumption
from quaymaster._kits.devices.capacities import (
    CapacityError,
    consumed_capacity,
    has_room,
)
from quaymaster._kits.devices.compatibility import DeviceGroups, TakenGroups
from quaymaster._kits.devices.constraints import Constraint, make_constraint
from quaymaster._kits.devices.counters import AvailableCounters, ConsumedCounters
from quaymaster._kits.devices.errors import AllocationError, StepLimitError
from quaymaster._kits.devices.ids import DeviceId
from quaymaster._kits.devices.inventory import NodeDevices, Pool
from quaymaster._kits.devices.requests import ClaimRequests, Request
from quaymaster._kits.devices.rules import OPTIONAL_NODE_OPERATIONS, DeviceRules
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["MAX_RESULTS", "Chosen", "Search"]

_NO_GROUPS: Final[TakenGroups] = {}

MAX_RESULTS: Final = 32
"""How many devices a claim may get."""


@attrs.frozen(eq=False)
class Chosen:
    """A device that a request gets.

    Attributes:
        request: The request, or the alternative.
        device: The device.
        consumed: What a share of the device takes of its capacities; None if the device
            is not shared.
        has_taken_counters: Whether counters were taken for it.
        groups_before: What devices had in common before, if groups count.
    """

    request: Request
    device: SlicedDevice
    consumed: dict[str, Quantity] | None
    has_taken_counters: bool
    groups_before: TakenGroups = attrs.field(factory=dict)


class _Outcome(enum.Enum):
    FOUND = enum.auto()
    NOT_FOUND = enum.auto()
    TOO_MANY = enum.auto()
    """A claim would get more than `MAX_RESULTS`: other devices do not help."""


class Search:
    """One search for the devices of some claims on one node.

    Attributes:
        chosen: The devices of each claim.
        picked: The chosen alternative of each claim and request.

    Args:
        node: The node.
        devices: The pools that the node sees.
        claims: The claims, in the order in which they are served.
        allocated: The allocated devices.
        counters: What allocated devices leave of the counters.
        max_steps: How many devices the search may try.
        rules: The rules of the search.

    Raises:
        AllocationError: A claim cannot be allocated on any node.
    """

    def __init__(
        self,
        node: Node,
        devices: NodeDevices,
        claims: Sequence[ClaimRequests],
        allocated: AllocatedDevices,
        counters: AvailableCounters,
        max_steps: int,
        *,
        rules: DeviceRules,
    ) -> None:
        self._node = node
        self._devices = devices
        self._claims = claims
        self._allocated = allocated
        self._max_steps = max_steps
        self._rules = rules
        self._is_1_37 = rules.is_1_37
        self._steps = 0
        self._in_use: dict[DeviceId, set[int]] = {}
        self._promised = Consumption()
        self._counters = ConsumedCounters(counters)
        self._groups = DeviceGroups(allocated) if rules.minds_groups else None
        self._all: dict[Request, Sequence[tuple[SlicedDevice, Pool]]] = {}
        self._constraints: list[Sequence[Constraint]] = []
        self.chosen: Sequence[list[Chosen]] = [[] for _ in claims]
        self.picked: Sequence[list[int]] = [[0] * len(c.choices) for c in claims]
        for claim in claims:
            self._check(claim)

    def run(self) -> bool:
        """Search devices; return whether all requests have got theirs.

        Raises:
            AllocationError: A claim cannot be allocated on any node.
            StepLimitError: There were too many possibilities, or too many devices for
                Python's stack (about 900).
        """
        try:
            return self._serve(0, 0) is _Outcome.FOUND
        # The search is one level deep for each device of all claims, 32 for a claim. A
        # pod with very many claims would exceed Python's stack rather than a limit of
        # its own.
        except RecursionError as error:
            raise StepLimitError(self._steps) from error

    def _check(self, claim: ClaimRequests) -> None:
        """Find the devices of requests for all, and check the size of the claim."""
        least = 0
        for choice in claim.choices:
            for request in choice:
                if request.wants_all:
                    self._all[request] = self._all_devices(request, claim)
            added = min(map(self._count, choice), default=0)
            # Checked per request since 1.37. The error names the request that is one
            # too many, not the sum.
            if self._is_1_37 and least + added > MAX_RESULTS:
                raise AllocationError(
                    f"claim {claim.name}, request {choice[0].main_name}: adding "
                    f"{added} devices exceeds the claim limit of {MAX_RESULTS}, with "
                    f"{least} already accounted for"
                )
            least += added
        if least > MAX_RESULTS:
            raise AllocationError(
                f"claim {claim.name}: number of requested devices {least} "
                f"exceeds the claim limit of {MAX_RESULTS}"
            )
        constraints = claim.claim.spec.devices.constraints
        self._constraints.append(
            [
                make_constraint(
                    constraint,
                    f"claim {claim.name}, constraint #{index}",
                    rules=self._rules,
                )
                for index, constraint in enumerate(constraints)
            ]
        )

    def _all_devices(
        self, request: Request, claim: ClaimRequests
    ) -> Sequence[tuple[SlicedDevice, Pool]]:
        devices = []
        for pool in self._devices.pools:
            if pool.is_incomplete or pool.problem:
                state = "being updated" if pool.is_incomplete else "invalid"
                raise AllocationError(
                    f"claim {claim.name}, request {request.name}: asks for all "
                    f"devices, but resource pool {pool.id} is currently {state}"
                )
            devices += [
                (device, pool)
                for device in pool.devices
                if self._selects(request, device)
                and self._has(claim, device, request, at_all=self._is_1_37)
            ]
        return devices

    def _count(self, request: Request) -> int:
        return len(self._all[request]) if request.wants_all else request.count

    def _selects(self, request: Request, device: SlicedDevice) -> bool:
        return request.selects(device, self._node, names_device=self._is_1_37)

    def _has(
        self,
        claim: ClaimRequests,
        device: SlicedDevice,
        request: Request,
        *,
        at_all: bool = False,
    ) -> bool:
        """Return whether a device has enough free capacity for a request.

        With ``at_all``, allocated capacity counts as free.
        """
        if not device.device.capacity and not request.capacity:
            return True
        try:
            return has_room(
                device.device,
                request.capacity,
                {} if at_all else self._allocated.consumed.of(device.id),
                {} if at_all else self._promised.of(device.id),
                rules=self._rules,
            )
        except CapacityError as error:
            raise AllocationError(
                f"claim {claim.name}, request {request.name}: checking capacity for "
                f"device {device.device.name if at_all else device.id}: {error}"
            ) from error

    def _serve(self, claim: int, index: int) -> _Outcome:
        """Serve the rest of the requests of a claim, and then the other claims."""
        if claim == len(self._claims):
            return _Outcome.FOUND
        choices = self._claims[claim].choices
        if index == len(choices):
            outcome = self._serve(claim + 1, 0)
            # The limit holds for one claim. Other devices for an earlier claim may let
            # a later one choose a smaller alternative, so the search goes on there.
            is_limit = outcome is _Outcome.TOO_MANY
            return _Outcome.NOT_FOUND if is_limit else outcome
        choice = choices[index]
        if not choice[0].is_alternative:
            return self._devices_for(choice[0], claim, index, 0, 0)
        exceeds = True
        # In the order of the claim: the first alternative that leads to devices for all
        # requests is taken, even if another one would be better for other claims.
        for number, request in enumerate(choice):
            outcome = self._devices_for(request, claim, index, 0, 0)
            if outcome is _Outcome.FOUND:
                self.picked[claim][index] = number
                return outcome
            exceeds = exceeds and outcome is _Outcome.TOO_MANY
        return _Outcome.TOO_MANY if exceeds else _Outcome.NOT_FOUND

    def _devices_for(
        self, request: Request, claim: int, index: int, number: int, start: int
    ) -> _Outcome:
        """Find the rest of the devices of a request, and then those of the others.

        Args:
            request: The request, or the alternative.
            claim: The number of its claim.
            index: Its number in the claim.
            number: How many devices it has already.
            start: The candidate after these: devices are combined, not permuted.
        """
        self._count_step()
        everything = self._all.get(request)
        if everything is not None and not everything:
            return _Outcome.NOT_FOUND
        count = self._count(request)
        if number >= count:
            return self._serve(claim, index + 1)
        if len(self.chosen[claim]) + count - number > MAX_RESULTS:
            return _Outcome.TOO_MANY
        if everything is not None:
            return self._one_of_all(request, claim, index, number)
        candidates = self._devices.candidates
        # From the device after the last one of this request: combinations are tried
        # once, not once for each order. Another request starts from the first device
        # again.
        for position in range(start, len(candidates)):
            device, pool = candidates[position]
            self._count_step()
            if (
                # The cheapest check first, expressions in CEL after it. The order
                # decides only the time, since a device must pass all of them.
                self._is_taken(request, claim, device)
                or not self._selects(request, device)
                or not self._has(self._claims[claim], device, request)
                or not self._take(request, claim, device, pool)
            ):
                continue
            outcome = self._devices_for(request, claim, index, number + 1, position + 1)
            if outcome is _Outcome.FOUND:
                return outcome
            self._give_back(claim, device, pool)
            if outcome is _Outcome.TOO_MANY:
                return outcome
        # Other devices for this request would not help: the number that a claim gets
        # does not depend on which ones they are.
        return _Outcome.NOT_FOUND

    def _one_of_all(
        self, request: Request, claim: int, index: int, number: int
    ) -> _Outcome:
        """Take the next device of a request for all: each of them is needed."""
        device, pool = self._all[request][number]
        if not self._take(request, claim, device, pool):
            return _Outcome.NOT_FOUND
        outcome = self._devices_for(request, claim, index, number + 1, 0)
        if outcome is not _Outcome.FOUND:
            self._give_back(claim, device, pool)
        return outcome

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > self._max_steps:
            raise StepLimitError(self._max_steps)

    def _is_taken(self, request: Request, claim: int, device: SlicedDevice) -> bool:
        if request.has_admin_access:
            # Admin access shares devices with everybody, except within the claim
            # itself.
            return claim in self._in_use.get(device.id, ())
        return device.id in self._allocated.whole or bool(self._in_use.get(device.id))

    def _take(
        self, request: Request, claim: int, device: SlicedDevice, pool: Pool
    ) -> bool:
        """Give a device to a request, if nothing forbids that."""
        admits_sharing = device.is_shared and request.has_admin_access
        if not admits_sharing and self._is_taken(request, claim, device):
            return False
        takes_counters = bool(device.device.consumes_counters) and not (
            device.is_shared and self._is_shared_out(device)
        )
        groups = self._reserve(device, pool, takes_counters)
        if groups is None:
            return False
        if not request.tolerates(device) or not self._satisfies(request, claim, device):
            # Before 1.37 the counters stay consumed until the search ends, so that a
            # tainted partition can make others of its device unusable on this node.
            if takes_counters and self._is_1_37:
                self._give_counters_back(device, pool, groups)
            return False
        if not device.is_shared:
            self._in_use.setdefault(device.id, set()).add(claim)
        consumed = None
        if device.is_shared:
            consumed = consumed_capacity(
                device.device, request.capacity, rules=self._rules
            )
        chosen = Chosen(request, device, consumed, takes_counters, groups)
        # A second time, because an earlier share of this very search may have taken the
        # room since the candidates were filtered.
        if not self._has(self._claims[claim], device, request):
            if self._is_1_37:
                self._undo(claim, chosen, pool)
            return False
        if consumed is not None:
            self._promised.add(device.id, consumed)
        self.chosen[claim].append(chosen)
        return True

    def _is_operated(self, device: SlicedDevice) -> bool:
        """Return whether the node declares the operations to skip for a device."""
        return (
            not self._rules.skips_operations
            or not device.slice.spec.skip_node_operations
            or OPTIONAL_NODE_OPERATIONS in self._node.status.declared_features
        )

    def _reserve(
        self, device: SlicedDevice, pool: Pool, takes_counters: bool
    ) -> TakenGroups | None:
        """Consume what a device shares with others, if the node and they allow it.

        Returns:
            What the others had in common before, or None if it cannot be taken.
        """
        if not self._is_operated(device):
            return None
        groups = _NO_GROUPS
        if not takes_counters:
            return groups
        if self._groups is not None:
            taken = self._groups.take(device, pool)
            if taken is None:
                return None
            groups = taken
        if self._counters.take(device, pool):
            return groups
        if self._groups is not None:
            self._groups.give_back(groups)
        return None

    def _give_counters_back(
        self, device: SlicedDevice, pool: Pool, groups: TakenGroups
    ) -> None:
        self._counters.give_back(device, pool)
        if self._groups is not None:
            self._groups.give_back(groups)

    def _is_shared_out(self, device: SlicedDevice) -> bool:
        """Return whether a share of a device is allocated, with its counters."""
        return device.id in self._promised or self._allocated.is_shared_out(
            device.id, is_1_37=self._is_1_37
        )

    def _satisfies(self, request: Request, claim: int, device: SlicedDevice) -> bool:
        constraints = self._constraints[claim]
        for position, constraint in enumerate(constraints):
            if constraint.add(request, device):
                continue
            if request.wants_all:
                raise AllocationError(
                    f"claim {self._claims[claim].name}, request {request.name}: cannot "
                    f"add device {device.id} because a claim constraint would not be "
                    "satisfied"
                )
            # Only those that have counted the device.
            for before in constraints[:position]:
                before.remove(request, device)
            return False
        return True

    def _give_back(self, claim: int, device: SlicedDevice, pool: Pool) -> None:
        """Take back the last device of a request."""
        last = self.chosen[claim].pop()
        if self._is_1_37:
            if last.consumed is not None:
                self._promised.remove(device.id, last.consumed)
                # Removing the last amounts has deleted the entry, which marks the
                # counters as paid for.
                if any(other.device.id == device.id for other in self._all_chosen()):
                    # An earlier share has paid for the counters, also without amounts.
                    self._promised.add(device.id, {})
            self._undo(claim, last, pool)
            return
        for constraint in self._constraints[claim]:
            constraint.remove(last.request, device)
        self._in_use.get(device.id, set()).discard(claim)
        if last.consumed:
            self._promised.remove(device.id, last.consumed)
        if not device.is_shared and device.device.consumes_counters:
            self._counters.give_back(device, pool)

    def _undo(self, claim: int, chosen: Chosen, pool: Pool) -> None:
        """Undo all changes of choosing a device, except its capacities."""
        device = chosen.device
        for constraint in self._constraints[claim]:
            constraint.remove(chosen.request, device)
        self._in_use.get(device.id, set()).discard(claim)
        if chosen.has_taken_counters:
            self._give_counters_back(device, pool, chosen.groups_before)

    def _all_chosen(self) -> Iterator[Chosen]:
        return itertools.chain.from_iterable(self.chosen)
