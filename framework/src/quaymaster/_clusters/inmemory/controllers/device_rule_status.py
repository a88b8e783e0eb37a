"""The status of DeviceTaintRules: the progress of the eviction of pods.

Mirrors ``maybeUpdateRuleStatus`` (Kubernetes v1.37,
``pkg/controller/devicetainteviction/device_taint_eviction.go``).
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    Condition,
    DeviceTaintRule,
    DeviceTaintRuleStatus,
    Pod,
    ResourceClaim,
    Time,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.tainted_devices import (
    NO_EXECUTE,
    TaintedDevices,
)
from quaymaster._core.contract.clock import Timer

__all__ = ["RuleStatusWriter"]

_PERIOD_SECONDS: Final = 10.0
"""The shortest time between two updates of one rule."""

_CONDITION: Final = "EvictionInProgress"
_ONCE: Final = (
    "if the effect was NoExecute. This information will not be updated again. "
    "Recreate the DeviceTaintRule to trigger an update."
)


@attrs.frozen
class _Pending:
    """How many pods must be evicted, and from how many namespaces."""

    pods: int
    namespaces: int

    @classmethod
    def of(cls, pods: Iterable[Pod]) -> "_Pending":
        namespaces = [pod.namespace for pod in pods]
        return cls(len(namespaces), len(set(namespaces)))

    @property
    def where(self) -> str:
        if self.namespaces == 1:
            return "1 namespace"
        return f"{self.namespaces} different namespaces"


class RuleStatusWriter:
    """Writes the condition ``EvictionInProgress`` of rules.

    Args:
        cluster: The cluster.
        devices: The devices that are listed.
        pods_to_evict: Yields the pods that a rule evicts, or would with the effect
            NoExecute.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        devices: TaintedDevices,
        pods_to_evict: Callable[[DeviceTaintRule], Iterable[Pod]],
    ) -> None:
        self._cluster = cluster
        self._devices = devices
        self._pods_to_evict = pods_to_evict
        self._names: dict[str, str] = {}
        self._evicted: Counter[str] = Counter()
        self._timers: dict[str, tuple[float, Timer]] = {}

    def rule_changed(
        self, old: DeviceTaintRule | None, new: DeviceTaintRule | None
    ) -> None:
        """Handle a created (no old), changed, or removed (no new) rule."""
        if new is not None:
            self._names[new.uid] = new.name
            self._update_after(new.uid, 0.0)
        elif old is not None:
            del self._evicted[old.uid]
            self._names.pop(old.uid, None)
            _, timer = self._timers.pop(old.uid, (0.0, None))
            if timer is not None:
                timer.cancel()

    def update_later(self, uid: str) -> None:
        """Update the status of a rule soon; until then, more may change."""
        self._update_after(uid, _PERIOD_SECONDS)

    def count_eviction(self, uid: str) -> None:
        """Count a pod that was evicted because of a rule."""
        if uid in self._names:
            self._evicted[uid] += 1
            self.update_later(uid)

    def _update_after(self, uid: str, seconds: float) -> None:
        due = self._cluster.clock.now() + seconds
        earlier, timer = self._timers.get(uid, (0.0, None))
        if timer is not None:
            # An update that is due earlier covers this one; a later one is replaced.
            if earlier <= due:
                return
            timer.cancel()
        call = partial(self._update, uid)
        # No decision depends on the status, so settling does not wait for it.
        is_later = seconds > 0
        timer = self._cluster.clock.call_at(due, call, background=is_later)
        self._timers[uid] = due, timer

    def _update(self, uid: str) -> None:
        del self._timers[uid]
        rule = self._cluster.objects(DeviceTaintRule).get(self._names.get(uid, ""))
        if rule is None or rule.uid != uid:
            return
        others = [
            condition
            for condition in rule.status.conditions
            if condition.type != _CONDITION
        ]
        current = [
            condition
            for condition in rule.status.conditions
            if condition.type == _CONDITION
        ]
        now = self._cluster.clock.now()
        since = current[0].last_transition_time if current else None
        if since is not None and current[0].observed_generation == (
            rule.metadata.generation
        ):
            passed = now - min(since, now)
            # Written too recently: a rule that evicts many pods would otherwise be
            # written for each of them.
            if 0 < passed < _PERIOD_SECONDS or since == now:
                self._update_after(uid, _PERIOD_SECONDS - passed)
                return
        # Compared with the old time, or the new time alone would count as a change.
        condition = replace(self._condition(rule), last_transition_time=since)
        if [condition] != current:
            condition = replace(condition, last_transition_time=Time(now))
            status = DeviceTaintRuleStatus(conditions=(*others, condition))
            self._cluster.change(rule, replace(rule, status=status))

    def _condition(self, rule: DeviceTaintRule) -> Condition:
        effect, evicted = rule.spec.taint.effect, self._evicted[rule.uid]
        status = "False"
        if effect == NO_EXECUTE:
            pending = _Pending.of(self._pods_to_evict(rule))
            status = "True" if pending.pods else "False"
            reason, message = _progress(pending, evicted)
        elif effect == "None":
            reason, message = "NoEffect", self._trial(rule)
        else:
            reason = "OtherEffect"
            message = "Eviction only happens for the NoExecute effect."
        if evicted:
            done = f"{_counted(evicted, 'pod')} evicted since starting the controller."
            message = f"{message} {done}" if message else done
        return Condition(
            type=_CONDITION,
            status=status,
            observed_generation=rule.metadata.generation or 0,
            reason=reason,
            message=message,
        )

    def _trial(self, rule: DeviceTaintRule) -> str:
        """Describe what a rule would evict with the effect NoExecute."""
        published = sum(
            rule.selects(
                resource_slice.spec.driver, resource_slice.spec.pool.name, device.name
            )
            for resource_slice in self._devices.slices()
            for device in resource_slice.spec.devices
        )
        allocated = sum(
            rule.selects(result.driver, result.pool, result.device)
            for claim in self._cluster.objects(ResourceClaim).values()
            if claim.status.allocation is not None
            for result in claim.status.allocation.devices.results
        )
        pending = _Pending.of(self._pods_to_evict(rule))
        return (
            f"{_counted(published, 'published device')} selected. "
            f"{_counted(allocated, 'allocated device')} selected. "
            f"{_counted(pending.pods, 'pod')} would be evicted in {pending.where} "
            f"{_ONCE}"
        )


def _progress(pending: _Pending, evicted: int) -> tuple[str, str]:
    """Return the reason and the message of a rule with the effect NoExecute."""
    if pending.pods:
        verb = "needs" if pending.pods == 1 else "need"
        who = _counted(pending.pods, "pod")
        return "PodsPendingEviction", f"{who} {verb} to be evicted in {pending.where}."
    return ("Completed" if evicted else "NotStarted"), ""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
