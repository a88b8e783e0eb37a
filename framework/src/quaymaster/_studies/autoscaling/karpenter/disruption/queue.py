"""Carries out commands: replaces nodes first, and deletes them afterwards.

Mirrors ``pkg/controllers/disruption/queue.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

import attrs

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.claim_objects import (
    with_condition,
    with_disrupted_taint,
    without_condition,
)
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim, is_true
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions

__all__ = ["DisruptionQueue"]

_LOOK_SECONDS: Final = 1.0
# A command waits 80 ms for each node of all commands, but at least 10 minutes and at
# most an hour (``GetMaxRetryDuration``, disruption/queue.go).
_SHORTEST: Final = 600.0
_LONGEST: Final = 3600.0
_PER_NODE: Final = 0.08


@attrs.define(eq=False)
class _Running:
    """A command that is being carried out.

    Attributes:
        command: The command.
        reason: Why.
        since: When it was begun.
        claims: The names of its replacements.
        waiting: Those that are not initialised yet.
    """

    command: Command
    reason: str
    since: float
    claims: Sequence[str] = ()
    waiting: set[str] = attrs.field(factory=set)


class DisruptionQueue:
    """The commands that are being carried out.

    Args:
        cluster: The cluster.
        lifecycle: Orders replacements.
        options: The options of Karpenter.
        nominate: Notes that pods are expected on nodes.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        lifecycle: Lifecycle,
        options: KarpenterOptions,
        nominate: Callable[[Sequence[str]], None],
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._lifecycle = lifecycle
        self._options = options
        self._nominate = nominate
        self._running: list[_Running] = []

    def __len__(self) -> int:
        return len(self._running)

    def busy(self) -> Collection[str]:
        """Return the names of the nodes of all commands."""
        return {name for each in self._running for name in each.command.names}

    def start(self, command: Command, reason: str) -> None:
        """Begin with a command: its nodes get no more pods."""
        now = self._clock.now()
        for candidate in command.candidates:
            self._mark(candidate.claim.name, candidate.name, reason)
        why = f"to replace {', '.join(command.names)} ({reason})"
        claims = [self._lifecycle.order(claim, why) for claim in command.replacements]
        running = _Running(command, reason, now, claims, set(claims))
        self._running.append(running)
        self._nominate([*command.moves])
        self._look(running)

    def _mark(self, claim_name: str, node_name: str, reason: str) -> None:
        now = self._clock.now()
        node = self._lifecycle.node(node_name)
        if node is not None:
            self._cluster.update(with_disrupted_taint(node, is_disrupted=True))
        claim = self._lifecycle.claim(claim_name)
        if claim is not None:
            self._cluster.update(with_condition(claim, "DisruptionReason", now, reason))

    def _look(self, running: _Running) -> None:
        """Delete the nodes as soon as all replacements are there."""
        for name in [*running.waiting]:
            claim = self._lifecycle.claim(name)
            if claim is None or claim.metadata.deletion_timestamp is not None:
                self._fail(running)
                return
            if is_true(claim.status.conditions, "Initialized"):
                running.waiting.discard(name)
        if not running.waiting:
            self._delete(running)
        elif self._clock.now() - running.since > self._patience:
            self._fail(running)
        else:
            self._clock.call_later(_LOOK_SECONDS, lambda: self._look(running))

    @property
    def _patience(self) -> float:
        return min(max(_PER_NODE * len(self.busy()), _SHORTEST), _LONGEST)

    def _delete(self, running: _Running) -> None:
        for candidate in running.command.candidates:
            name = candidate.claim.name
            claim = self._lifecycle.claim(name)
            if claim is None:
                continue
            text = f"Disrupting Node: {running.reason}"
            self._lifecycle.record(claim, "DisruptionTerminating", text)
            self._lifecycle.machines[name].removed_for = _reason(running)
            if claim.metadata.deletion_timestamp is None:
                self._cluster.delete(NodeClaim, name)
        self._running.remove(running)

    def _fail(self, running: _Running) -> None:
        """Give up: the nodes stay, and get pods again."""
        for candidate in running.command.candidates:
            node = self._lifecycle.node(candidate.name)
            if node is not None:
                self._cluster.update(with_disrupted_taint(node, is_disrupted=False))
            claim = self._lifecycle.claim(candidate.claim.name)
            if claim is not None:
                self._cluster.update(without_condition(claim, "DisruptionReason"))
        self._running.remove(running)


def _reason(running: _Running) -> str:
    if running.claims:
        return f"{running.reason}, replaced by {', '.join(running.claims)}"
    return running.reason
