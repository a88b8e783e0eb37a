"""Random numbers: each purpose has a stream of its own."""

import hashlib

import numpy as np

__all__ = ["random_stream"]


def random_stream(seed: int, *names: str) -> np.random.Generator:
    """Make the generator that has some names.

    Streams of different names have nothing to do with each other, so what one step
    draws does not depend on the other steps.

    Args:
        seed: The seed of the whole scenario.
        names: What it is for.
    """
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))
