"""Claims as the scheduler knows them, and the devices that they have taken.

Mirrors ``claimTracker`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dra_manager.go``).
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from quaymaster import Informers, Pod
from quaymaster.columns import ChangeLog
from quaymaster.config import Kubernetes
from quaymaster.devices import AllocatedDevices, DeviceId, Inventory
from quaymaster.objects import (
    AllocationResult,
    DeviceTaintRule,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster_dynamic_resources.extended import ANNOTATION

__all__ = ["ClaimTracker"]

# How many claims may be deleted while one write is under way: as many as informers log.
_MOST_DELETED: Final = 1 << 16


class ClaimTracker:
    """Keeps count of devices: of claims that are stored, written, or in flight.

    An allocation is in flight from Reserve until it is written. A claim that was
    written stands for the informer's one until that is as new.

    `written` may be called from any thread; everything else belongs to the scheduling
    thread.

    Args:
        informers: The engine's copy of the cluster.
        kubernetes: The Kubernetes whose decisions are made.

    Attributes:
        changes: The names of nodes for which other devices are free than before; an
            empty name stands for all nodes. See `take_stock`.
        has_mixed_counters: Whether drivers share the counters of a pool of one name,
            as upstream has it: then what a node gets depends on the other nodes.
    """

    def __init__(self, informers: Informers, kubernetes: Kubernetes) -> None:
        self.changes: ChangeLog[str] = ChangeLog()
        self.has_mixed_counters = False
        self._informers = informers
        self._made = informers.index(ResourceClaim, by=_owner)
        self._revision = -1
        self._slice_revision = -1
        self._reads_rules = kubernetes.reads(DeviceTaintRule.kind)
        self._rule_revision = -1
        self._rules: dict[str, DeviceTaintRule] = {}
        self._inbox: deque[tuple[ResourceClaim, str]] = deque()
        self._written: dict[str, ResourceClaim] = {}
        self._deleted: dict[str, None] = {}
        self._in_flight: dict[str, tuple[ResourceClaim, AllocationResult]] = {}
        self._gone: dict[str, None] = {}
        self._uids: dict[str, str] = {}
        self._counted: dict[str, AllocationResult] = {}
        self._holders: Mapping[DeviceId, Sequence[str]] | None = None
        self._allocated = AllocatedDevices()
        self._inventory = Inventory(kubernetes=kubernetes)
        self._slices: dict[str, ResourceSlice] = {}
        # Pool -> slice -> the one node that sees it, or "".
        self._homes: dict[str, dict[str, str]] = {}
        self._names = 0
        self._newest = 0
        # Written claims of which the informer has not told, the oldest first.
        self._unheard: dict[str, None] = {}

    @property
    def allocated(self) -> AllocatedDevices:
        """The devices that are taken, up to date."""
        self._sync()
        return self._allocated

    @property
    def inventory(self) -> Inventory:
        """The devices that there are, up to date."""
        if self._reads_rules:
            self._follow_rules()
        log = self._informers.changes(ResourceSlice)
        if log.revision != self._slice_revision:
            names = log.since(self._slice_revision)
            if names is None:
                listed = self._informers.list(ResourceSlice)
                names = dict.fromkeys([*self._slices, *(one.name for one in listed)])
            self._take_slices(names)
            self._slice_revision = log.revision
        return self._inventory

    def holders(self) -> Mapping[DeviceId, Sequence[str]]:
        """Return the keys of the claims that have each device; for explanations."""
        self._sync()
        if self._holders is None:
            keys = {uid: key for key, uid in self._uids.items()}
            keys |= {uid: claim.key for uid, (claim, _) in self._in_flight.items()}
            found: dict[DeviceId, list[str]] = {}
            for uid, allocation in self._counted.items():
                for one in allocation.devices.results:
                    device = DeviceId(one.driver, one.pool, one.device)
                    found.setdefault(device, []).append(keys.get(uid, uid))
            self._holders = found
        return self._holders

    def take_stock(self) -> None:
        """Take over what has changed, so that `changes` tells all of it."""
        _ = self.allocated, self.inventory

    def get(self, key: str) -> ResourceClaim | None:
        """Return a claim by its key, as it was written last; None if there is none."""
        self._sync()
        return self._in_effect(key)

    def made_for(self, pod: Pod) -> Sequence[ResourceClaim]:
        """Return the claims that an earlier attempt made for extended resources."""
        self._sync()
        found = {one.key: one for one in self._made.get(pod.uid)}
        found |= {
            key: one for key, one in self._written.items() if _owner(one) == pod.uid
        }
        in_effect = map(self._in_effect, found)
        return [claim for claim in in_effect if claim is not None]

    def is_in_flight(self, uid: str) -> bool:
        """Whether the allocation of a claim is still to be written."""
        self._sync()
        return uid in self._in_flight

    def in_flight(self) -> Collection[str]:
        """Return the keys of the claims whose allocations are still to be written."""
        self._sync()
        return [claim.key for claim, _ in self._in_flight.values()]

    def name_new(self) -> str:
        """Return a uid for a claim that is in no cluster yet; another one each time."""
        self._names += 1
        return f"new-{self._names}"

    def reserve(self, claim: ResourceClaim, allocation: AllocationResult) -> None:
        """Count devices as taken by a claim, until they are written or released."""
        self._sync()
        self._in_flight[claim.uid] = claim, allocation
        self._count(claim.uid, allocation)

    def release(self, uid: str) -> None:
        """Give back the devices of a claim that were not written."""
        self._sync()
        found = self._in_flight.pop(uid, None)
        if found is not None:
            self._count(uid, None)
            self._recount(found[0].key)

    def written(self, claim: ResourceClaim, uid: str) -> None:
        """Take over a claim as the cluster has stored it; from any thread.

        Args:
            claim: The claim.
            uid: The uid under which its allocation was in flight.
        """
        self._inbox.append((claim, uid))

    def forget(self, claim: ResourceClaim, uid: str) -> None:
        """Forget a claim that was to be written, or was, and is gone.

        Args:
            claim: The claim; what the informer still has to tell of it is old.
            uid: The uid under which its allocation was in flight.
        """
        self._sync()
        _remember(self._gone, claim.uid)
        if self._in_flight.pop(uid, None) is not None:
            self._count(uid, None)
        self._written.pop(claim.key, None)
        self._recount(claim.key)

    def tell_all(self) -> Iterator[tuple[ResourceClaim, AllocationResult]]:
        """Tell who has which devices, from what is known of claims alone.

        Nothing that was counted before is relied on.

        Yields:
            Claims as they are, or are to be written, and what they have.
        """
        self._sync()
        listed = (claim.key for claim in self._informers.list(ResourceClaim))
        stored = map(self._in_effect, dict.fromkeys([*listed, *self._written]))
        owners = set()
        for claim in stored:
            if claim is not None and claim.status.allocation is not None:
                owners.add(_owner(claim) or claim.uid)
                yield claim, claim.status.allocation
        for claim, allocation in self._in_flight.values():
            # It may have been told of already, by the uid that it was stored with.
            if (_owner(claim) or claim.uid) not in owners:
                yield claim, allocation

    def taint_rules(self) -> Sequence[DeviceTaintRule]:
        """Return the rules that taint devices, as the informers have them."""
        return self._informers.list(DeviceTaintRule) if self._reads_rules else ()

    def read_rules(self, *, is_on: bool) -> None:
        """Follow the rules that taint devices from now on, or no longer."""
        if is_on == self._reads_rules:
            return
        self._reads_rules = is_on
        self._rule_revision = -1
        if not is_on:
            for rule in self._rules.values():
                self._note_slices(self._inventory.remove_rule(rule))
            self._rules.clear()

    def _follow_rules(self) -> None:
        log = self._informers.changes(DeviceTaintRule)
        if log.revision == self._rule_revision:
            return
        names = log.since(self._rule_revision)
        if names is None:
            listed = (rule.name for rule in self.taint_rules())
            names = dict.fromkeys([*self._rules, *listed])
        self._rule_revision = log.revision
        for name in names:
            self._follow_rule(name)

    def _follow_rule(self, name: str) -> None:
        old, new = self._rules.get(name), self._informers.get(DeviceTaintRule, name)
        old_spec = None if old is None else old.spec
        if new is not None:
            self._rules[name] = new
            if new.spec == old_spec:  # only its status has changed
                return
            tainted = self._inventory.add_rule(new)
        elif old is not None:
            del self._rules[name]
            tainted = self._inventory.remove_rule(old)
        else:
            return
        self._note_slices(tainted)

    def _note_slices(self, slices: Iterable[ResourceSlice]) -> None:
        for pool in dict.fromkeys(one.spec.pool.name for one in slices):
            self._note_pool(pool)

    def _take_slices(self, names: Iterable[str]) -> None:
        for name in names:
            old, new = self._slices.get(name), self._informers.get(ResourceSlice, name)
            if old is not None and new != old:
                self._note_pool(old.spec.pool.name)
                self._inventory.remove(old)
                del self._slices[name]
                del self._homes[old.spec.pool.name][name]
            if new is not None and new != old:
                self._inventory.add(new)
                self._slices[name] = new
                self._homes.setdefault(new.spec.pool.name, {})[name] = _home(new)
                self._note_pool(new.spec.pool.name)
        drivers: dict[str, set[str]] = {}
        for one in self._slices.values():
            if one.spec.shared_counters:
                drivers.setdefault(one.spec.pool.name, set()).add(one.spec.driver)
        self.has_mixed_counters = any(len(found) > 1 for found in drivers.values())

    def _note_pool(self, pool: str) -> None:
        """Note the nodes that see a pool of a name, of whatever driver."""
        for node in dict.fromkeys(self._homes.get(pool, {}).values()):
            self.changes.note(node)

    def _note(self, allocation: AllocationResult) -> None:
        for pool in dict.fromkeys(one.pool for one in allocation.devices.results):
            self._note_pool(pool)

    def _sync(self) -> None:
        log = self._informers.changes(ResourceClaim)
        if log.revision != self._revision:
            keys = log.since(self._revision)
            if keys is None:
                listed = self._informers.list(ResourceClaim)
                known = [*self._uids, *self._written]
                keys = dict.fromkeys([*known, *(one.key for one in listed)])
            self._revision = log.revision
            for key in keys:
                self._follow(key)
            self._drop_unheard()
        while self._inbox:
            claim, uid = self._inbox.popleft()
            was_in_flight = self._in_flight.pop(uid, None) is not None
            if self._is_gone(claim, uid):
                self._count(uid, None)
                self._count(claim.uid, None)
                continue
            stored = self._informers.get(ResourceClaim, claim.key)
            # What the informer has told of already, it does not tell of again.
            if stored is None or _version(stored) < _version(claim):
                self._written[claim.key] = claim
            if stored is None:
                self._unheard[claim.key] = None
            if was_in_flight and uid != claim.uid:
                # The informer may have told of the claim by its other uid already:
                # both are the same devices.
                self._count(uid, None)
                self._count(claim.uid, None)
            self._recount(claim.key)

    def _is_gone(self, claim: ResourceClaim, uid: str) -> bool:
        """Whether a claim has been deleted before it was known to be written.

        The informer has told of it, and will not again. A claim that was made for
        extended resources may still be on its way.
        """
        if claim.uid in self._gone:
            return True
        if self._informers.get(ResourceClaim, claim.key) is not None:
            return False
        return uid == claim.uid or claim.key in self._deleted

    def _drop_unheard(self) -> None:
        """Drop claims that came and went before the informer could tell of them.

        It tells in order: what it does not know of, and is older than what it knows, is
        gone.
        """
        while self._unheard:
            key = next(iter(self._unheard))
            claim = self._written.get(key)
            if claim is not None and _version(claim) >= self._newest:
                return  # as are those that were written later
            del self._unheard[key]
            if claim is not None and self._informers.get(ResourceClaim, key) is None:
                del self._written[key]
                self._recount(key)

    def _follow(self, key: str) -> None:
        """Take over what the informer says of a claim that has changed or gone."""
        stored, written = (
            self._informers.get(ResourceClaim, key),
            self._written.get(key),
        )
        if stored is not None:
            self._newest = max(self._newest, _version(stored))
            self._unheard.pop(key, None)
        else:
            _remember(self._deleted, key)
        if written is not None and (
            stored is None or _version(stored) >= _version(written)
        ):
            del self._written[key]
        self._recount(key)

    def _in_effect(self, key: str) -> ResourceClaim | None:
        written = self._written.get(key)
        stored = self._informers.get(ResourceClaim, key)
        if stored is not None and stored.uid in self._gone:
            stored = None
        if written is None or (
            stored is not None and _version(stored) >= _version(written)
        ):
            return stored
        return written

    def _recount(self, key: str) -> None:
        claim, known = self._in_effect(key), self._uids.get(key)
        if known is not None and (claim is None or claim.uid != known):
            if known not in self._in_flight:
                self._count(known, None)
            del self._uids[key]
        if claim is None:
            return
        self._uids[key] = claim.uid
        if claim.status.allocation is not None:
            self._count(claim.uid, claim.status.allocation)
        elif claim.uid not in self._in_flight:
            self._count(claim.uid, None)

    def _count(self, uid: str, allocation: AllocationResult | None) -> None:
        counted = self._counted.get(uid)
        if (
            counted is not None
            and allocation is not None
            and counted.devices == allocation.devices
        ):
            return
        self._holders = None
        if counted is not None:
            self._allocated.remove(counted)
            del self._counted[uid]
            self._note(counted)
        if allocation is not None:
            self._allocated.add(allocation)
            self._counted[uid] = allocation
            self._note(allocation)


def _remember(some: dict[str, None], one: str) -> None:
    """Remember something, and forget the oldest if that is too much."""
    some[one] = None
    if len(some) > _MOST_DELETED:
        del some[next(iter(some))]


def _home(resource_slice: ResourceSlice) -> str:
    """The one node that sees a slice; empty if there may be others."""
    spec = resource_slice.spec
    return "" if spec.shared_counters else spec.node_name or ""


def _owner(claim: ResourceClaim) -> str | None:
    """The pod that a claim was made for; None if somebody else made the claim."""
    if claim.annotations.get(ANNOTATION) != "true":
        return None
    owner = claim.metadata.controller
    return owner.uid if owner is not None else None


def _version(claim: ResourceClaim) -> int:
    text = claim.metadata.resource_version
    return int(text) if text.isdecimal() else 0
