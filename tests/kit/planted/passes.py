"""A plugin that prepares an object of its own for each bind, and mistakes in it.

A controller grants the passes; here, none acts on them.
"""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Pod, PreBindWait, Status, hookimpl
from quaymaster.cluster import AlreadyExistsError, ApiError, NotFoundError, Verb, Write
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin, owned_by

__all__ = ["OWN", "PASS_MISTAKES", "Passes", "PassesUntilDeleted"]

LABEL = "example.com/pass"
LATE = Status.unschedulable("the pass was not granted in time")
CONFLICT = Status.unschedulable("an earlier pass is being deleted")


class Pass(ApiObject, frozen=True, kw_only=True):
    """Lets the pod of its name onto a node."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Pass"
    plural: ClassVar[str] = "passes"

    uid_of_pod: str = ""
    node: str = ""
    is_granted: bool = False


class Passes(Plugin):
    """Correct: creates a pass or takes its own, and deletes it if the bind fails.

    An attempt that would take a pass which is being deleted has to wait.
    """

    kinds = (Pass,)
    reads = ()
    writes = (Write(Verb.CREATE, Pass), Write(Verb.DELETE, Pass))
    blocks = False

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        # The uid of a pod whose pass is being deleted -> whether the pod waits for it.
        self.deleting: dict[str, bool] = {}

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        if pod.uid not in self.deleting:
            return None
        self.deleting[pod.uid] = True
        return CONFLICT

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod, node_name: str) -> Status | None:
        if LABEL not in pod.labels:
            return Status.skip()
        stored = self.handle.informers.get(Pass, pod.key)
        is_done = stored is not None and self.is_right(stored, pod, node_name)
        return Status.skip() if is_done else None

    @hookimpl
    def pre_bind(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        try:
            return self.prepared(pod, node_name)
        except ApiError as error:
            return Status.from_error(error)

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        """Create the pass, in place of any of an earlier attempt."""
        stored = self.stored(pod)
        if stored is not None and not is_of(stored, pod, node_name):
            self.handle.cluster.delete(Pass, stored.key, uid=stored.uid)
            stored = None
        if stored is None:
            self.handle.cluster.create(new_pass(pod, node_name))
        return self.wait(pod, node_name)

    def stored(self, pod: Pod) -> Pass | None:
        """Return the pass of the pod's name."""
        try:
            return self.handle.cluster.get(Pass, pod.key)
        except NotFoundError:
            return None

    def wait(self, pod: Pod, node_name: str) -> PreBindWait:
        """Wait until the pass is granted."""

        def check() -> bool:
            current = self.handle.informers.get(Pass, pod.key)
            return current is not None and self.is_right(current, pod, node_name)

        seconds = self.seconds(pod)
        return PreBindWait(check=check, timeout_seconds=seconds, timed_out=LATE)

    def seconds(self, pod: Pod) -> float:
        """Return how long a pod may wait."""
        return 60

    def is_right(self, current: Pass, pod: Pod, node_name: str) -> bool:
        """Return whether a pass lets a pod onto a node."""
        return current.is_granted and is_of(current, pod, node_name)

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        # It is called after the rejection by `reserve`, too: then a task runs already.
        is_over = self.is_bound(pod) or pod.uid in self.deleting
        if LABEL in pod.labels and not is_over:
            self.begin_to_delete(pod, node_name)

    def begin_to_delete(self, pod: Pod, node_name: str) -> None:
        """Delete the pass of a failed attempt in the background."""
        self.deleting[pod.uid] = False
        self.handle.run_in_background(
            lambda: self.delete(pod, node_name), lambda _: self.deleted(pod)
        )

    def deleted(self, pod: Pod) -> None:
        """Try a pod again if it waits for the deletion."""
        if self.deleting.pop(pod.uid, False):
            self.handle.activate([pod])

    def is_bound(self, pod: Pod) -> bool:
        """Return whether a pod has a node although its attempt has failed."""
        stored = self.handle.informers.get(Pod, pod.key)
        return stored is not None and stored.uid == pod.uid and bool(stored.node_name)

    def delete(self, pod: Pod, node_name: str) -> None:
        """Delete the pass of an attempt; if that fails, PreBind replaces it."""
        try:
            current = self.handle.cluster.get(Pass, pod.key)
            if is_of(current, pod, node_name):
                self.handle.cluster.delete(Pass, pod.key, uid=current.uid)
        except ApiError:
            return


