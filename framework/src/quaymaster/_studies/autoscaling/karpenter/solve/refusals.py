"""Why a pod cannot be placed, in upstream's words.

Most refusals are never read, so their texts are made on request.
"""

from collections.abc import Callable, Mapping

import attrs

__all__ = ["Refusal"]


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
    """

    text: Callable[[], str]
    is_deferral: bool = False
    is_final: bool = False
    by_pool: Mapping[str, "Refusal"] = attrs.field(factory=dict)

    @classmethod
    def of(cls, text: str) -> "Refusal":
        """Return a refusal with a text."""
        return cls(lambda: text)

    def __str__(self) -> str:
        return self.text()
