"""Large tables of mostly zeros, which take memory only for pages with other numbers."""

import mmap
from contextlib import suppress
from typing import Final

import numpy as np

from quaymaster._core.state.arrays import Int64Array

__all__ = ["empty_like", "grown"]

# From this size on, sparse pages save enough: 64 resources on 8,192 nodes. Each
# extended resource has a line of 8 bytes per node. If every node offers its own
# resource, each line has one number: at 5,000 nodes, 0.8 GiB for a few MiB of numbers.
_LARGE: Final = 1 << 22

_PRIVATE: Final = (
    mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS if hasattr(mmap, "MAP_PRIVATE") else None
)
"""The flags that allocate such pages; None where there are none, as on Windows."""


def grown(array: Int64Array, shape: tuple[int, int]) -> Int64Array:
    """Return a larger array with the same numbers at the same places, and 0 elsewhere.

    Args:
        array: The array, of two dimensions.
        shape: The new shape; with the old shape, the result is a copy.
    """
    larger = _zeros(shape)
    lines, columns = array.shape
    if array.nbytes < _LARGE:
        larger[:lines, :columns] = array
        return larger
    # A slice would write to all pages.
    for line in np.flatnonzero(array.any(axis=1)).tolist():
        places = np.flatnonzero(array[line])
        larger[line, places] = array[line, places]
    return larger


def empty_like(array: Int64Array) -> Int64Array:
    """Return zeros of the shape of an array of two dimensions."""
    lines, columns = array.shape
    return _zeros((lines, columns))


def _zeros(shape: tuple[int, int]) -> Int64Array:
    lines, columns = shape
    size = lines * columns * np.dtype(np.int64).itemsize
    if size < _LARGE:
        return np.zeros(shape, dtype=np.int64)
    if _PRIVATE is None:
        return np.zeros(shape, dtype=np.int64)
    # NumPy's own zeros would use huge pages, and each number would take 2 MiB. Private,
    # because reading a page of shared memory allocates it.
    pages = mmap.mmap(-1, size, flags=_PRIVATE)
    with suppress(AttributeError, OSError):  # not all systems have huge pages
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype=np.int64).reshape(shape)
