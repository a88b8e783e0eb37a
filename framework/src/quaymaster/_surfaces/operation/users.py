"""The users of a scheduler's server, and the protocol that reviews them."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import attrs

__all__ = ["ANONYMOUS", "AUTHENTICATED", "MASTERS", "Reviewer", "User", "Verdict"]

AUTHENTICATED: Final = "system:authenticated"
"""The group of all authenticated users."""
MASTERS: Final = "system:masters"
"""The group with all rights."""


@attrs.frozen
class User:
    """The user of a request.

    Attributes:
        name: The user's name.
        uid: Distinguishes users with the same name; may be empty.
        groups: The groups.
        extra: Further attributes.
    """

    name: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = attrs.field(factory=dict)


ANONYMOUS: Final = User("system:anonymous", groups=("system:unauthenticated",))


@attrs.frozen
class Verdict:
    """The result of a review of rights.

    Attributes:
        is_allowed: Whether the user has the right.
        reason: The reason, or empty.
    """

    is_allowed: bool
    reason: str = ""


class Reviewer(Protocol):
    """Reviews tokens and rights; any thread may call it.

    The methods raise a `QuaymasterError` if the review fails.
    """

    def user_of(self, token: str, /) -> User | None:
        """Return the user of a token; None if the token is invalid."""

    def may(self, user: User, verb: str, path: str, /) -> Verdict:
        """Return whether a user has a right.

        Args:
            user: The user.
            verb: Such as ``get``.
            path: The path of the server, such as ``/metrics``.
        """
