"""A plugin that calls for capacity in the background, and mistakes in it.

A provisioner makes calls ready; here, none acts on them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace

from quaymaster import ApiObject, Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.cluster import AlreadyExistsError, ApiError, Verb, Write
from quaymaster.objects import ObjectMeta
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin, owned_by

__all__ = [
    "CALL_MISTAKES",
    "OWN",
    "Calls",
    "DeletesCallsOfGonePods",
    "DropsWithPauses",
    "Notes",
]

CALLED = Status.unschedulable("capacity was called for")
LABEL = "example.com/noted"


class Call(ApiObject, frozen=True, kw_only=True):
    """A call for a node for the pod of its name."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Call"
    plural: ClassVar[str] = "calls"

    uid_of_pod: str = ""
    is_ready: bool = False


class Calls(Plugin):
    """Correct: creates a call for each pod without room, and drops it after a bind."""

    kinds = (Call,)
    reads = ()
    writes = (Write(Verb.CREATE, Call), Write(Verb.DELETE, Call))
    blocks = False

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.creating: set[str] = set()
        handle.informers.on_change(Pod, self.follow_pod)
        handle.informers.on_change(Call, self.follow_call)

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        call = self.handle.informers.get(Call, pod.key)
        if self.is_of(call, pod) or pod.key in self.creating:
            return CALLED
        self.creating.add(pod.key)
        self.in_background(
            lambda: self.create(pod), lambda is_done: self.finish(pod, is_done=is_done)
        )
        return CALLED

    def is_of(self, call: Call | None, pod: Pod | None) -> bool:
        """Return whether a call is that of a pod."""
        return call is not None and pod is not None and call.uid_of_pod == pod.uid

    def in_background(
        self, task: Callable[[], object], done: Callable[[bool], None]
    ) -> None:
        """Run a task, and pass on whether its calls have succeeded."""

        def run() -> bool:
            try:
                task()
            except ApiError:
                return False
            return True

        self.handle.run_in_background(run, done)

    def create(self, pod: Pod) -> None:
        """Create the call of a pod, in place of any of an earlier pod of its name."""
        cluster = self.handle.cluster
        try:
            cluster.create(self.new_call(pod))
        except AlreadyExistsError:
            stored = cluster.get(Call, pod.key)
            if not self.is_of(stored, pod):
                cluster.delete(Call, stored.key, uid=stored.uid)
                cluster.create(self.new_call(pod))

    def new_call(self, pod: Pod) -> Call:
        """Return the call of a pod."""
        return Call(metadata=owned_by(pod), uid_of_pod=pod.uid)

    def finish(self, pod: Pod, *, is_done: bool) -> None:
        """Take the result of a creation."""
        self.creating.discard(pod.key)
        self.review(pod.key)

    def follow_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Drop the call of a pod that no longer needs it."""
        pod = new or old
        assert pod is not None
        self.review(pod.key)

    def review(self, key: str) -> None:
        """Drop the call of a name if its pod does not need it."""
        call = self.handle.informers.get(Call, key)
        if call is not None and self.is_over(call, self.handle.informers.get(Pod, key)):
            self.drop(call)

    def is_over(self, call: Call, pod: Pod | None) -> bool:
        """Return whether the pod of a call has a node; calls go with their pods."""
        return pod is not None and bool(pod.node_name)

    def drop(self, call: Call) -> None:
        """Delete a call."""
        self.in_background(lambda: self.delete(call), lambda _: None)

    def delete(self, call: Call) -> None:
        """Delete a call on a worker."""
        self.handle.cluster.delete(Call, call.key, uid=call.uid)

    def follow_call(self, _old: Call | None, new: Call | None) -> None:
        """Try a pod once its call is ready."""
        if new is not None:
            self.review(new.key)
        if new is not None and new.is_ready:
            pod = self.handle.informers.get(Pod, new.key)
            if pod is not None and not pod.node_name and self.is_of(new, pod):
                self.handle.activate([pod])


class DeletesCallsOfGonePods(Calls):
    """Correct: its calls have no owner, and it deletes them itself."""

    def new_call(self, pod: Pod) -> Call:
        """Return a call without an owner."""
        metadata = ObjectMeta(name=pod.name, namespace=pod.namespace)
        return Call(metadata=metadata, uid_of_pod=pod.uid)

    def is_over(self, call: Call, pod: Pod | None) -> bool:
        """Return whether the pod of a call has a node or is gone."""
        return not self.is_of(call, pod) or super().is_over(call, pod)

    @hookimpl
    def start(self) -> None:
        for call in self.handle.informers.list(Call):
            if self.handle.informers.get(Pod, call.key) is None:
                self.drop(call)


class DropsWithPauses(Calls):
    """Correct: it waits longer and longer before it tries a deletion again."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.dropping: set[str] = set()
        super().__init__(args, handle)

    def drop(self, call: Call) -> None:
        """Delete a call, until it succeeds."""
        if call.uid not in self.dropping:
            self.dropping.add(call.uid)
            self.try_to_drop(call, 1)

    def try_to_drop(self, call: Call, pause: float) -> None:
        """Delete a call, or try again later."""

        def done(is_done: bool) -> None:
            current = self.handle.informers.get(Call, call.key)
            if is_done or current is None or current.uid != call.uid:
                self.dropping.discard(call.uid)
                return
            self.again(pause, lambda: self.try_to_drop(call, min(300, 2 * pause)))

        self.in_background(lambda: self.delete(call), done)

    def again(self, pause: float, callback: Callable[[], None]) -> None:
        """Call a function after a pause."""
        self.handle.clock.call_later(pause, callback, background=True)


