"""What Karpenter reports about nodes that it may or may not remove.

Mirrors ``pkg/controllers/disruption/events/events.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from quaymaster._studies.autoscaling.karpenter.disruption.late_texts import LateText

__all__ = [
    "APPROVED",
    "BLOCKED",
    "CANDIDATE",
    "NO_TYPES",
    "UNCONSOLIDATABLE",
    "DisruptionEvent",
    "Report",
    "ignore",
    "sentence",
]

APPROVED: Final = "ConsolidationApproved"
BLOCKED: Final = "DisruptionBlocked"
CANDIDATE: Final = "ConsolidationCandidate"
NO_TYPES: Final = "NoCompatibleInstanceTypes"
UNCONSOLIDATABLE: Final = "Unconsolidatable"


@attrs.frozen
class DisruptionEvent:
    """An event.

    Attributes:
        kind: The kind of the object: ``Node``, ``NodeClaim`` or ``NodePool``.
        name: Its name.
        reason: The reason in one word.
        text: The text, perhaps not rendered yet.
        type: ``Normal`` or ``Warning``.
    """

    kind: str
    name: str
    reason: str
    text: str | LateText
    type: str = "Normal"

    @property
    def message(self) -> str:
        """The rendered text."""
        return self.text if isinstance(self.text, str) else self.text()


Report: TypeAlias = Callable[[DisruptionEvent], None]
"""Gets events."""


def ignore(_event: DisruptionEvent) -> None:
    """Drop an event."""


def sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
