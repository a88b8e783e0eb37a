"""A plugin that notes what each pod has in the status of a shared object."""

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
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.objects import ApiValue, ObjectMeta
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["ADDRESS_MISTAKES", "OWN", "Addresses"]

LABEL = "example.com/pool"
EMPTY = Status.unresolvable("the pool has no free address")


class Taken(ApiValue, frozen=True, kw_only=True):
    """An address that a pod has."""

    address: str = ""
    pod: str = ""
    uid: str = ""


class PoolSpec(ApiValue, frozen=True, kw_only=True):
    """The addresses."""

    addresses: tuple[str, ...] = ()


class PoolStatus(ApiValue, frozen=True, kw_only=True):
    """Those that are taken."""

    taken: tuple[Taken, ...] = ()


class Pool(ApiObject, frozen=True, kw_only=True):
    """The addresses for the pods of a namespace."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Pool"
    plural: ClassVar[str] = "pools"

    spec: PoolSpec = PoolSpec()
    status: PoolStatus = PoolStatus()


def pool_of(pod: Pod) -> str | None:
    """Return the key of the pool that a pod uses."""
    name = pod.labels.get(LABEL)
    return f"{pod.namespace}/{name}" if name else None


class Addresses(Plugin):
    """Correct: takes an address before the bind, and gives it back when none uses it.

    What is left over, after a failure or a restart, is found in the status of the pool.
    """

    kinds = (Pool,)
    reads = ()
    writes = (Write(Verb.PATCH, Pool, "status"),)
    blocks = False

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.booked: dict[str, tuple[str, str]] = {}  # uid -> pool, address
        self.returning: set[str] = set()
        self.is_started = False
        handle.informers.on_change(Pool, self.follow_pool)
        handle.informers.on_change(Pod, self.follow_pod)

    @hookimpl
    def start(self) -> None:
        self.is_started = True
        for pool in self.handle.informers.list(Pool):
            self.review(pool.key)

    def follow_pool(self, _old: Pool | None, new: Pool | None) -> None:
        """Look through a changed pool."""
        if new is not None:
            self.review(new.key)

    def follow_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Give back the address of a pod that has ended."""
        if old is not None and (new is None or new.uid != old.uid or new.is_finished):
            self.give_up(old)

    def give_up(self, pod: Pod) -> None:
        """Forget the booking of a pod."""
        self.booked.pop(pod.uid, None)
        pool = pool_of(pod)
        if pool is not None:
            self.review(pool)

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        key = pool_of(pod)
        pool = None if key is None else self.handle.informers.get(Pool, key)
        if key is None:
            return None
        if pool is None:
            return EMPTY
        used = {each.address for each in pool.status.taken}
        booked = self.booked.items()
        used |= {at for uid, (of, at) in booked if of == key and uid != pod.uid}
        free = [each for each in pool.spec.addresses if each not in used]
        if not free:
            return EMPTY
        self.booked[pod.uid] = key, free[0]
        return None

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.give_up(pod)

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        if pod.uid not in self.booked:
            return None
        key, address = self.booked[pod.uid]
        taken = Taken(address=address, pod=pod.name, uid=pod.uid)
        try:
            return self.take(key, taken)
        except ApiError as error:
            return self.failed(error)

    def take(self, key: str, taken: Taken) -> Status | None:
        """Write a taken address to its pool."""
        pool = self.handle.cluster.get(Pool, key)
        others = [each for each in pool.status.taken if each.uid != taken.uid]
        if any(each.address == taken.address for each in others):
            return EMPTY
        self.handle.cluster.patch_status(pool, {"taken": (*others, taken)})
        return None

    def failed(self, error: ApiError) -> Status | None:
        """Return the answer after a failed call."""
        return Status.from_error(error)

    def review(self, key: str) -> None:
        """Give back what no pod needs."""
        pool = self.handle.informers.get(Pool, key)
        if pool is None or not self.is_started or key in self.returning:
            return
        stale = [each for each in pool.status.taken if not self.is_needed(key, each)]
        if stale:
            self.returning.add(key)
            self.handle.run_in_background(
                lambda: self.give_back(key, stale), lambda _: self.gave_back(key)
            )

    def is_needed(self, key: str, taken: Taken) -> bool:
        """Return whether an address is booked, or its pod runs."""
        if self.booked.get(taken.uid) == (key, taken.address):
            return True
        namespace = key.partition("/")[0]
        pod = self.handle.informers.get(Pod, f"{namespace}/{taken.pod}")
        return (
            pod is not None
            and pod.uid == taken.uid
            and bool(pod.node_name)
            and not pod.is_finished
        )

    def give_back(self, key: str, stale: Sequence[Taken]) -> None:
        """Remove entries of a pool."""
        try:
            pool = self.handle.cluster.get(Pool, key)
            kept = [each for each in pool.status.taken if each not in stale]
            if len(kept) < len(pool.status.taken):
                self.handle.cluster.patch_status(pool, {"taken": tuple(kept)})
        except ApiError:
            return

    def gave_back(self, key: str) -> None:
        """Look again after a while: the call may have failed."""
        self.handle.clock.call_later(60, lambda: self.look_again(key), background=True)

    def look_again(self, key: str) -> None:
        """Look through a pool again."""
        self.returning.discard(key)
        self.review(key)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(Pool)(Change.ADD | Change.UPDATE),
            on_pod.target(Change.UPDATE),
        ]


class IgnoresFailedWrites(Addresses):
    """Lets the pod be bound although its address was not written."""

    def failed(self, error: ApiError) -> Status | None:
        return None


def _pool(namespace: str, addresses: int) -> Pool:
    return Pool(
        metadata=ObjectMeta(name="red", namespace=namespace),
        spec=PoolSpec(addresses=tuple(f"10.0.0.{each}" for each in range(addresses))),
    )


OWN = clusters(
    pods=pods({"labels": {LABEL: "red"}}),
    objects=st.builds(_pool, st.sampled_from(["default", "other"]), st.integers(1, 3)),
)

ADDRESS_MISTAKES = [Mistake(IgnoresFailedWrites, ["pre binding"], OWN)]
