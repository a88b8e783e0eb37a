"""What tests see of ``quaymaster._studies.simulation``."""

import array
import itertools
from functools import partial
from types import BuiltinMethodType, MethodType, MethodWrapperType
from typing import Final

import numpy as np

from quaymaster._studies.simulation.run_observer import _SAMPLES
from quaymaster._studies.simulation.saved_state import SavedState

__all__ = ["JUDGED_AT_FIRST", "MOST_SAMPLES", "content_of"]

MOST_SAMPLES: Final = _SAMPLES

JUDGED_AT_FIRST = "quaymaster._studies.simulation.sampled_attempts._JUDGED_AT_FIRST"
"""The number of checked nodes from which some attempts are left out."""


_VALUES: Final = (
    *(int, float, str, tuple, slice),
    *(bytearray, array.array, itertools.count, np.ndarray),
)


def content_of(root: object) -> object:
    """Return the content of all objects that a trial saves, for comparison."""
    saved = SavedState([root], {"quaymaster"})
    return [
        [_comparable(part) for part in (restore.func, *restore.args)]
        for restore in saved._restores
        if isinstance(restore, partial)
    ]


def _comparable(part: object) -> object:
    """Return a part of an object; objects that a trial keeps by their identity."""
    if isinstance(part, list):
        return [_comparable(each) for each in part]
    if isinstance(part, set):
        return sorted(map(repr, part))
    if isinstance(part, _VALUES):
        return repr(part)
    if isinstance(part, MethodWrapperType):
        return repr(part.__self__)
    if isinstance(part, MethodType | BuiltinMethodType):
        return part.__name__, id(part.__self__)
    return id(part)