class DropsAgainAtOnce(DropsWithPauses):
    def again(self, pause: float, callback: Callable[[], None]) -> None:
        callback()


class DropsAgainTooSoon(DropsWithPauses):
    def again(self, pause: float, callback: Callable[[], None]) -> None:
        self.handle.clock.call_later(0.25, callback, background=True)


class DropsInALoop(Calls):
    def delete(self, call: Call) -> None:
        while True:
            try:
                return super().delete(call)
            except ApiError:
                continue


class CreatesAgainAtOnce(Calls):
    def finish(self, pod: Pod, *, is_done: bool) -> None:
        super().finish(pod, is_done=is_done)
        if not is_done:
            self.post_filter(pod)


class ActivatesAfterAFailure(Calls):
    def finish(self, pod: Pod, *, is_done: bool) -> None:
        super().finish(pod, is_done=is_done)
        if not is_done:
            self.handle.activate([pod])


class ReviewsAfterPodsOnly(Calls):
    def finish(self, pod: Pod, *, is_done: bool) -> None:
        self.creating.discard(pod.key)

    def follow_call(self, old: Call | None, new: Call | None) -> None:
        """Do nothing."""


class ReviewsAfterPodsAndTasks(Calls):
    def follow_call(self, old: Call | None, new: Call | None) -> None:
        """Do nothing."""


class ReviewsNothingWhileCreating(Calls):
    def finish(self, pod: Pod, *, is_done: bool) -> None:
        self.creating.discard(pod.key)

    def review(self, key: str) -> None:
        if key not in self.creating:
            super().review(key)


class ForgetsPodsThatWereGone(DeletesCallsOfGonePods):
    def follow_call(self, old: Call | None, new: Call | None) -> None:
        """Do nothing."""


class AsksOnceOnly(Calls):
    def finish(self, pod: Pod, *, is_done: bool) -> None:
        if is_done:
            self.creating.discard(pod.key)


class StopsAfterAFailure(Calls):
    has_failed = False

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        return CALLED if self.has_failed else super().post_filter(pod)

    def finish(self, pod: Pod, *, is_done: bool) -> None:
        super().finish(pod, is_done=is_done)
        self.has_failed = not is_done


class DropsOnceOnly(Calls):
    def __init__(self, args: object, handle: Handle) -> None:
        self.dropping: set[str] = set()
        super().__init__(args, handle)

    def drop(self, call: Call) -> None:
        if call.key not in self.dropping:
            self.dropping.add(call.key)
            super().drop(call)


class WakesForItsOwnCallsOnly(Calls):
    def __init__(self, args: object, handle: Handle) -> None:
        self.mine: set[str] = set()
        super().__init__(args, handle)

    def finish(self, pod: Pod, *, is_done: bool) -> None:
        super().finish(pod, is_done=is_done)
        self.mine.add(pod.uid)

    def follow_call(self, old: Call | None, new: Call | None) -> None:
        if new is not None and new.uid_of_pod in self.mine:
            super().follow_call(old, new)


class DropsItsOwnCallsOnly(WakesForItsOwnCallsOnly):
    def follow_call(self, old: Call | None, new: Call | None) -> None:
        Calls.follow_call(self, old, new)

    def drop(self, call: Call) -> None:
        if call.uid_of_pod in self.mine:
            super().drop(call)


class CallsHaveNoOwner(Calls):
    def new_call(self, pod: Pod) -> Call:
        metadata = ObjectMeta(name=pod.name, namespace=pod.namespace)
        return Call(metadata=metadata, uid_of_pod=pod.uid)


