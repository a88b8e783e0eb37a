"""The array types of the framework's columns."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "Float64Array", "Int32Array", "Int64Array", "RowArray", "Rows"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Float64Array: TypeAlias = npt.NDArray[np.float64]

RowArray: TypeAlias = npt.NDArray[np.intp]
"""Row numbers of a `NodeTable`, ascending."""

Rows: TypeAlias = RowArray | slice
"""Some rows of a `NodeTable`: use it as an index, ``column[rows]``. All rows come as
a slice, which costs no copy; `NodeTable.row_numbers` makes it explicit."""
