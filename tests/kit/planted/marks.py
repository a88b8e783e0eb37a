"""A plugin that marks its objects once their pods are bound, and mistakes in it."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Node, Pod, Status, hookimpl
from quaymaster.cluster import ApiError, NotFoundError, Verb, Write
from quaymaster.objects import ApiValue
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin, owned_by

__all__ = ["MARK_MISTAKES", "OWN", "Marks", "MarksWhenAsked"]

LABEL = "example.com/marked"
COUNT = "example.com/pods-of-all-times"


class MarkStatus(ApiValue, frozen=True, kw_only=True):
    """Whether the pod of a mark is bound."""

    is_set: bool = False


class Mark(ApiObject, frozen=True, kw_only=True):
    """The mark of the pod that has the same name."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Mark"
    plural: ClassVar[str] = "marks"

    uid_of_pod: str = ""
    status: MarkStatus = MarkStatus()


class Marks(Plugin):
    """Correct: whatever instance sees a bound pod sets its mark."""

    kinds = (Mark,)
    reads = ()
    writes: ClassVar[Sequence[Write]] = (
        Write(Verb.CREATE, Mark),
        Write(Verb.DELETE, Mark),
        Write(Verb.PATCH, Mark, "status"),
    )
    blocks = False

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.setting: set[str] = set()
        handle.informers.on_change(Pod, self.follow)
        handle.informers.on_change(Mark, self.follow)

    def follow(self, _old: Pod | Mark | None, new: Pod | Mark | None) -> None:
        """Set the mark of a pod that is bound."""
        if new is not None:
            self.review(new.key)

    def review(self, key: str, pause: float = 1) -> None:
        """Set the mark of a name, if its pod is bound."""
        mark = self.handle.informers.get(Mark, key)
        pod = self.handle.informers.get(Pod, key)
        if mark is None or pod is None or not pod.node_name or mark.status.is_set:
            return
        if mark.uid_of_pod == pod.uid and mark.uid not in self.setting:
            self.setting.add(mark.uid)
            self.set_mark(mark, pause)

    def set_mark(self, mark: Mark, pause: float) -> None:
        """Set a mark, and try again after a failure."""

        def done(is_done: bool) -> None:
            if is_done:
                self.setting.discard(mark.uid)
            else:
                self.handle.clock.call_later(pause, again, background=True)

        def again() -> None:
            self.setting.discard(mark.uid)
            self.review(mark.key, min(300, 2 * pause))

        self.handle.run_in_background(lambda: self.is_set(mark), done)

    def is_set(self, mark: Mark) -> bool:
        """Set a mark on a worker; return whether nothing is left to do."""
        try:
            self.handle.cluster.patch_status(mark, {"is_set": True})
        except NotFoundError:
            return True
        except ApiError:
            return False
        return True

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        if LABEL not in pod.labels:
            return None
        try:
            self.create(pod)
        except ApiError as error:
            return Status.from_error(error)
        return None

    def create(self, pod: Pod) -> None:
        """Create a mark, in place of that of an earlier pod."""
        mark = self.stored(pod)
        if mark is not None and mark.uid_of_pod != pod.uid:
            self.handle.cluster.delete(Mark, mark.key, uid=mark.uid)
            mark = None
        if mark is None:
            new = Mark(metadata=owned_by(pod), uid_of_pod=pod.uid)
            self.handle.cluster.create(new)

    def stored(self, pod: Pod) -> Mark | None:
        """Return the mark of the pod's name."""
        try:
            return self.handle.cluster.get(Mark, pod.key)
        except NotFoundError:
            return None

    def in_background(self, task: Callable[[], object]) -> None:
        """Run a task whose failures have no effect."""

        def run() -> None:
            try:
                task()
            except ApiError:
                return

        self.handle.run_in_background(run, lambda _: None)


class MarksWhenAsked(Marks):
    """Correct: it also begins in PostBind, without waiting for the watch."""

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.review(pod.key)


class MarksInPostBind(Marks):
    """It sets marks in PostBind, once."""

    def follow(self, _old: Pod | Mark | None, new: Pod | Mark | None) -> None:
        """Do nothing."""

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        if LABEL in pod.labels:
            self.in_background(lambda: self.mark(pod))

    def mark(self, pod: Pod) -> None:
        """Set the mark of a pod."""
        mark = self.stored(pod)
        if mark is not None:
            self.handle.cluster.patch_status(mark, {"is_set": True})


class MarksUntilItStops(Marks):
    """It repeats a failed call, but only the instance that has bound the pod does."""

    def follow(self, _old: Pod | Mark | None, new: Pod | Mark | None) -> None:
        """Do nothing."""

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.review(pod.key)


class MarksWhenItSeesTheBind(Marks):
    """It waits for the change of the pod, which a new instance does not see."""

    def follow(self, old: Pod | Mark | None, new: Pod | Mark | None) -> None:
        """Set the mark of a pod whose node is new."""
        if isinstance(old, Pod) and not old.node_name:
            super().follow(old, new)


class MarksOnce(Marks):
    """It sets the mark of each object once."""

    def set_mark(self, mark: Mark, pause: float) -> None:
        """Set a mark."""
        self.in_background(
            lambda: self.handle.cluster.patch_status(mark, {"is_set": True})
        )


class CountsOnNodes(MarksInPostBind):
    """It notes on the node that a pod has come."""

    writes: ClassVar[Sequence[Write]] = (
        Write(Verb.CREATE, Mark),
        Write(Verb.DELETE, Mark),
        Write(Verb.UPDATE, Node),
    )

    def mark(self, pod: Pod) -> None:
        """Note a pod on its node."""
        node = self.handle.cluster.get(Node, pod.node_name)
        annotations = {**node.annotations, COUNT: pod.uid}
        metadata = replace(node.metadata, annotations=annotations)
        self.handle.cluster.update(replace(node, metadata=metadata))


OWN = clusters(pods=pods({"labels": {LABEL: ""}}))
MARK_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["lost writes"], OWN)
    for plugin in (
        MarksInPostBind,
        MarksUntilItStops,
        MarksWhenItSeesTheBind,
        MarksOnce,
        CountsOnNodes,
    )
)
