"""The GPUs that a pod might take on a node, and what they would have left.

A pod that shares a GPU may take any that suffices; equal ones are the same to a policy.
Any other pod takes the tightest, which for whole GPUs are the first free ones.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from quaymaster import Int64Array

from quaymaster_openb.gpus import FULL
from quaymaster_openb.wishes import Wish

__all__ = ["choices", "choices_of_each"]

_NONE: Final = np.int64(FULL + 1)
"""In the place of a GPU that does not suffice: behind all others."""


def choices(wish: Wish, left: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Return the choices on one node.

    Args:
        wish: What the pod wants.
        left: What each GPU has left.

    Returns:
        For each choice the number of the GPU, and what each GPU has left afterwards.
        There is one choice, of no number, for pods that share no GPU.
    """
    if not wish.is_shared:
        after = list(left)
        suiting = [gpu for gpu, rest in enumerate(left) if rest >= wish.milli]
        for gpu in sorted(suiting, key=left.__getitem__)[: wish.count]:
            after[gpu] -= wish.milli
        yield -1, after
        return
    for gpu, rest in enumerate(left):
        if rest >= wish.milli and left.index(rest) == gpu:
            yield gpu, [*left[:gpu], rest - wish.milli, *left[gpu + 1 :]]


def choices_of_each(wish: Wish, left: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the choices on many nodes.

    Args:
        wish: What the pod wants.
        left: Shape ``(N, G)``, 0 where a node has no GPU.

    Returns:
        Shape ``(C,)``: which of the nodes each choice is on; and shape ``(C, G)``: what
        its GPUs have left afterwards.
    """
    count, width = left.shape
    if not wish.is_shared:
        after = left
        if wish.count:
            fitting = np.where(left >= wish.milli, left, _NONE)
            taken = np.argsort(fitting, axis=1, kind="stable")[:, : wish.count]
            had = np.take_along_axis(fitting, taken, axis=1)
            after = left.copy()
            rest = np.where(
                had == _NONE, np.take_along_axis(left, taken, 1), had - wish.milli
            )
            np.put_along_axis(after, taken, rest, axis=1)
        return np.arange(count), after
    is_choice = left >= wish.milli
    for gpu in range(1, width):
        is_choice[:, gpu] &= (left[:, :gpu] != left[:, gpu : gpu + 1]).all(axis=1)
    at, gpus = is_choice.nonzero()
    after = left[at]
    after[np.arange(len(at)), gpus] -= wish.milli
    return at, after