class CallsAreOwnedByName(Calls):
    def new_call(self, pod: Pod) -> Call:
        call = super().new_call(pod)
        (owner,) = call.metadata.owner_references
        owners = (replace(owner, uid=""),)
        return replace(call, metadata=replace(call.metadata, owner_references=owners))


class DeletesCallsWhileItRuns(DeletesCallsOfGonePods):
    def is_over(self, call: Call, pod: Pod | None) -> bool:
        return Calls.is_over(self, call, pod)

    def follow_pod(self, old: Pod | None, new: Pod | None) -> None:
        super().follow_pod(old, new)
        call = self.handle.informers.get(Call, old.key) if old and not new else None
        if call is not None:
            self.drop(call)

    @hookimpl
    def start(self) -> None:
        """Expect no calls of an earlier instance."""


class DeletesByName(Calls):
    def delete(self, call: Call) -> None:
        self.handle.cluster.delete(Call, call.key)


class DeletesByNameAtLast(DeletesCallsOfGonePods):
    def follow_pod(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is None:
            key = old.key
            self.in_background(
                lambda: self.handle.cluster.delete(Call, key), lambda _: None
            )


class Notes(Plugin):
    """Correct: creates a note for each bound pod, by which people may find it."""

    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "lost writes": "a note may be missing"
    }
    kinds = (Call,)
    reads = ()
    writes = (Write(Verb.CREATE, Call),)
    blocks = False

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        if LABEL in pod.labels:
            self.handle.run_in_background(lambda: self.create(pod), self.created)

    def create(self, pod: Pod) -> bool:
        """Create the note; it is not important."""
        try:
            self.handle.cluster.create(self.new_note(pod))
        except ApiError:
            return False
        return True

    def new_note(self, pod: Pod) -> Call:
        """Return the note of a pod."""
        return Call(metadata=owned_by(pod), uid_of_pod=pod.uid)

    def created(self, is_done: bool) -> None:
        """Take the result."""


class NotesTheLabelsOfANode(Notes):
    node: NodeInfo | None = None

    @hookimpl
    def reserve(self, node_name: str) -> None:
        self.node = self.handle.snapshot.get(node_name)

    def create(self, pod: Pod) -> bool:
        return self.is_noted(pod) and super().create(pod)

    def is_noted(self, pod: Pod) -> bool:
        """Return whether a pod is noted."""
        return self.node is not None and "quiet" not in self.node.labels


class NotesPodsBesideOthers(NotesTheLabelsOfANode):
    def is_noted(self, pod: Pod) -> bool:
        return self.node is not None and len(self.node.pods) > 1


class StopsNoting(Notes):
    is_broken = False

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        if not self.is_broken:
            super().post_bind(pod)

    def created(self, is_done: bool) -> None:
        self.is_broken = not is_done


class NotesHaveNoOwner(Notes):
    def new_note(self, pod: Pod) -> Call:
        metadata = ObjectMeta(name=pod.name, namespace=pod.namespace)
        return Call(metadata=metadata, uid_of_pod=pod.uid)


OWN = clusters(pods=pods({"labels": {LABEL: ""}}))
CALL_MISTAKES: Sequence[Mistake] = (
    Mistake(AsksOnceOnly, ["failed writes"]),
    Mistake(StopsAfterAFailure, ["failed writes"]),
    Mistake(DropsOnceOnly, ["failed writes"]),
    Mistake(DropsAgainAtOnce, ["outages"]),
    Mistake(CreatesAgainAtOnce, ["outages"]),
    Mistake(DropsAgainTooSoon, ["outages"]),
    Mistake(DropsInALoop, ["outages"]),
    Mistake(ActivatesAfterAFailure, ["outages"]),
    Mistake(ReviewsNothingWhileCreating, ["running tasks"]),
    Mistake(ReviewsAfterPodsOnly, ["running tasks"]),
    Mistake(ReviewsAfterPodsAndTasks, ["running tasks"]),
    Mistake(ForgetsPodsThatWereGone, ["running tasks"]),
    Mistake(StopsNoting, ["failed writes"], OWN),
    Mistake(NotesTheLabelsOfANode, ["timers"], OWN),
    Mistake(NotesPodsBesideOthers, ["timers"], OWN),
    Mistake(WakesForItsOwnCallsOnly, ["earlier objects"]),
    Mistake(DropsItsOwnCallsOnly, ["earlier objects"]),
    Mistake(CallsHaveNoOwner, ["left objects"]),
    Mistake(CallsAreOwnedByName, ["left objects"]),
    Mistake(DeletesCallsWhileItRuns, ["left objects"]),
    Mistake(NotesHaveNoOwner, ["left objects"], OWN),
    Mistake(DeletesByName, ["successors"]),
    Mistake(DeletesByNameAtLast, ["successors"]),
)
