"""The array types of the framework's columns."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "BoolArray",
    "Float64Array",
    "Int32Array",
    "Int64Array",
    "RowArray",
    "Rows",
    "constant",
    "is_constant",
]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
"""A truth value per node: which of some rows pass."""

Int32Array: TypeAlias = npt.NDArray[np.int32]
"""A small number per node, such as the code of a label's value."""

Int64Array: TypeAlias = npt.NDArray[np.int64]
"""A whole number per node: amounts in base units, scores."""

Float64Array: TypeAlias = npt.NDArray[np.float64]
"""A fraction per node, where upstream computes with float64 too."""

RowArray: TypeAlias = npt.NDArray[np.intp]
"""Row numbers of a `NodeTable`, ascending."""

Rows: TypeAlias = RowArray | slice
"""Some rows of a `NodeTable`: use it as an index, ``column[rows]``. All rows come as
a slice, which costs no copy; `NodeTable.row_numbers` makes it explicit."""


def constant(value: int, count: int) -> Int64Array:
    """The same value many times over, in the memory of one; read-only.

    A score that does not tell nodes apart costs nothing when it comes as this.

    Args:
        value: The value.
        count: How many times.
    """
    # As np.broadcast_to does it, in a tenth of the time. Bytes are read-only.
    held = np.int64(value).tobytes()
    return np.ndarray((count,), np.int64, held, strides=(0,))


def is_constant(array: npt.NDArray[np.generic]) -> bool:
    """Whether an array is one that `constant` made, or a view of one; none is empty.

    What it says of an array of one element is as good as the other answer.
    """
    # An array without elements may have no strides either, and has no value to ask for.
    return array.strides == (0,) and len(array) > 0
