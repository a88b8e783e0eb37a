"""Plays the calls of tests of dynamic resource allocation."""

from collections.abc import Sequence

from tests.kit.internals.testing import Json, RecordedCase
from tests.upstream import allocators, selectors

__all__ = ["play"]


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the package cel, or of an allocator."""
    if case.tree["family"] == "dra/cel":
        return selectors.play(case)
    return allocators.play(case)
