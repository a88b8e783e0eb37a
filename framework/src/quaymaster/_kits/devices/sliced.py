"""The devices of slices, prepared for the search.

Mirrors ``NodeMatches`` and what is done with one slice in ``GatherPools``
(k8s.io/dynamic-resource-allocation v0.36, ``structured/internal/incubating``).
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import attrs

from quaymaster._api.objects import (
    Device,
    DeviceTaintRule,
    Node,
    ResourceSlice,
    ResourceSliceSpec,
)
from quaymaster._api.objects.owned_taints import OwnedTaint, owned_taints
from quaymaster._api.objects.selectors import (
    NodeMatcher,
    SelectorError,
    compile_node_selector,
)
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._kits.devices.errors import AllocationError, VerdictError
from quaymaster._kits.devices.ids import DeviceId, PoolId

if TYPE_CHECKING:
    from quaymaster._kits.devices.subjects import SelectorSubject

__all__ = ["SlicedDevice", "SlicedDevices"]


@attrs.define(eq=False)
class SlicedDevice:
    """One device of one revision of a slice.

    Attributes:
        id: Its name.
        device: Its description by the driver.
        slice: The slice that lists it.
        is_shared: Whether several requests may share it.
        taints: Its taints, including those that rules add.
    """

    id: DeviceId
    device: Device
    slice: ResourceSlice
    is_shared: bool
    taints: Sequence[OwnedTaint]
    _reach: "_Reach"
    _kubernetes: Kubernetes = DEFAULT_KUBERNETES
    _subject: "SelectorSubject | None" = None
    _verdicts: dict[str, bool | VerdictError] = attrs.field(factory=dict)

    def matches(self, expression: str) -> bool:
        """Return whether an expression is true for the device; the result is cached.

        Raises:
            VerdictError: It is not an expression, or fails for the device.
        """
        verdict = self._verdicts.get(expression)
        if verdict is None:
            verdict = self._verdicts[expression] = self._ask(expression)
        # By identity, because an error object is truthy, too.
        if verdict is True or verdict is False:
            return verdict
        raise verdict

    def _ask(self, expression: str) -> bool | VerdictError:
        if self._subject is None:
            # The compiler of CEL takes 40 ms to import; most clusters have no selector.
            from quaymaster._kits.devices.subjects import (  # noqa: PLC0415 - above
                SelectorSubject,
            )

            self._subject = SelectorSubject(
                self.id.driver, self.device, self._kubernetes
            )
        return self._subject.verdict(expression)

    def is_on(self, node: Node) -> bool:
        """Return whether a node reaches the device, by its own node selection.

        Raises:
            AllocationError: Its node selector cannot be read.
        """
        return self._reach.includes(node)


class SlicedDevices:
    """One revision of a slice.

    Args:
        resource_slice: The slice.
        rules: The rules that taint devices.
        kubernetes: The version of Kubernetes whose selectors apply.

    Attributes:
        slice: The slice.
        pool: Its pool's name.
        devices: Its devices, in its order.
        is_local: Whether only one node can use it.
        has_groups: Whether any device names compatibility groups for its counters.
    """

    def __init__(
        self,
        resource_slice: ResourceSlice,
        rules: Collection[DeviceTaintRule] = (),
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    ) -> None:
        spec = resource_slice.spec
        self.slice = resource_slice
        self.pool = PoolId(spec.driver, spec.pool.name)
        self.devices: Sequence[SlicedDevice] = [
            SlicedDevice(
                DeviceId(spec.driver, spec.pool.name, device.name),
                device,
                resource_slice,
                bool(device.allow_multiple_allocations),
                owned_taints(resource_slice, device, rules),
                _Reach(device),
                kubernetes,
            )
            for device in spec.devices
        ]
        # Counters of a pool count for devices on any node, so a slice with counters is
        # never local.
        self.is_local = bool(spec.node_name) and not spec.shared_counters
        self.has_groups = _has_groups(resource_slice)
        self._reach = _Reach(spec)

    def is_seen_by(self, node: Node) -> bool:
        """Return whether a node sees the slice.

        Raises:
            AllocationError: A node selector cannot be read.
        """
        spec = self.slice.spec
        if spec.shared_counters:
            return True
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return self._reach.includes(node)
        return bool(spec.per_device_node_selection) and any(
            device.is_on(node) for device in self.devices
        )

    def may_be_on(self, node: Node) -> bool:
        """Return whether a node may reach the devices, for scores.

        Unlike an allocation, upstream's scores count a slice that names no nodes.

        Raises:
            AllocationError: The node selector cannot be read.
        """
        spec = self.slice.spec
        if spec.per_device_node_selection:
            # Scores follow ``calculateDRAResourceTotals``, which does not look at the
            # nodes of such slices; the search does.
            return True
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return self._reach.includes(node)
        return True


class _Reach:
    """The nodes that reach a slice, or a device with its own node selection."""

    __slots__ = ("_matcher", "_of")

    def __init__(self, of: Device | ResourceSliceSpec) -> None:
        self._of = of
        self._matcher: NodeMatcher | None = None

    def includes(self, node: Node) -> bool:
        of = self._of
        if of.node_name:
            return node.name == of.node_name
        if of.all_nodes or of.node_selector is None:
            return bool(of.all_nodes)
        if self._matcher is None:
            self._matcher = compile_node_selector(of.node_selector)
        try:
            self._matcher.check()
        except SelectorError as error:
            message = f"gather pool information: failed to parse node selector: {error}"
            raise AllocationError(message) from error
        return self._matcher.matches(node)


def _has_groups(resource_slice: ResourceSlice) -> bool:
    """Return whether any device of a slice names groups for its counters."""
    return any(
        part.compatibility_groups
        for device in resource_slice.spec.devices
        for part in device.consumes_counters
    )
