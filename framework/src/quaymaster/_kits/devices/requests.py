"""The requests of claims, made ready for the search.

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
        expressions: What its devices must match, in order: an expression, and where it
            stands.
        wants_all: Whether it asks for all devices that match.
        count: How many it asks for otherwise.
        has_admin_access: Whether devices that are in use will do.
        tolerations: The taints that it puts up with.
        capacity: What it takes of capacities, by name.
        minds_taints: Whether taints keep it off devices.
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
        """Whether the request selects a device.

        Args:
            device: The device.
            node: The node.
            names_device: Whether the error says which device, as since Kubernetes 1.37.

        Raises:
            AllocationError: An expression is none, or has no value for the device.
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
        """Whether no taint of a device keeps the request off."""
        return not device.taints or not self.untolerated(device)

    def untolerated(self, device: SlicedDevice) -> Sequence[OwnedTaint]:
        """Return the taints of a device that keep the request off."""
        if not self.minds_taints:
            return ()
        return [
            owned
            for owned in device.taints
            if owned.taint.effect in _EFFECTS
            and not any(tolerates_device(t, owned.taint) for t in self.tolerations)
        ]


@attrs.frozen(eq=False)
class ClaimRequests:
    """The requests of a claim: each is a choice of one or several alternatives.

    Attributes:
        claim: The claim.
        name: Its name, for messages.
        choices: Per request its alternatives; one without any is its own only one.
    """

    claim: ResourceClaim
    name: str
    choices: Sequence[Sequence[Request]]


def requests_of(
    claim: ResourceClaim, class_of: ClassOf, *, minds_taints: bool = True
) -> ClaimRequests:
    """Make the requests of a claim ready.

    Args:
        claim: The claim.
        class_of: Finds the classes.
        minds_taints: Whether taints keep requests off devices.

    Raises:
        AllocationError: A class is missing, or a request says what is not known.
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
        not isinstance(request, DeviceSubRequest) and bool(request.admin_access),
        request.tolerations,
        request.capacity.requests if request.capacity is not None else {},
    )


def _expressions(
    selectors: Sequence[DeviceSelector], owner: str, place: str
) -> Iterator[tuple[str, str]]:
    """Yield the expressions, each with the words for its errors.

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
    """Whether a toleration is one of a taint, whatever the effect of the taint is.

    Mirrors ``ToleratesTaint`` (k8s.io/dynamic-resource-allocation v0.37,
    ``resourceclaim/devicetoleration.go``).
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
