"""A plugin that mounts a disk before the bind and unmounts it, and mistakes in it."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Pod, PreBindWait, Status, hookimpl
from quaymaster.cluster import ApiError, NotFoundError, Verb, Write
from quaymaster.objects import ObjectMeta
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin, owned_by

__all__ = ["MOUNT_MISTAKES", "OWN", "Mounts", "MountsWithoutAWait"]

DISK = "example.com/disk"
LATE = Status.unschedulable("the disk was not mounted in time")
UNDOING = Status.unschedulable("an earlier mount is being deleted")


class Mount(ApiObject, frozen=True, kw_only=True):
    """The mount of the pod that has the same name."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Mount"
    plural: ClassVar[str] = "mounts"

    node: str = ""
    uid_of_pod: str = ""
    is_ready: bool = False
    is_wanted: bool = True


class Mounts(Plugin):
    """Correct: a mount belongs to a pod and a node, and others are left alone."""

    kinds = (Mount,)
    reads = ()
    writes = (
        Write(Verb.CREATE, Mount),
        Write(Verb.UPDATE, Mount),
        Write(Verb.DELETE, Mount),
    )
    blocks = False

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        # The uid of a pod whose mount is being deleted -> whether the pod waits for it.
        self.undoing: dict[str, bool] = {}

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        if pod.uid not in self.undoing:
            return None
        self.undoing[pod.uid] = True
        return UNDOING

    @hookimpl
    def pre_bind(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        if DISK not in pod.labels:
            return None
        wanted = self.wanted(pod, node_name)
        try:
            self.write(wanted)
        except ApiError as error:
            return self.failed(error)
        return self.written(wanted)

    def wanted(self, pod: Pod, node_name: str) -> Mount:
        """Return the mount of a pod."""
        metadata = owned_by(pod)
        return Mount(metadata=metadata, node=node_name, uid_of_pod=pod.uid)

    def write(self, wanted: Mount) -> None:
        """Create a mount, in place of any that belongs to another node or pod."""
        stored = self.stored(wanted.key)
        if stored is not None and not self.is_same(stored, wanted):
            self.handle.cluster.delete(Mount, stored.key, uid=stored.uid)
            stored = None
        if stored is None:
            self.handle.cluster.create(wanted)

    def stored(self, key: str) -> Mount | None:
        """Return the mount of a name."""
        try:
            return self.handle.cluster.get(Mount, key)
        except NotFoundError:
            return None

    def is_same(self, mount: Mount, wanted: Mount) -> bool:
        """Return whether a mount is for the same pod and node."""
        same_pod = mount.uid_of_pod == wanted.uid_of_pod
        return same_pod and mount.node == wanted.node and mount.is_wanted

    def failed(self, error: ApiError) -> PreBindWait | Status | None:
        """Return the answer after a call that has failed."""
        return Status.from_error(error)

    def written(self, wanted: Mount) -> PreBindWait | Status | None:
        """Return the answer once the mount exists."""
        return PreBindWait(
            check=lambda: self.is_ready(wanted), timeout_seconds=60, timed_out=LATE
        )

    def is_ready(self, wanted: Mount) -> bool:
        """Return whether the mount is ready."""
        mount = self.handle.informers.get(Mount, wanted.key)
        return mount is not None and self.is_same(mount, wanted) and mount.is_ready

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        wanted = self.wanted(pod, node_name)
        stored = self.handle.informers.get(Pod, pod.key)
        is_bound = stored and stored.uid == pod.uid and stored.node_name
        # Also called after the rejection by `reserve`: then a task runs already.
        if DISK in pod.labels and not is_bound and pod.uid not in self.undoing:
            self.undoing[pod.uid] = False
            self.handle.run_in_background(
                lambda: self.undo(wanted), lambda _: self.undone(pod)
            )

    def undone(self, pod: Pod) -> None:
        """Try a pod again if it waits for the end of the task."""
        if self.undoing.pop(pod.uid, False):
            self.handle.activate([pod])

    def undo(self, wanted: Mount) -> None:
        """Delete the mount of an attempt."""
        try:
            stored = self.stored(wanted.key)
            if stored is not None and self.is_same(stored, wanted):
                self.handle.cluster.delete(Mount, stored.key, uid=stored.uid)
        except ApiError:
            pass  # the next pod of the name replaces it


class MountsWithoutAWait(Mounts):
    """Correct: the node waits for the mount, so the pod may be bound at once."""

    def written(self, wanted: Mount) -> PreBindWait | Status | None:
        """Let the pod be bound."""
        return None


class BindsWithoutAMount(Mounts):
    def failed(self, error: ApiError) -> PreBindWait | Status | None:
        return None


class WaitsForAMissingMount(Mounts):
    """Takes a mount that does not exist for one that is ready."""

    def failed(self, error: ApiError) -> PreBindWait | Status | None:
        check = lambda: not self.handle.informers.list(Mount)  # noqa: E731 - short
        return PreBindWait(check=check, timeout_seconds=60, timed_out=LATE)


class MountsInOneNamespace(Mounts):
    def wanted(self, pod: Pod, node_name: str) -> Mount:
        mount = super().wanted(pod, node_name)
        return replace(mount, metadata=ObjectMeta(name=pod.name, namespace="disks"))


class TakesTheMountOfAnotherNode(Mounts):
    def is_ready(self, wanted: Mount) -> bool:
        mount = self.handle.informers.get(Mount, wanted.key)
        is_own = mount is not None and mount.uid_of_pod == wanted.uid_of_pod
        return is_own and mount is not None and mount.is_ready


class TakesTheMountOfAnotherPod(Mounts):
    def is_ready(self, wanted: Mount) -> bool:
        mount = self.handle.informers.get(Mount, wanted.key)
        return mount is not None and mount.node == wanted.node and mount.is_ready


class UnmountsAnyPod(Mounts):
    def undo(self, wanted: Mount) -> None:
        stored = self.stored(wanted.key)
        if stored is not None:
            super().undo(replace(stored, is_wanted=True))


class UnmountsOnAnyNode(Mounts):
    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return None

    def undo(self, wanted: Mount) -> None:
        stored = self.stored(wanted.key)
        super().undo(replace(wanted, node=stored.node if stored else ""))


class EmptiesAnyMount(Mounts):
    def undo(self, wanted: Mount) -> None:
        stored = self.stored(wanted.key)
        if stored is not None:
            emptied = replace(stored, node="", is_wanted=False)
            self.handle.cluster.update(emptied)


OWN = clusters(pods=pods({"labels": {DISK: ""}}))
MOUNT_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["pre binding"], OWN)
    for plugin in (
        BindsWithoutAMount,
        WaitsForAMissingMount,
        MountsInOneNamespace,
        TakesTheMountOfAnotherNode,
        TakesTheMountOfAnotherPod,
        UnmountsAnyPod,
        UnmountsOnAnyNode,
        EmptiesAnyMount,
    )
)
