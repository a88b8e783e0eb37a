"""Evicts pods from devices with a taint of the effect NoExecute.

Mirrors ``pkg/controller/devicetainteviction`` (Kubernetes v1.37). Pods are evicted at
once, or when the toleration of their claim ends; budgets do not protect them. The
status of rules is in `quaymaster._clusters.inmemory.controllers.device_rule_status`.

Simpler than upstream: a taint that was read from another cluster, with a time in the
future, starts now.
"""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    DeviceTaintRule,
    Pod,
    PodCondition,
    ResourceClaim,
    ResourceSlice,
    Time,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.device_rule_status import (
    RuleStatusWriter,
)
from quaymaster._clusters.inmemory.controllers.repeated_evictions import (
    RepeatedEvictions,
)
from quaymaster._clusters.inmemory.controllers.taint_arrivals import TaintArrivals
from quaymaster._clusters.inmemory.controllers.tainted_devices import (
    NO_EXECUTE,
    Eviction,
    TaintedDevices,
    claim_keys,
    is_reserved_for,
)
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._core.contract.clock import Timer
from quaymaster._core.contract.cluster import EventNote
from quaymaster._kits.devices.ids import DeviceId, id_of

__all__ = ["DeviceEvictionController"]

_DISRUPTED: Final = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="DeletionByDeviceTaintManager",
    message="Device Taint manager: deleting due to NoExecute taint",
)


