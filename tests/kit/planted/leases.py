"""A gate that counts what its callbacks have seen, and mistakes in it."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    Pod,
    QueuedPodInfo,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.objects import ApiValue
from quaymaster.testing import clusters, make_metadata, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["LEASE_MISTAKES", "OWN", "CountsFriends", "Leases", "StartsLate"]

TENANT = "example.com/tenant"
CLOSED = Status.unresolvable("its tenant has nothing")


class LeaseSpec(ApiValue, frozen=True, kw_only=True):
    """Who has a lease."""

    tenant: str = ""


class Lease(ApiObject, frozen=True, kw_only=True):
    """A lease of one tenant."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Lease"
    plural: ClassVar[str] = "leases"
    namespaced: ClassVar[bool] = False

    spec: LeaseSpec = LeaseSpec()


class Leases(Plugin):
    """Correct: a pod waits until its tenant has a lease."""

    kinds: ClassVar[Sequence[type[ApiObject]]] = (Lease,)

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.counts: Counter[str] = Counter()
        handle.informers.on_change(Lease, self.learn)

    def learn(self, old: Lease | None, new: Lease | None) -> None:
        """Count the leases of each tenant."""
        if old is not None:
            self.counts[old.spec.tenant] -= 1
        if new is not None:
            self.counts[new.spec.tenant] += 1

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        tenant = pod.labels.get(TENANT, "")
        return CLOSED if tenant and not self.counts[tenant] else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [EventsOf(Lease)(Change.ALL), on_pod.target(Change.UPDATE_POD_LABEL)]


class StartsLate(Leases):
    """Correct: wakes the pods that were gated before it had seen the leases."""

    def __init__(self, args: object, handle: Handle) -> None:
        Plugin.__init__(self, args, handle)
        self.counts = Counter()

    @hookimpl
    def start(self) -> None:
        """Follow the leases."""
        self.handle.informers.on_change(Lease, self.learn)
        self.handle.changed()


class FollowsFromTheStart(StartsLate):
    @hookimpl
    def start(self) -> None:
        self.handle.informers.on_change(Lease, self.learn)


class CountsFromTheStart(StartsLate):
    @hookimpl
    def start(self) -> None:
        leases = self.handle.informers.list(Lease)
        self.counts = Counter(lease.spec.tenant for lease in leases)
        self.handle.changed(requeue=False)


class HasCountsFromTheStart(StartsLate):
    def __init__(self, args: object, handle: Handle) -> None:
        Plugin.__init__(self, args, handle)

    @hookimpl
    def start(self) -> None:
        self.counts = Counter()
        self.handle.informers.on_change(Lease, self.learn)
        self.handle.changed()


class SortsByLeasesOfTheStart(Plugin):
    kinds: ClassVar[Sequence[type[ApiObject]]] = (Lease,)
    tenants: frozenset[str] = frozenset()

    @hookimpl
    def start(self) -> None:
        leases = self.handle.informers.list(Lease)
        self.tenants = frozenset(lease.spec.tenant for lease in leases)

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[bool]:
        return (queued.pod.labels.get(TENANT, "") not in self.tenants,)


class ForgetsWhoHadIt(Leases):
    def learn(self, old: Lease | None, new: Lease | None) -> None:
        if new is None and old is not None:
            self.counts[old.spec.tenant] -= 1
        if new is not None:
            self.counts[new.spec.tenant] += 1


class CountsUpdatesTwice(Leases):
    def learn(self, old: Lease | None, new: Lease | None) -> None:
        super().learn(old, new)
        if old is not None and new is not None and old.spec == new.spec:
            self.counts[new.spec.tenant] += 1


class KeepsOneOfEachTenant(Leases):
    def __init__(self, args: object, handle: Handle) -> None:
        self.last: dict[str, str] = {}
        super().__init__(args, handle)

    def learn(self, old: Lease | None, new: Lease | None) -> None:
        if old is not None:
            self.last.pop(old.spec.tenant, None)
        if new is not None:
            self.last[new.spec.tenant] = new.name
        self.counts = Counter(self.last.keys())


class ForgetsLeasesThatEnd(Leases):
    def learn(self, old: Lease | None, new: Lease | None) -> None:
        if new is not None:
            super().learn(old, new)


class CountsFriends(Plugin):
    """Correct: a pod waits until a pod of its tenant runs."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.tenants: dict[str, str] = {}
        handle.informers.on_change(Pod, self.learn)

    def learn(self, old: Pod | None, new: Pod | None) -> None:
        """Keep the tenants of running pods."""
        if old is not None:
            self.tenants.pop(old.uid, None)
        if new is not None and new.node_name and not new.is_finished:
            self.tenants[new.uid] = new.labels.get(TENANT, "")

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        tenant = pod.labels.get(TENANT, "")
        return CLOSED if tenant and tenant not in self.tenants.values() else None


class KnowsTheFirstTenant(CountsFriends):
    def learn(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is not None and old.uid in self.tenants:
            return  # the mistake: labels change
        super().learn(old, new)


def _lease(name: str, tenant: str) -> ApiObject:
    return Lease(
        metadata=make_metadata(Lease, name=name), spec=LeaseSpec(tenant=tenant)
    )


TENANTS = ("red", "blue")
LABELLED = pods(*({"labels": {TENANT: tenant}} for tenant in TENANTS))
OWN = clusters(
    pods=LABELLED,
    objects=st.builds(
        _lease, st.sampled_from(["a", "b", "c", "d"]), st.sampled_from([*TENANTS, ""])
    ),
)
LEASE_MISTAKES: Sequence[Mistake] = (
    Mistake(FollowsFromTheStart, ["starting"], OWN),
    Mistake(CountsFromTheStart, ["starting"], OWN),
    Mistake(HasCountsFromTheStart, ["starting"], OWN),
    Mistake(SortsByLeasesOfTheStart, ["starting"], OWN),
    Mistake(ForgetsWhoHadIt, ["object changes"], OWN),
    Mistake(KeepsOneOfEachTenant, ["object changes"], OWN),
    Mistake(ForgetsLeasesThatEnd, ["object changes"], OWN),
    Mistake(CountsUpdatesTwice, ["object changes"], OWN),
    Mistake(KnowsTheFirstTenant, ["object changes"], clusters(pods=LABELLED)),
)
