"""Why a pod cannot be placed, in upstream's words.

Most refusals are never read, so their texts are made on request.
"""

import enum
from collections.abc import Callable, Mapping

import attrs

__all__ = ["Cause", "PoolRefusal", "Refusal"]


class Cause(enum.Enum):
    """What keeps a pod from a new node of a pool."""

    POD = "pod"
    """The pod does not match the pool: taints, labels, topology, volumes."""

    TYPES = "types"
    """No instance type meets all that the pool and the pod require."""

    LIMITS = "limits"
    """The limits of the pool."""

    RESERVATION = "reservation"
    """Reserved capacity may become free, so nothing else is tried."""


@attrs.frozen
class PoolRefusal:
    """Why a pod gets no new node of a pool, at the end of a round.

    Attributes:
        text: Upstream's error.
        cause: What it is about.
    """

    text: str
    cause: Cause


@attrs.frozen(eq=False)
class Refusal:
    """Why a pod does not fit.

    Attributes:
        text: Returns upstream's error.
        is_deferral: Whether the pod only waits for reserved capacity, so that nothing
            else is tried in this round.
        is_final: Whether relaxing the preferences of the pod cannot help.
        by_pool: Why no new node of each pool helps, by its name; empty if it does not
            depend on the pool.
        cause: What it is about.
    """

    text: Callable[[], str]
    is_deferral: bool = False
    is_final: bool = False
    by_pool: Mapping[str, "Refusal"] = attrs.field(factory=dict)
    cause: Cause = Cause.POD

    @classmethod
    def of(cls, text: str, cause: Cause = Cause.POD) -> "Refusal":
        """Return a refusal with a text."""
        return cls(lambda: text, cause=cause)

    def of_pool(self) -> PoolRefusal:
        """Return the refusal as the result of a round has it."""
        return PoolRefusal(str(self), self.cause)

    def __str__(self) -> str:
        return self.text()
