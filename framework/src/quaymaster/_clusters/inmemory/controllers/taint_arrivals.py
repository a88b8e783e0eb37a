"""Corrects times of taints that were read from a cluster with another clock."""

from collections.abc import Callable

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    DeviceTaint,
    DeviceTaintRule,
    ResourceSlice,
    Time,
)

__all__ = ["TaintArrivals"]


class TaintArrivals:
    """Replaces future times by the time when their object was loaded.

    Args:
        now: Returns the time.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._moments: dict[str, float] = {}

    def note(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Record that an object was created (no old), changed, or removed (no new).

        A new object of this cluster has its time of creation; its taints may really
        begin later.
        """
        if new is None:
            if old is not None:
                self._moments.pop(old.uid, None)
        # An object that is created at this moment is of this cluster; any other time
        # means that it was loaded.
        elif old is None and new.metadata.creation_timestamp != self._now():
            self._moments[new.uid] = self._now()

    def of_rule(self, rule: DeviceTaintRule) -> DeviceTaintRule:
        """Return a rule whose taint is in effect if it came from another cluster."""
        taint = self._local(rule.spec.taint, rule.uid)
        return replace(rule, spec=replace(rule.spec, taint=taint))

    def of_slice(self, resource_slice: ResourceSlice) -> ResourceSlice:
        """Return a slice whose taints are in effect if it came from another cluster."""
        uid = resource_slice.uid
        if uid not in self._moments:
            return resource_slice
        devices = tuple(
            replace(
                device, taints=tuple(self._local(taint, uid) for taint in device.taints)
            )
            for device in resource_slice.spec.devices
        )
        return replace(
            resource_slice, spec=replace(resource_slice.spec, devices=devices)
        )

    def _local(self, taint: DeviceTaint, uid: str) -> DeviceTaint:
        moment, added = self._moments.get(uid), taint.time_added
        if moment is None or added is None or added <= self._now():
            return taint
        return replace(taint, time_added=Time(moment))
