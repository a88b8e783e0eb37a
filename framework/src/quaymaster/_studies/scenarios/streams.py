"""Random numbers: each purpose has its own stream."""

import hashlib

import numpy as np

__all__ = ["random_stream"]


def random_stream(seed: int, *names: str) -> np.random.Generator:
    """Make the random generator of a purpose.

    Streams with different names are independent, so the draws of a step do not depend
    on the other steps.

    Args:
        seed: The seed of the whole scenario.
        names: The purpose.
    """
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))
