"""Users of a scheduler's server, and who says who they are and what they may."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import attrs

__all__ = ["ANONYMOUS", "AUTHENTICATED", "MASTERS", "Reviewer", "User", "Verdict"]

AUTHENTICATED: Final = "system:authenticated"
"""The group of everybody who has said who they are."""
MASTERS: Final = "system:masters"
"""The group that may everything."""


@attrs.frozen
class User:
    """Somebody who asks.

    Attributes:
        name: The user's name.
        uid: What tells users of one name apart; may be empty.
        groups: The groups.
        extra: What else is known.
    """

    name: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = attrs.field(factory=dict)


ANONYMOUS: Final = User("system:anonymous", groups=("system:unauthenticated",))


@attrs.frozen
class Verdict:
    """What somebody may.

    Attributes:
        is_allowed: Whether they may.
        reason: Why, or why not; may be empty.
    """

    is_allowed: bool
    reason: str = ""


class Reviewer(Protocol):
    """Knows who has a token, and who may do what; may be asked from any thread.

    What the methods raise if it cannot be asked is a `QuaymasterError`.
    """

    def user_of(self, token: str, /) -> User | None:
        """Return whose token it is; None if nobody's."""

    def may(self, user: User, verb: str, path: str, /) -> Verdict:
        """Say whether a user may.

        Args:
            user: Who asks.
            verb: Such as ``get``.
            path: The path of the server, such as ``/metrics``.
        """
