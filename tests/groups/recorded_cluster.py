"""A cluster that keeps the texts of all Events."""

from typing import NamedTuple

from quaymaster.cluster import EventNote
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from tests.groups.shown_names import shown_name

__all__ = ["RecordedCluster", "RecordedEvent"]


class RecordedEvent(NamedTuple):
    """An Event, without its counts and times."""

    kind: str
    name: str
    reason: str
    note: str


class RecordedCluster(InMemoryCluster):
    """An in-memory cluster without kubelets.

    Args:
        kubernetes: Its version and feature gates.
        controllers: Whether it has controllers.

    Attributes:
        recorded: The Events since they were taken last.
    """

    def __init__(self, kubernetes: Kubernetes, *, controllers: bool = False) -> None:
        super().__init__(
            VirtualClock(),
            kubelet=False,
            controllers=controllers,
            kubernetes=kubernetes,
        )
        self.recorded: list[RecordedEvent] = []

    def record(self, note: EventNote) -> None:
        """Write an Event, and keep its text, which a later Event would replace."""
        text = note.note if isinstance(note.note, str) else note.note()
        regarding = note.regarding
        event = RecordedEvent(regarding.kind, shown_name(regarding), note.reason, text)
        self.recorded.append(event)
        super().record(note)
