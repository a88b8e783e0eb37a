"""The values that CEL selectors read of devices."""

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    Value,
    compile_selector,
    device_value,
)
from quaymaster._api.cel import of_stored_selectors
from quaymaster._api.objects import Device
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._kits.devices.errors import VerdictError

__all__ = ["SelectorSubject"]


class SelectorSubject:
    """A device to which selectors are applied.

    Args:
        driver: The name of its driver.
        device: The device.
        kubernetes: The version of Kubernetes whose selectors apply.
    """

    __slots__ = ("_device", "_driver", "_environment", "_value")

    def __init__(self, driver: str, device: Device, kubernetes: Kubernetes) -> None:
        self._driver = driver
        self._device = device
        self._environment = of_stored_selectors(kubernetes)
        self._value: dict[str, Value] | None = None

    def verdict(self, expression: str) -> bool | VerdictError:
        """Evaluate an expression for the device.

        Args:
            expression: The text of the selector.
        """
        try:
            selector = compile_selector(expression, self._environment)
        except CelCompilationError as error:
            text = f"CEL compile error: {error.detail}"
            return VerdictError(text, depends_on_device=False)
        try:
            if self._value is None:
                self._value = _value_of(
                    self._driver, self._device, self._environment.list_attributes
                )
            return selector.matches(self._value)
        except CelEvaluationError as error:
            return VerdictError(f"CEL runtime error: {error}")


def _value_of(driver: str, device: Device, list_attributes: bool) -> dict[str, Value]:
    attributes = {
        name: attribute.by_field() for name, attribute in device.attributes.items()
    }
    return device_value(
        driver,
        {
            "attributes": attributes,
            "capacity": {
                name: {"value": capacity.value}
                for name, capacity in device.capacity.items()
            },
            "allowMultipleAllocations": device.allow_multiple_allocations,
        },
        list_attributes=list_attributes,
    )
