"""Rules that taint devices of any driver.

Mirrors k8s.io/api v0.37, ``resource/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.device_claims import Condition
from quaymaster._api.objects.devices import DeviceTaint
from quaymaster._api.objects.meta import ApiObject, ApiValue

__all__ = [
    "DeviceTaintRule",
    "DeviceTaintRuleSpec",
    "DeviceTaintRuleStatus",
    "DeviceTaintSelector",
]


class DeviceTaintSelector(ApiValue, frozen=True, kw_only=True):
    """The devices that a rule taints: those that match all names that are set.

    Attributes:
        driver: The driver of the devices; None means any.
        pool: The pool of the devices; None means any.
        device: The name of a device in its pool; None means any.
    """

    driver: str | None = None
    pool: str | None = None
    device: str | None = None

    def selects(self, driver: str, pool: str, device: str) -> bool:
        """Return whether a device matches the names that are set."""
        return (
            self.driver in (None, driver)
            and self.pool in (None, pool)
            and self.device in (None, device)
        )


class DeviceTaintRuleSpec(ApiValue, frozen=True, kw_only=True):
    """A taint, and the devices that get it.

    Attributes:
        device_selector: The devices; None selects no device, an empty one all devices.
        taint: The taint.
    """

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRuleStatus(ApiValue, frozen=True, kw_only=True):
    """The progress of evicting the pods that use the devices of a rule.

    Attributes:
        conditions: ``EvictionInProgress`` shows the progress of the eviction.
    """

    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(ApiObject, frozen=True, kw_only=True):
    """Adds one taint to all devices that it selects."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "DeviceTaintRule"
    namespaced: ClassVar[bool] = False

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()

    def selects(self, driver: str, pool: str, device: str) -> bool:
        """Return whether the rule taints a device."""
        selector = self.spec.device_selector
        return selector is not None and selector.selects(driver, pool, device)
