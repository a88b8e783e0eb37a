"""The arguments that the framework offers to hooks."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster._core.contract.extension_points import EXTENSION_POINTS

__all__ = ["HOOKS"]

HOOKS: Final[Mapping[str, Sequence[str]]] = {
    name: tuple(inspect.signature(getattr(point.spec, name)).parameters)[1:]
    for point in EXTENSION_POINTS
    for name in point.hooks
}
"""Hook -> the names of its possible arguments."""
