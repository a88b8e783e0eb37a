"""Writes the events of disruptions to the cluster, each as seldom as upstream.

Mirrors ``pkg/events/recorder.go`` and the periods of
``pkg/controllers/disruption/events/events.go`` (sigs.k8s.io/karpenter v1.15). Here an
event about a node that cannot be consolidated always has the newest text.
"""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._api.objects.meta import ApiObject
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import ApiError
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    BLOCKED,
    NO_TYPES,
    UNCONSOLIDATABLE,
    DisruptionEvent,
    node_events,
)
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim, NodePool
from quaymaster._studies.autoscaling.karpenter.state_node import StateNode

__all__ = ["KEPT_LOOKS", "EventRecorder"]

KEPT_LOOKS: Final = 8
"""For how many looks a state is kept from which a text may be rendered."""

_LONG_AGO: Final = (
    "when last looked at, its pods had no other place, and no cheaper node held them"
)

_REPORTED: Final[Mapping[str, type[ApiObject]]] = {
    kind.kind: kind for kind in (Node, NodeClaim, NodePool)
}
"""The kinds of objects that events are about, by name."""

_NAME: Final = operator.attrgetter("name")
_PERIOD: Final = 120.0
_POOL_PERIOD: Final = 60.0
_REFUSAL_PERIOD: Final = 900.0
_TIDY_LOOKS: Final = 100


@attrs.frozen(eq=False)
class _Refusals:
    """The nodes that a look refused without a trial."""

    nodes: Sequence[StateNode]
    why: Callable[[StateNode], str]

    def text_of(self, name: str) -> str | None:
        """Return why a node was refused, or None if it is not among them."""
        nodes = (each for each in self.nodes if each.name == name)
        return next(map(self.why, nodes), None)


class EventRecorder:
    """Writes events.

    Args:
        cluster: The cluster.
        lifecycle: Writes single events.
    """

    def __init__(self, cluster: InMemoryCluster, lifecycle: Lifecycle) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._lifecycle = lifecycle
        self._until: dict[object, dict[object, float]] = {}
        self._look = 0
        self._blocked: Sequence[tuple[StateNode, str]] = ()
        self._refusals: dict[int, list[_Refusals]] = {}
        # The newest text about each node, or the number of the look that refused it.
        self._texts: dict[str, str | int] = {}

    def begin_look(self) -> None:
        """Forget what is too old to be of use."""
        self._look += 1
        self._blocked = ()
        self._refusals.pop(self._look - KEPT_LOOKS, None)
        if self._look % _TIDY_LOOKS == 0:
            now = self._clock.now()
            for key, until in self._until.items():
                self._until[key] = {k: v for k, v in until.items() if v > now}
            self._texts = {
                name: text
                for name, text in self._texts.items()
                if isinstance(text, str) or text in self._refusals
            }

    def __call__(self, event: DisruptionEvent, /) -> None:
        """Take an event."""
        is_of_pool = event.reason in (BLOCKED, NO_TYPES)
        if self._due([event], None, _POOL_PERIOD if is_of_pool else _PERIOD):
            self._write(event, event.text)

    def block(self, node: StateNode, text: str) -> None:
        """Take why a node may not be disrupted."""
        # A claim has its own period until its node is there.
        key = BLOCKED, node.node is None
        if self._due([node.name], key, _PERIOD):
            for event in node_events(node, BLOCKED, text):
                self._write(event, text)

    def block_all(self, blocked: Sequence[tuple[StateNode, str]]) -> None:
        """Take nodes that may not be disrupted, and why."""
        # Identity: each method of a look has the same list, of which nothing is due
        # again.
        if blocked is not self._blocked:
            self._blocked = blocked
            for node, text in blocked:
                self.block(node, text)

    def refuse(self, node: StateNode, text: str) -> None:
        """Take why a node cannot be consolidated."""
        self._texts[node.name] = text
        self._write_refusals([node.name], [node])

    def refuse_all(
        self, nodes: Sequence[StateNode], why: Callable[[StateNode], str]
    ) -> None:
        """Take nodes that cannot be consolidated; see `Report.refuse_all`."""
        if not nodes:
            return
        names = [*map(_NAME, nodes)]
        self._refusals.setdefault(self._look, []).append(_Refusals(nodes, why))
        self._texts.update(dict.fromkeys(names, self._look))
        self._write_refusals(names, nodes)

    def _write_refusals(self, names: Sequence[str], nodes: Sequence[StateNode]) -> None:
        due = {*self._due(names, UNCONSOLIDATABLE, _REFUSAL_PERIOD)}
        if not due:
            return
        for name, node in zip(names, nodes, strict=True):
            if name in due:
                text = functools.partial(self._newest_text, name)
                for event in node_events(node, UNCONSOLIDATABLE, ""):
                    self._write(event, text)

    def _due(
        self, keys: Sequence[object], kind: object, period: float
    ) -> Sequence[object]:
        """Return what is to be written now, which it is not within a period again."""
        # Most is not due. Written at each look, 1,800 nodes took 12 ms a look.
        now, until = self._clock.now(), self._until.setdefault(kind, {})
        due = [key for key in keys if until.get(key, now) <= now]
        until.update(dict.fromkeys(due, now + period))
        return due

    def _newest_text(self, name: str) -> str:
        text = self._texts.get(name)
        if isinstance(text, str):
            return text
        refusals = () if text is None else self._refusals.get(text, ())
        texts = (text for each in refusals if (text := each.text_of(name)) is not None)
        return next(texts, _LONG_AGO)

    def _write(self, event: DisruptionEvent, text: str | Callable[[], str]) -> None:
        try:
            obj = self._cluster.get(_REPORTED[event.kind], event.name)
        except ApiError:
            return
        self._lifecycle.record(obj, event.reason, text, event.type)
