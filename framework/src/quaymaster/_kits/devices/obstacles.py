"""Finds why a single device cannot serve a single request."""

import enum
from collections.abc import Iterator

import attrs

from quaymaster._api.objects import Node
from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.capacities import CapacityError, capacity_problem
from quaymaster._kits.devices.constraints import make_constraint
from quaymaster._kits.devices.counters import AvailableCounters
from quaymaster._kits.devices.errors import AllocationError, VerdictError
from quaymaster._kits.devices.ids import DeviceId
from quaymaster._kits.devices.inventory import Pool
from quaymaster._kits.devices.requests import ClaimRequests, Request
from quaymaster._kits.devices.rules import DeviceRules
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["BlockedDevice", "DeviceObstacle", "ObstacleKind", "Obstacles"]


class ObstacleKind(enum.StrEnum):
    """The kinds of reasons for which a device cannot serve a request."""

    SELECTOR = "selector"
    """A selector is false for it, or has no value."""

    ALLOCATED = "allocated"
    """A claim has it."""

    CAPACITY = "capacity"
    """It has too little of a capacity, or does not give such an amount."""

    COUNTERS = "counters"
    """The devices of its pool that are taken have left too little for it."""

    TAINT = "taint"
    """It has a taint that the request does not tolerate."""

    ATTRIBUTE = "attribute"
    """It lacks an attribute that a constraint compares."""


@attrs.frozen
class DeviceObstacle:
    """One reason for which a device cannot serve a request.

    Attributes:
        kind: The kind of the reason.
        text: The reason in words, to follow a device or a number of devices.
    """

    kind: ObstacleKind
    text: str


@attrs.frozen(kw_only=True)
class BlockedDevice:
    """A device that cannot serve a request.

    Attributes:
        device: The device.
        causes: All reasons. If the request does not select the device, these are only
            its selectors.
    """

    device: DeviceId
    causes: tuple[DeviceObstacle, ...]

    @property
    def text(self) -> str:
        """All causes, as the end of a sentence about a device or several devices."""
        return " and ".join(cause.text for cause in self.causes)

    @property
    def is_asked_for(self) -> bool:
        """Whether a request for all devices includes this device.

        It includes the selected devices that have room, even if they are not free.
        """
        kinds = {cause.kind for cause in self.causes}
        return not kinds & {ObstacleKind.SELECTOR, ObstacleKind.CAPACITY}


class Obstacles:
    """Finds why devices of one node cannot serve requests.

    Args:
        node: The node.
        allocated: The allocated devices.
        counters: What allocated devices leave of the counters.
        rules: The rules of the search.
    """

    def __init__(
        self,
        node: Node,
        allocated: AllocatedDevices,
        counters: AvailableCounters,
        *,
        rules: DeviceRules,
    ) -> None:
        self._node = node
        self._allocated = allocated
        self._counters = counters
        self._rules = rules

    def is_reached(self, device: SlicedDevice) -> bool:
        """Whether the node reaches a device that it sees."""
        if not device.slice.spec.per_device_node_selection:
            return True
        try:
            return device.is_on(self._node)
        except AllocationError:
            return False

    def of(
        self, request: Request, claim: ClaimRequests, device: SlicedDevice, pool: Pool
    ) -> tuple[DeviceObstacle, ...]:
        """Return all reasons against a device; empty if it can serve the request."""
        selectors = tuple(
            DeviceObstacle(ObstacleKind.SELECTOR, text)
            for text in _unselected(request, device)
        )
        return selectors or tuple(self._of_selected(request, claim, device, pool))

    def _of_selected(
        self, request: Request, claim: ClaimRequests, device: SlicedDevice, pool: Pool
    ) -> Iterator[DeviceObstacle]:
        if not request.has_admin_access and device.id in self._allocated.whole:
            yield DeviceObstacle(ObstacleKind.ALLOCATED, "allocated")
        if text := self._capacity_problem(request, device):
            yield DeviceObstacle(ObstacleKind.CAPACITY, text)
        shared_out = device.is_shared and self._allocated.is_shared_out(
            device.id, is_1_37=self._rules.is_1_37
        )
        if device.device.consumes_counters and not shared_out:
            for name, counter in self._counters.short_for(device, pool):
                text = f'with too little left of counter "{counter}" of "{name}"'
                yield DeviceObstacle(ObstacleKind.COUNTERS, text)
        for owned in request.untolerated(device):
            yield DeviceObstacle(ObstacleKind.TAINT, f"with taint {owned.text}")
        for text in self._missing_attributes(request, claim, device):
            yield DeviceObstacle(ObstacleKind.ATTRIBUTE, text)

    def _capacity_problem(self, request: Request, device: SlicedDevice) -> str:
        try:
            return capacity_problem(
                device.device,
                request.capacity,
                self._allocated.consumed.of(device.id),
                rules=self._rules,
            )
        except CapacityError as error:
            return f"with an impossible amount: {error}"

    def _missing_attributes(
        self, request: Request, claim: ClaimRequests, device: SlicedDevice
    ) -> Iterator[str]:
        for constraint in claim.claim.spec.devices.constraints:
            try:
                alone = make_constraint(constraint, "", rules=self._rules)
            except AllocationError:
                continue
            if not alone.add(request, device):
                name = constraint.match_attribute or constraint.distinct_attribute
                yield f"without attribute {name}, which a constraint compares"


def _unselected(request: Request, device: SlicedDevice) -> Iterator[str]:
    for expression, where in request.expressions:
        owner, _, selector = where.rpartition(": ")
        of = f"{selector} of {owner}"
        try:
            if not device.matches(expression):
                yield f"not matching {of} ({expression})"
        except VerdictError as error:
            yield f"without an answer to {of} ({error})"
