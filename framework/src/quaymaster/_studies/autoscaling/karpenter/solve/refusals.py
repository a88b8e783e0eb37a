"""Why a pod cannot be placed, in upstream's words.

Most refusals are never read, so their texts are made on request.
"""

from collections.abc import Callable

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
    """

    text: Callable[[], str]
    is_deferral: bool = False
    is_final: bool = False

    @classmethod
    def of(cls, text: str) -> "Refusal":
        """Return a refusal with a text."""
        return cls(lambda: text)

    def __str__(self) -> str:
        return self.text()
