"""Times of taints that were read from another cluster, whose clock is another one."""

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
    """Brings times that are still to come to the moment when their object came.

    Args:
        now: Returns the time.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._moments: dict[str, float] = {}

    def note(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Note that an object came (no old), changed, or went (no new).

        One that is new in this cluster has its time of creation; the taints of such an
        object may well begin later.
        """
        if new is None:
            if old is not None:
                self._moments.pop(old.uid, None)
        elif old is None and new.metadata.creation_timestamp != self._now():
            self._moments[new.uid] = self._now()

    def of_rule(self, rule: DeviceTaintRule) -> DeviceTaintRule:
        """Return a rule whose taint is there if it came from another cluster."""
        taint = self._local(rule.spec.taint, rule.uid)
        return replace(rule, spec=replace(rule.spec, taint=taint))

    def of_slice(self, resource_slice: ResourceSlice) -> ResourceSlice:
        """Return a slice whose taints are there if it came from another cluster."""
        uid = resource_slice.uid
        if uid not in self._moments:
            return resource_slice
        devices = tuple(
            replace(
                device, taints=tuple(self._local(one, uid) for one in device.taints)
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
