"""Interruptions of spot nodes, which a cloud decides.

As Karpenter's provider for AWS does it: the notice deletes the claim, so that its pods
get other nodes while it is drained, and its offering is not tried for three minutes.
After the notice the machine has gone, whatever still runs on it.
"""

import fnmatch
import math
import random
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODE_POOL,
    SPOT,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.machines import OfferingKey
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim

__all__ = ["Interruption", "Interruptions"]

_HOUR: Final = 3600.0
_REASON: Final = "SpotInterrupted"
_TEXT: Final = "Spot interruption warning was triggered"


@attrs.frozen(kw_only=True)
class Interruption:
    """Spot nodes that a cloud takes back: at a time, or by chance.

    Attributes:
        type: A pattern of types, such as ``m5.*``.
        zone: A pattern of zones.
        pool: A pattern of NodePools.
        at: When, in seconds since the beginning; None for by chance.
        per_hour: With which chance each node is taken back within an hour.
        notice: How many seconds before its end a node has the notice.
    """

    type: str = "*"
    zone: str = "*"
    pool: str = "*"
    at: float | None = None
    per_hour: float = 0.0
    notice: float = 120.0

    def covers(self, claim: NodeClaim) -> bool:
        """Return whether it concerns a claim."""
        labels = claim.labels
        return labels.get(CAPACITY_TYPE) == SPOT and all(
            fnmatch.fnmatchcase(labels.get(key, ""), pattern)
            for key, pattern in (
                (INSTANCE_TYPE, self.type),
                (ZONE, self.zone),
                (NODE_POOL, self.pool),
            )
        )


class Interruptions:
    """Takes spot nodes back.

    Args:
        cluster: The cluster.
        lifecycle: The machines.
        rules: Which nodes, and when.
        seed: Draws the times of those by chance.
        note_missing: Notes that an offering has no capacity.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        lifecycle: Lifecycle,
        rules: Sequence[Interruption],
        seed: int,
        note_missing: Callable[[OfferingKey], None],
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.clock
        self._start = self._clock.now()
        self._lifecycle = lifecycle
        self._rules = rules
        self._seed = seed
        self._note_missing = note_missing
        self._seen: set[str] = set()

    def start(self) -> None:
        """Set the timers of the interruptions at a time."""
        for rule in self._rules:
            if rule.at is not None:
                self._set_timer(rule, rule.at)

    def _set_timer(self, rule: Interruption, at: float) -> None:
        self._clock.call_at(self._start + at, lambda: self._interrupt_all(rule))

    @property
    def are_expected(self) -> bool:
        """Whether an interruption at a time is still to come."""
        now = self._clock.now() - self._start
        return any(rule.at is not None and rule.at > now for rule in self._rules)

    def see(self, claim: NodeClaim) -> None:
        """Draw when a claim is interrupted, once it has been launched."""
        if claim.uid in self._seen or not claim.status.provider_id:
            return
        self._seen.add(claim.uid)
        for number, rule in enumerate(self._rules):
            if rule.at is not None or not rule.covers(claim):
                continue
            # Drawn for each claim alone: one more node does not change when the others
            # are taken back.
            chance = random.Random(f"{self._seed}/{number}/{claim.name}")
            # The rate with which a node is taken back within an hour with this chance.
            hazard = -math.log1p(-rule.per_hour) / _HOUR
            self._interrupt_later(claim.name, rule, chance.expovariate(hazard))

    def _interrupt_later(self, name: str, rule: Interruption, seconds: float) -> None:
        self._clock.call_later(
            seconds, lambda: self._interrupt(name, rule), background=True
        )

    def _interrupt_all(self, rule: Interruption) -> None:
        for machine in [*self._lifecycle.running()]:
            self._interrupt(machine.claim, rule)

    def _interrupt(self, name: str, rule: Interruption) -> None:
        """Give notice to a claim, if it is still there."""
        claim = self._lifecycle.claim(name)
        if claim is None or not rule.covers(claim):
            return
        labels = claim.labels
        self._note_missing((labels.get(INSTANCE_TYPE, ""), labels.get(ZONE, ""), SPOT))
        self._lifecycle.record(claim, _REASON, _TEXT, "Warning")
        if claim.metadata.deletion_timestamp is None:
            self._lifecycle.machines[name].removed_for = _REASON
            self._cluster.delete(NodeClaim, name)
        self._clock.call_later(rule.notice, lambda: self._end(name, claim.uid))

    def _end(self, name: str, uid: str) -> None:
        """Take the machine away, with all that is still on it."""
        claim = self._lifecycle.claim(name)
        if claim is not None and claim.uid == uid:
            self._lifecycle.end(name, _REASON)
