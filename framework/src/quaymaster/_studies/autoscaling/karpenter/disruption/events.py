"""What Karpenter reports about nodes that it may or may not remove.

Mirrors ``pkg/controllers/disruption/events/events.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

import attrs

from quaymaster._studies.autoscaling.karpenter.disruption.late_text import LateText
from quaymaster._studies.autoscaling.karpenter.state_node import StateNode

__all__ = [
    "APPROVED",
    "BLOCKED",
    "CANDIDATE",
    "NO_TYPES",
    "UNCONSOLIDATABLE",
    "DisruptionEvent",
    "DisruptionEvents",
    "Report",
    "ignore",
    "node_events",
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


class Report(Protocol):
    """Gets events."""

    def __call__(self, event: DisruptionEvent, /) -> None:
        """Take an event."""

    def block(self, node: StateNode, text: str) -> None:
        """Take why a node may not be disrupted."""

    def block_all(self, blocked: Sequence[tuple[StateNode, str]]) -> None:
        """Take nodes that may not be disrupted, and why."""

    def refuse(self, node: StateNode, text: str) -> None:
        """Take why a node cannot be consolidated."""

    def refuse_all(
        self, nodes: Sequence[StateNode], why: Callable[[StateNode], str]
    ) -> None:
        """Take nodes that cannot be consolidated.

        Args:
            nodes: The nodes.
            why: Returns why one of them cannot; it takes a trial.
        """


class DisruptionEvents:
    """Collects events.

    Attributes:
        events: The events.
    """

    def __init__(self) -> None:
        self.events: list[DisruptionEvent] = []

    def __call__(self, event: DisruptionEvent, /) -> None:
        """Take an event."""
        self.events.append(event)

    def block(self, node: StateNode, text: str) -> None:
        """Take why a node may not be disrupted."""
        self.events += node_events(node, BLOCKED, text)

    def block_all(self, blocked: Sequence[tuple[StateNode, str]]) -> None:
        """Take nodes that may not be disrupted, and why."""
        for node, text in blocked:
            self.block(node, text)

    def refuse(self, node: StateNode, text: str | LateText) -> None:
        """Take why a node cannot be consolidated."""
        self.events += node_events(node, UNCONSOLIDATABLE, text)

    def refuse_all(
        self, nodes: Sequence[StateNode], why: Callable[[StateNode], str]
    ) -> None:
        """Take nodes that cannot be consolidated; see `Report.refuse_all`."""
        for node in nodes:
            self.refuse(node, LateText(functools.partial(why, node)))


class _Ignored:
    """Drops events."""

    def __call__(self, event: DisruptionEvent, /) -> None:
        """Drop an event."""

    def block(self, node: StateNode, text: str) -> None:
        """Drop why a node may not be disrupted."""

    def block_all(self, blocked: Sequence[tuple[StateNode, str]]) -> None:
        """Drop why nodes may not be disrupted."""

    def refuse(self, node: StateNode, text: str) -> None:
        """Drop why a node cannot be consolidated."""

    def refuse_all(
        self, nodes: Sequence[StateNode], why: Callable[[StateNode], str]
    ) -> None:
        """Drop nodes that cannot be consolidated."""


ignore: Final = _Ignored()
"""Drops events."""


def node_events(
    node: StateNode, reason: str, text: str | LateText
) -> Iterator[DisruptionEvent]:
    """Yield the events about a node and its claim."""
    if node.node is not None:
        yield DisruptionEvent("Node", node.node.name, reason, text)
    if node.claim is not None:
        yield DisruptionEvent("NodeClaim", node.claim.name, reason, text)


def sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