class PassesUntilDeleted(Passes):
    """Correct: deletes another pass, and takes the next attempt to create its own."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        """Create the pass, or delete that of an earlier attempt."""
        stored = self.stored(pod)
        if stored is not None and not is_of(stored, pod, node_name):
            self.handle.cluster.delete(Pass, stored.key, uid=stored.uid)
            return CONFLICT
        return super().prepared(pod, node_name)


class TakesAPassThatIsDeleted(Passes):
    """Takes the pass of its pod and node although a task may delete it."""

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        return None


class CountsFromCreation(Passes):
    """Gives pods an hour from their creation on."""

    def seconds(self, pod: Pod) -> float:
        created = pod.metadata.creation_timestamp
        return 60 if created is None else created + 3600 - self.handle.clock.now()


class CreatesOnly(Passes):
    """Fails if there is a pass already."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        self.handle.cluster.create(new_pass(pod, node_name))
        return self.wait(pod, node_name)


class RaisesInsteadOfTaking(Passes):
    """Fails if there is a pass of another node."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        stored = self.stored(pod)
        if stored is None:
            self.handle.cluster.create(new_pass(pod, node_name))
        elif not is_of(stored, pod, node_name):
            return Status.from_error(ApiError("there is another pass"))
        return self.wait(pod, node_name)


class TakesAnyPass(Passes):
    """Takes the pass of the pod's name, of whatever pod and node it is."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        try:
            self.handle.cluster.create(new_pass(pod, node_name))
        except AlreadyExistsError:
            return None
        return None


class TakesPassesOfItsPod(Passes):
    """Takes the pass of the pod, of whatever node it is."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        stored = self.stored(pod)
        if stored is None or stored.uid_of_pod != pod.uid:
            return super().prepared(pod, node_name)
        return None


class TakesPassesOfItsNode(Passes):
    """Takes the pass for the node, of whatever pod of the name it is.

    Its passes have no owner, so they outlive their pods.
    """

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        stored = self.stored(pod)
        if stored is None:
            new = new_pass(pod, node_name)
            metadata = replace(new.metadata, owner_references=())
            self.handle.cluster.create(replace(new, metadata=metadata))
            return self.wait(pod, node_name)
        if stored.node != node_name:
            return super().prepared(pod, node_name)
        return None


class RejectsAfterFailures(Passes):
    """Rejects the pod if a call of the cluster fails."""

    @hookimpl
    def pre_bind(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        try:
            return self.prepared(pod, node_name)
        except ApiError as error:
            return Status.unschedulable(f"there is no pass: {error}")


class RejectsAfterFailedWrites(Passes):
    """Rejects the pod if the pass cannot be created."""

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        if self.stored(pod) is not None:
            return super().prepared(pod, node_name)
        try:
            self.handle.cluster.create(new_pass(pod, node_name))
        except ApiError:
            return Status.pending("the pass was not created")
        return self.wait(pod, node_name)


class OnePassPerAttempt(Passes):
    """Gives each pass another name, and deletes none."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.number = 0

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        self.number += 1
        new = new_pass(pod, node_name)
        name = f"{pod.name}-{self.number}"
        self.handle.cluster.create(
            replace(new, metadata=replace(new.metadata, name=name))
        )
        return None


class DeletesBound(Passes):
    """Deletes the pass of a pod that was bound."""

    def is_bound(self, pod: Pod) -> bool:
        return False


class DeletesBoundLater(DeletesBound):
    """Deletes it after a while."""

    @hookimpl
    def unreserve(self, pod: Pod, node_name: str) -> None:
        delete = super().unreserve
        self.handle.clock.call_later(5, lambda: delete(pod, node_name))


