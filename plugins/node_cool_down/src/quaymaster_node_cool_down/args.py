"""The arguments of NodeCoolDown."""

from collections.abc import Iterator

import attrs

from quaymaster.config import ArgsError, integer

__all__ = ["NodeCoolDownArgs"]


@attrs.frozen(kw_only=True)
class NodeCoolDownArgs:
    """The arguments of NodeCoolDown.

    Attributes:
        initial_seconds: How long the first cool-down of a node lasts.
        max_seconds: The longest cool-down; each one takes twice as long as the last.
        calm_seconds: How long after a cool-down its length is kept.
    """

    initial_seconds: int = attrs.field(default=10, validator=integer(1))
    max_seconds: int = attrs.field(default=300, validator=integer(1))
    calm_seconds: int = attrs.field(default=300, validator=integer(1))

    def validate(self) -> Iterator[ArgsError]:
        """Check that the longest cool-down is not shorter than the first."""
        if self.max_seconds < self.initial_seconds:
            least = f"initialSeconds ({self.initial_seconds})"
            got = self.max_seconds
            yield ArgsError("maxSeconds", f"expected at least {least}, got {got}")
