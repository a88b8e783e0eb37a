"""The interface of all changes, and the effect that each of them reports."""

from typing import Protocol

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._studies.simulation.run import Simulation

__all__ = [
    "ChangeError",
    "ClusterChange",
    "Effect",
    "Evicted",
    "RefusedEviction",
]


class ChangeError(QuaymasterError):
    """A change that cannot be made, such as of something that does not exist.

    Attributes:
        change: The change, as people write it.
    """

    def __init__(self, change: str, problem: str) -> None:
        super().__init__(f"{change}: {problem}")
        self.change = change


@attrs.frozen(kw_only=True)
class Evicted:
    """A pod that a drain evicted, or that was deleted as its node did not answer.

    Attributes:
        pod: Its key.
        node: The node that it was on.
        at: The time, in seconds since the beginning.
    """

    pod: str
    node: str
    at: float = attrs.field(eq=False)


@attrs.define(kw_only=True)
class RefusedEviction:
    """A pod whose eviction was refused, at least once.

    Attributes:
        pod: Its key.
        node: The node that it was on.
        message: Why, in upstream's words.
        cause: The cause of the refusal, in upstream's words; may be empty.
        times: How often it was refused.
        first: The time of the first refusal, in seconds since the beginning.
        last: The time of the last one.
        is_gone: Whether the pod left the node in the end.
    """

    pod: str
    node: str
    message: str
    cause: str = ""
    times: int = 1
    first: float = attrs.field(default=0.0, eq=False)
    last: float = attrs.field(default=0.0, eq=False)
    is_gone: bool = False


@attrs.define(kw_only=True)
class Effect:
    """What a change has done so far; it grows while the change goes on.

    Drains take time, and so do losses that a cluster must detect: they use timers of
    its clock.

    Attributes:
        change: The change, as people write it.
        at: When it began, in seconds since the beginning.
        ended: When it was done; None while it goes on.
        objects: The keys of created, changed and deleted objects, as ``KIND/KEY``.
        evicted: The pods that were evicted, in order.
        refused: The refused evictions by the pods' keys, in the order of the first.
        stayed: Pods that a drain leaves on their node -> why.
        lost: The keys of pods that were lost together with their node.
        timed_out: The pods that were deleted because their node did not answer, in
            order.
        unmanaged: The keys of deleted pods that no controller creates again.
        notes: What else a user should know.
    """

    change: str
    at: float
    ended: float | None = None
    objects: list[str] = attrs.field(factory=list)
    evicted: list[Evicted] = attrs.field(factory=list)
    refused: dict[str, RefusedEviction] = attrs.field(factory=dict)
    stayed: dict[str, str] = attrs.field(factory=dict)
    lost: list[str] = attrs.field(factory=list)
    timed_out: list[Evicted] = attrs.field(factory=list)
    unmanaged: list[str] = attrs.field(factory=list)
    notes: list[str] = attrs.field(factory=list)

    def take_in(self, part: "Effect") -> None:
        """Add another effect to this one.

        Args:
            part: The other effect; from now on, both have the same lists.
        """
        self.objects += part.objects
        self.evicted += part.evicted
        self.refused |= part.refused
        self.stayed |= part.stayed
        self.lost += part.lost
        self.timed_out += part.timed_out
        self.unmanaged += part.unmanaged
        self.notes += part.notes
        part.objects, part.evicted, part.refused = (
            self.objects,
            self.evicted,
            self.refused,
        )
        part.stayed, part.lost = self.stayed, self.lost
        part.unmanaged, part.notes = self.unmanaged, self.notes
        part.timed_out = self.timed_out


class ClusterChange(Protocol):
    """One change of a cluster."""

    def __str__(self) -> str:
        """The change as people write it, such as ``drain node-1``."""

    def apply(self, simulation: Simulation) -> Effect:
        """Make the change, now.

        Consequences, such as pods that controllers create again, happen when the
        simulation continues.

        Args:
            simulation: The simulation; the time in it does not pass meanwhile.

        Returns:
            What has been done; later effects are added to it.

        Raises:
            ChangeError: It cannot be made.
            ApiError: The cluster rejects it.
        """