class DeviceEvictionController:
    """Deletes pods whose devices have taints that they do not tolerate.

    Args:
        cluster: The cluster.
        repeats: Counts the evictions.
    """

    def __init__(self, cluster: ClusterAccess, repeats: RepeatedEvictions) -> None:
        self._cluster = cluster
        self._repeats = repeats
        kubernetes = cluster.kubernetes
        self._is_on = kubernetes.enabled("DRADeviceTaints")
        self._reads_rules = kubernetes.reads(DeviceTaintRule.kind)
        self._claims = cluster.objects(ResourceClaim)
        self._pods = cluster.objects(Pod)
        self._devices = TaintedDevices()
        self._arrivals = TaintArrivals(cluster.clock.now)
        # By uid: when pods must be evicted, and the timers for it.
        self._due: dict[str, Eviction] = {}
        self._timers: dict[str, Timer] = {}
        self._evicted: set[str] = set()
        self._statuses = RuleStatusWriter(cluster, self._devices, self._pods_to_evict)

    def concerns(self, pod: Pod) -> bool:
        """Return whether a pod may use devices, and any have NoExecute taints."""
        # Most clusters have no tainted devices, and each change of each pod comes
        # through here.
        if self._devices.is_empty and not self._due and not self._evicted:
            return False
        return bool(pod.spec.resource_claims) or (
            pod.status.extended_resource_claim_status is not None
        )

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a created (no old), changed, or removed (no new) pod with claims."""
        if new is None:
            if old is not None:
                self._cancel(old.uid)
                self._evicted.discard(old.uid)
                self._repeats.removed(old)
        elif old is None or _has_other_claims(old, new):
            self._repeats.arrived(new)
            self._examine(new)

    def claim_changed(
        self, old: ResourceClaim | None, new: ResourceClaim | None
    ) -> None:
        """Handle a claim that was created (no old), changed, or removed (no new)."""
        if self._devices.is_empty and not self._due:
            return
        pods: dict[str, Pod] = {}
        for claim in (old, new):
            if claim is not None:
                pods |= {pod.uid: pod for pod in self._consumers(claim)}
        for pod in pods.values():
            self._examine(pod)

    def slice_changed(
        self, old: ResourceSlice | None, new: ResourceSlice | None
    ) -> None:
        """Handle a slice that was created (no old), changed, or removed (no new)."""
        if not self._is_on:
            return
        self._arrivals.note(old, new)
        # Taints get the time of their arrival here, since a recorded time of another
        # cluster is not on this clock.
        local = None if new is None else self._arrivals.of_slice(new)
        devices = self._devices.slice_changed(old, local)
        if devices:
            self._examine_users(devices)

    def rule_changed(
        self, old: DeviceTaintRule | None, new: DeviceTaintRule | None
    ) -> None:
        """Handle a rule that was created (no old), changed, or removed (no new)."""
        if not self._reads_rules:
            return
        # Updates of the status come back here, and change nothing.
        if old is not None and new is not None and old.spec == new.spec:
            return
        self._arrivals.note(old, new)
        self._statuses.rule_changed(old, new)
        if old is not None:
            self._devices.rules.pop(old.name, None)
        # Other effects do not evict. The status writer above still reports what they
        # would do.
        if new is not None and new.spec.taint.effect == NO_EXECUTE:
            self._devices.rules[new.name] = self._arrivals.of_rule(new)
        self._examine_users()

    def _examine_users(self, devices: Collection[DeviceId] | None = None) -> None:
        """Examine the pods that use devices; None means all devices."""
        for claim in list(self._claims.values()):
            allocation = claim.status.allocation
            results = allocation.devices.results if allocation is not None else ()
            if devices is None or any(id_of(result) in devices for result in results):
                for pod in self._consumers(claim):
                    self._examine(pod)

    def _consumers(self, claim: ResourceClaim) -> Iterator[Pod]:
        for consumer in claim.status.reserved_for:
            pod = self._pods.get(f"{claim.namespace}/{consumer.name}")
            if pod is not None and pod.uid == consumer.uid:
                yield pod

    def _examine(self, pod: Pod) -> None:
        """Decide when a pod must be evicted, and set or cancel the timer."""
        eviction = self._eviction_of(pod, self._devices.rules.values())
        # A workload that replaces each evicted pod by one on the same device would run
        # for ever in virtual time.
        if eviction is None or self._repeats.is_endless(pod):
            if self._cancel(pod.uid):
                self._cluster.record(_event(pod, "Cancelling deletion"))
            return
        self._schedule(pod, eviction)
        for uid in eviction.rules:
            self._statuses.update_later(uid)

    def _eviction_of(
        self, pod: Pod, rules: Collection[DeviceTaintRule]
    ) -> Eviction | None:
        """Return when a pod must be evicted; None if it may stay."""
        # A pod without a node uses no devices yet; the scheduler handles its taints.
        if not pod.node_name:
            return None
        first: Eviction | None = None
        for key, is_owned in claim_keys(pod):
            claim = self._claims.get(key)
            if claim is None or not is_reserved_for(claim, pod, is_owned=is_owned):
                continue
            eviction = self._devices.claim_eviction(claim, rules)
            if eviction is not None:
                first = eviction.joined(first)
        return first

    def _pods_to_evict(self, rule: DeviceTaintRule) -> Iterator[Pod]:
        """Yield the pods that a rule evicts, or would with the effect NoExecute."""
        taint = replace(rule.spec.taint, effect=NO_EXECUTE)
        assumed = replace(rule, spec=replace(rule.spec, taint=taint))
        for pod in self._pods.values():
            if not pod.is_terminating:
                eviction = self._eviction_of(pod, (assumed,))
                if eviction is not None and rule.uid in eviction.rules:
                    yield pod

    def _schedule(self, pod: Pod, eviction: Eviction) -> None:
        # An earlier eviction is replaced, not merged: its rules may have gone since.
        self._cancel(pod.uid)
        self._due[pod.uid] = eviction
        due = max(eviction.when, self._cluster.clock.now())
        call = partial(self._evict, pod.key, pod.uid)
        self._timers[pod.uid] = self._cluster.clock.call_at(due, call)

    def _cancel(self, uid: str) -> bool:
        """Cancel the eviction of a pod; return whether there was one."""
        timer = self._timers.pop(uid, None)
        if timer is not None:
            timer.cancel()
        return self._due.pop(uid, None) is not None

    def _evict(self, key: str, uid: str) -> None:
        eviction = self._due.pop(uid)
        del self._timers[uid]
        pod = self._pods.get(key)
        # A new pod may have the same key, so the uid decides.
        if uid in self._evicted or pod is None or pod.uid != uid:
            return
        self._evicted.add(uid)
        if not pod.is_terminating:
            self._repeats.evicted(pod)
            self._cluster.record(_event(pod, "Marking for deletion"))
            now = Time(self._cluster.clock.now())
            conditions = with_condition(pod.status.conditions, _DISRUPTED, now)
            status = replace(pod.status, conditions=conditions)
            # The condition is written first, so that the failure policies of Jobs can
            # match it.
            self._cluster.delete(self._cluster.change(pod, replace(pod, status=status)))
        for rule in eviction.rules:
            self._statuses.count_eviction(rule)


def _has_other_claims(old: Pod, new: Pod) -> bool:
    before, after = old.status, new.status
    return (
        old.node_name != new.node_name
        or before.resource_claim_statuses != after.resource_claim_statuses
        or before.extended_resource_claim_status != after.extended_resource_claim_status
    )


def _event(pod: Pod, note: str) -> EventNote:
    return EventNote(
        regarding=pod,
        type="Normal",
        reason="DeviceTaintManagerEviction",
        action="",
        note=note,
        reporter="device-taint-eviction-controller",
    )
