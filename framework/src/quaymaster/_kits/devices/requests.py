"""The requests of claims, prepared for the search.

Mirrors ``validateDeviceRequest`` and ``requestAccessor``
(k8s.io/dynamic-resource-allocation v0.36, ``structured/internal/incubating``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import (
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    ExactDeviceRequest,
    Node,
    ResourceClaim,
)
from quaymaster._api.objects.owned_taints import OwnedTaint
from quaymaster._api.objects.quantity import Quantity
from quaymaster._kits.devices.errors import AllocationError, VerdictError
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["ClaimRequests", "ClassOf", "Request", "requests_of", "tolerates_device"]

ClassOf = Callable[[str], DeviceClass | None]
"""Finds the class of a name."""

_ALL: Final = "All"
_MODES: Final = ("ExactCount", _ALL)
_NO_KEY: Final = "no such key:"
_HINT: Final = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the "
    "check with has() for optional fields"
)
_EFFECTS: Final = ("NoSchedule", "NoExecute")


@attrs.frozen(eq=False)
class Request:
    """A request, or one of its alternatives.

    Attributes:
        name: Its own name.
        main_name: The name of the request that it is an alternative of, or its own.
        full_name: Its name in results and constraints.
        device_class: Its class.
        expressions: The selectors that its devices must match, in order, each with its
            place in the claim or class.
        wants_all: Whether it requests all matching devices.
        count: How many devices it requests otherwise.
        has_admin_access: Whether it may get devices that are in use.
        tolerations: The taints that it tolerates.
        capacity: The requested amounts of capacities, by name.
        minds_taints: Whether taints of devices count.
    """

    name: str
    main_name: str
    full_name: str
    device_class: DeviceClass
    expressions: Sequence[tuple[str, str]]
    wants_all: bool
    count: int
    has_admin_access: bool
    tolerations: Sequence[DeviceToleration]
    capacity: Mapping[str, Quantity]
    minds_taints: bool = True

    @property
    def is_alternative(self) -> bool:
        """Whether it is one of several."""
        return self.full_name != self.main_name

    def selects(
        self, device: SlicedDevice, node: Node, *, names_device: bool = False
    ) -> bool:
        """Return whether the request selects a device.

        Args:
            device: The device.
            node: The node.
            names_device: Whether the error says which device, as since Kubernetes 1.37.

        Raises:
            AllocationError: An expression is invalid, or fails for the device.
        """
        for expression, where in self.expressions:
            try:
                if not device.matches(expression):
                    return False
            except VerdictError as error:
                names_device = names_device and error.depends_on_device
                on_device = f" on device {device.id}" if names_device else ""
                hint = _HINT if names_device and _NO_KEY in str(error) else ""
                text = f"{where}{on_device}: {error}{hint}"
                raise AllocationError(text) from error
        return not device.slice.spec.per_device_node_selection or device.is_on(node)

    def tolerates(self, device: SlicedDevice) -> bool:
        """Return whether the request tolerates all taints of a device."""
        return not device.taints or not self.untolerated(device)

    def untolerated(self, device: SlicedDevice) -> Sequence[OwnedTaint]:
        """Return the taints of a device that the request does not tolerate."""
        if not self.minds_taints:
            return ()
        return [
            owned
            for owned in device.taints
            # The effect None only informs. Unknown effects of later versions do not
            # keep a device from being allocated either.
            if owned.taint.effect in _EFFECTS
            and not any(tolerates_device(t, owned.taint) for t in self.tolerations)
        ]


@attrs.frozen(eq=False)
class ClaimRequests:
    """The requests of a claim, each with one or several alternatives.

    Attributes:
        claim: The claim.
        name: Its name, for messages.
        choices: The alternatives of each request; a request without alternatives is its
            own.
    """

    claim: ResourceClaim
    name: str
    choices: Sequence[Sequence[Request]]


def requests_of(
    claim: ResourceClaim, class_of: ClassOf, *, minds_taints: bool = True
) -> ClaimRequests:
    """Prepare the requests of a claim.

    Args:
        claim: The claim.
        class_of: Finds the classes.
        minds_taints: Whether taints of devices count.

    Raises:
        AllocationError: A class is missing, or a request has an unsupported value.
    """
    name = f"{claim.namespace}/{claim.name}" if claim.namespace else claim.name
    choices = [
        [
            choice if minds_taints else attrs.evolve(choice, minds_taints=False)
            for choice in _alternatives(request, name, class_of)
        ]
        for request in claim.spec.devices.requests
    ]
    return ClaimRequests(claim, name, choices)


def _alternatives(
    request: DeviceRequest, claim: str, class_of: ClassOf
) -> Iterator[Request]:
    if request.exactly is not None and not request.first_available:
        yield _make(request.exactly, request.name, request.name, claim, class_of)
    elif not request.first_available:
        raise AllocationError(f"claim {claim}, request {request.name}: unsupported")
    for alternative in request.first_available:
        yield _make(alternative, alternative.name, request.name, claim, class_of)


def _make(
    request: ExactDeviceRequest | DeviceSubRequest,
    name: str,
    main_name: str,
    claim: str,
    class_of: ClassOf,
) -> Request:
    where = f"claim {claim}, request {name}"
    if not request.device_class_name:
        raise AllocationError(
            f"{where}: missing device class name (unsupported request type?)"
        )
    device_class = class_of(request.device_class_name)
    if device_class is None:
        raise AllocationError(
            f"{where}: could not retrieve device class {request.device_class_name}: "
            f'deviceclass.resource.k8s.io "{request.device_class_name}" not found'
        )
    if request.allocation_mode not in _MODES:
        raise AllocationError(
            f"{where}: unsupported count mode {request.allocation_mode}"
        )
    of_class = f"class {device_class.name}"
    # Only alternatives have the name of their request in front in results and
    # constraints.
    is_alternative = isinstance(request, DeviceSubRequest)
    return Request(
        name,
        main_name,
        f"{main_name}/{name}" if is_alternative else name,
        device_class,
        (
            *_expressions(device_class.spec.selectors, of_class, f"{of_class}:"),
            *_expressions(request.selectors, f"claim {claim}", f"{where},"),
        ),
        request.allocation_mode == _ALL,
        request.count,
        # Alternatives have no admin access in the API.
        not isinstance(request, DeviceSubRequest) and bool(request.admin_access),
        request.tolerations,
        request.capacity.requests if request.capacity is not None else {},
    )


def _expressions(
    selectors: Sequence[DeviceSelector], owner: str, place: str
) -> Iterator[tuple[str, str]]:
    """Yield the expressions, each with its place for errors.

    Upstream names the request only if there is no expression.

    Raises:
        AllocationError: A selector has no expression.
    """
    for index, selector in enumerate(selectors):
        if selector.cel is None:
            text = "CEL expression empty (unsupported selector type?)"
            raise AllocationError(f"{place} selector #{index}: {text}")
        yield selector.cel.expression, f"{owner}: selector #{index}"


def tolerates_device(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Return whether a toleration matches a taint, without regard to the effect.

    Mirrors ``ToleratesTaint`` (k8s.io/dynamic-resource-allocation v0.37,
    ``resourceclaim/devicetoleration.go``).
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    # An operator of a later version tolerates nothing, rather than everything.
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
