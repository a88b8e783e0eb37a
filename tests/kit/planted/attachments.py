"""A plugin that attaches an object to a pod before the bind, and mistakes in it."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from quaymaster import ApiObject, Handle, Pod, PreBindWait, Status, hookimpl
from quaymaster.cluster import AlreadyExistsError, ApiError, Verb, Write
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin, owned_by

__all__ = ["ATTACHMENT_MISTAKES", "OWN", "Attaches", "Polls"]

LABEL = "example.com/attached"
LATE = Status.unschedulable("the attachment was not ready in time")
OTHER = Status.unschedulable("the attachment is another pod's")


class Attachment(ApiObject, frozen=True, kw_only=True):
    """The attachment of the pod that has the same name."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Attachment"
    plural: ClassVar[str] = "attachments"

    uid_of_pod: str = ""
    is_ready: bool = False


class Attaches(Plugin):
    """Correct: creates an attachment, and waits until its controller is ready."""

    kinds = (Attachment,)
    reads = ()
    writes = (Write(Verb.CREATE, Attachment), Write(Verb.DELETE, Attachment))
    blocks = False

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> Status | None:
        return None if LABEL in pod.labels else Status.skip()

    @hookimpl
    def pre_bind(self, pod: Pod) -> PreBindWait | Status | None:
        try:
            self.attach(pod)
        except ApiError as error:
            return Status.from_error(error)
        return self.attached(pod)

    def attach(self, pod: Pod) -> None:
        """Create the attachment, in place of that of an earlier pod of the name."""
        try:
            self.create(pod)
        except AlreadyExistsError:
            current = self.handle.cluster.get(Attachment, pod.key)
            if current.uid_of_pod != pod.uid:
                self.handle.cluster.delete(Attachment, pod.key, uid=current.uid)
                self.create(pod)

    def create(self, pod: Pod) -> None:
        """Create the attachment."""
        metadata = owned_by(pod)
        new = Attachment(metadata=metadata, uid_of_pod=pod.uid)
        self.handle.cluster.create(new)

    def attached(self, pod: Pod) -> PreBindWait | Status | None:
        """Return what follows once the attachment exists."""
        return PreBindWait(
            check=lambda: self.is_ready(pod), timeout_seconds=60, timed_out=LATE
        )

    def is_ready(self, pod: Pod) -> bool:
        """Return whether the controller is ready."""
        attachment = self.handle.informers.get(Attachment, pod.key)
        if attachment is None or attachment.uid_of_pod != pod.uid:
            return False
        return attachment.is_ready


class TakesAnyAttachment(Attaches):
    """Takes the attachment of an earlier pod of the name for that of the pod."""

    def attach(self, pod: Pod) -> None:
        with suppress(AlreadyExistsError):
            self.create(pod)

    def is_ready(self, pod: Pod) -> bool:
        attachment = self.handle.informers.get(Attachment, pod.key)
        return attachment is not None and attachment.is_ready


class Polls(Attaches):
    """Correct: its class says nothing of blocking, so it may poll the cluster."""

    blocks = True

    def attached(self, pod: Pod) -> PreBindWait | Status | None:
        """Return the result once the attachment is ready, or too late."""
        for _ in range(60):
            if self.handle.cluster.get(Attachment, pod.key).is_ready:
                return None
            time.sleep(1)
        return LATE


class PollsWithoutAThread(Polls):
    """Polls although its class says that it does not block."""

    blocks = False


class WaitsForAnEvent(Attaches):
    """Waits for an event of another thread."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.arrived = threading.Event()

    def attached(self, pod: Pod) -> PreBindWait | Status | None:
        return None if self.arrived.wait(60) else LATE


class WaitsInAnotherHook(Attaches):
    """Waits on the scheduling thread."""

    @hookimpl
    def post_bind(self) -> None:
        threading.Event().wait(60)


class ReadsOnAWorker(Attaches):
    """Reads informers outside the scheduling thread."""

    def attached(self, pod: Pod) -> PreBindWait | Status | None:
        attachment = self.handle.informers.get(Attachment, pod.key)
        if attachment is not None and attachment.uid_of_pod != pod.uid:
            return OTHER
        return super().attached(pod)


class KeepsSnapshot(Attaches):
    """Reads a snapshot, which it has from its constructor, on a worker."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.snapshot = handle.snapshot

    def attached(self, pod: Pod) -> PreBindWait | Status | None:
        if self.snapshot.get(pod.node_name) is None:
            return OTHER
        return super().attached(pod)


class ReadsInATask(Attaches):
    """Reads informers in a background task."""

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.handle.run_in_background(lambda: self.is_ready(pod), lambda _: None)


class TrustsInformers(Attaches):
    """Takes for granted that informers have what it has written."""

    def is_ready(self, pod: Pod) -> bool:
        attachments = self.handle.informers.list(Attachment)
        return next(each for each in attachments if each.key == pod.key).is_ready


OWN = clusters(pods=pods({"labels": {LABEL: ""}}))
ATTACHMENT_MISTAKES: Sequence[Mistake] = (
    Mistake(PollsWithoutAThread, ["timers"], OWN),
    Mistake(WaitsForAnEvent, ["timers"], OWN),
    Mistake(WaitsInAnotherHook, ["timers"], OWN),
    Mistake(ReadsOnAWorker, ["timers"], OWN),
    Mistake(KeepsSnapshot, ["timers"], OWN),
    Mistake(ReadsInATask, ["timers"], OWN),
    Mistake(TakesAnyAttachment, ["pre binding"], OWN),
    Mistake(TrustsInformers, ["failures"], OWN),
)