class ExpectsNoFailures(Passes):
    """Its background task handles a missing pass only."""

    def delete(self, pod: Pod, node_name: str) -> None:
        try:
            current = self.handle.cluster.get(Pass, pod.key)
            if is_of(current, pod, node_name):
                self.handle.cluster.delete(Pass, pod.key, uid=current.uid)
        except NotFoundError:
            return


class KeepsTheLastNode(Passes):
    """Keeps the pod and node that its check compares on the plugin."""

    last: tuple[str, str] = ("", "")

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        self.last = (pod.uid, node_name)
        return super().prepared(pod, node_name)

    def is_right(self, current: Pass, pod: Pod, node_name: str) -> bool:
        of = current.uid_of_pod, current.node
        return current.is_granted and of == (self.last or (pod.uid, node_name))

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod, node_name: str) -> Status | None:
        return None if LABEL in pod.labels else Status.skip()


class ReservesOnThePlugin(Passes):
    """Keeps from Reserve to PreBind on the plugin what it writes."""

    reserved: Pass | None = None

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        if LABEL in pod.labels:
            self.reserved = new_pass(pod, node_name)
        return super().reserve(pod, node_name)

    def prepared(self, pod: Pod, node_name: str) -> PreBindWait | Status | None:
        assert self.reserved is not None
        new, stored = self.reserved, self.stored(pod)
        if stored is None and new.key == pod.key:
            self.handle.cluster.create(new)
        return self.wait(pod, node_name)


class SkipsAnyGranted(Passes):
    """Skips if a pass is granted, whatever its pod and node are."""

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod, node_name: str) -> Status | None:
        if LABEL not in pod.labels:
            return Status.skip()
        stored = self.handle.informers.get(Pass, pod.key)
        is_done = stored is not None and stored.is_granted
        return Status.skip() if is_done else None


class SkipsAnyPass(Passes):
    """Skips if the pod has a pass, whether it is granted or not."""

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod, node_name: str) -> Status | None:
        stored = self.handle.informers.get(Pass, pod.key)
        is_idle = LABEL not in pod.labels or (
            stored is not None and is_of(stored, pod, node_name)
        )
        return Status.skip() if is_idle else None


def is_of(current: Pass, pod: Pod, node_name: str) -> bool:
    """Return whether a pass is that of a pod and a node."""
    return (current.uid_of_pod, current.node) == (pod.uid, node_name)


def new_pass(pod: Pod, node_name: str) -> Pass:
    """Return a pass that is not granted yet."""
    metadata = owned_by(pod)
    return Pass(metadata=metadata, uid_of_pod=pod.uid, node=node_name)


OWN = clusters(pods=pods({"labels": {LABEL: ""}}))
PASS_MISTAKES: Sequence[Mistake] = (
    Mistake(CountsFromCreation, ["failures"], OWN),
    Mistake(CreatesOnly, ["pre binding"], OWN),
    Mistake(RaisesInsteadOfTaking, ["pre binding"], OWN),
    Mistake(TakesAPassThatIsDeleted, ["pre binding"], OWN),
    Mistake(OnePassPerAttempt, ["pre binding"], OWN),
    Mistake(TakesAnyPass, ["pre binding"], OWN),
    Mistake(TakesPassesOfItsPod, ["pre binding"], OWN),
    Mistake(TakesPassesOfItsNode, ["pre binding"], OWN),
    Mistake(RejectsAfterFailures, ["pre binding"], OWN),
    Mistake(RejectsAfterFailedWrites, ["pre binding"], OWN),
    Mistake(DeletesBound, ["bound pods"], OWN),
    Mistake(DeletesBoundLater, ["bound pods"], OWN),
    Mistake(ExpectsNoFailures, ["timers"], OWN),
    Mistake(KeepsTheLastNode, ["pre binding"], OWN),
    Mistake(ReservesOnThePlugin, ["pre binding"], OWN),
    Mistake(SkipsAnyGranted, ["pre binding"], OWN),
    Mistake(SkipsAnyPass, ["pre binding"], OWN),
)
