"""The array types of the framework's columns."""

from typing import Any, TypeAlias, TypeVar

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
    "freeze",
    "is_constant",
    "is_frozen",
]

ArrayT = TypeVar("ArrayT", bound=npt.NDArray[Any])

BoolArray: TypeAlias = npt.NDArray[np.bool_]
"""A truth value per node, such as whether it passes."""

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


def freeze(array: ArrayT) -> ArrayT:
    """Make an array read-only, as a promise that its contents never change.

    After that, no code may write to its memory, not even through another array that
    shares it. NumPy does not enforce this: the caller of `freeze` must ensure it.

    Args:
        array: The array, which need not own its memory.

    Returns:
        The array itself.
    """
    array.flags.writeable = False
    return array


def is_frozen(array: npt.NDArray[Any]) -> bool:
    """Whether an array that a hook returned is frozen: its contents never change.

    For arrays that hooks return, read-only means frozen.
    """
    return not array.flags.writeable


def constant(value: int, count: int) -> Int64Array:
    """Return a frozen array of one value, in the memory of a single element.

    With it, a score that is the same for all nodes costs almost nothing.

    Args:
        value: The value.
        count: The length of the array.
    """
    # The same as `np.broadcast_to` in a tenth of the time. Bytes make it read-only.
    held = np.int64(value).tobytes()
    return np.ndarray((count,), np.int64, held, strides=(0,))


def is_constant(array: npt.NDArray[np.generic]) -> bool:
    """Whether a non-empty array comes from `constant`, or is a view of such an array.

    For an array of one element, either result is right.
    """
    # An array without elements may have strides of 0, too, but has no value.
    return array.strides == (0,) and len(array) > 0
