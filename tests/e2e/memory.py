"""Checks whether the memory of a process grows."""

from collections.abc import Iterator
from typing import Final

import numpy as np

__all__ = ["Memory"]

# The I/O process keeps 20,000 keys of events, which takes half an hour to level off: it
# grew by 5 MB from minute 10 to minute 35, and by 1 MB from then to minute 60.
_WARM: Final = 0.5  # the part of the time that does not count
_SHORT: Final = 1 / 6  # hours that are too short for a result
_GROWTH: Final = 0.10  # the part of the memory per hour


class Memory:
    """The memory of some processes over time."""

    def __init__(self) -> None:
        self._samples: dict[str, list[tuple[float, int]]] = {}

    def note(self, name: str, hours: float, size: int) -> None:
        """Record the bytes of a process after some hours."""
        self._samples.setdefault(name, []).append((hours, size))

    def problems(self) -> Iterator[str]:
        """Yield the processes that grow by more than a tenth in an hour."""
        for name, (size, growth) in self.growths().items():
            if growth > _GROWTH * size:
                yield f"{name} grows by {growth / 1e6:.1f} MB in an hour"

    def growths(self) -> dict[str, tuple[float, float]]:
        """Return bytes, and bytes per hour of a line through the warm samples."""
        found = {}
        for name, samples in self._samples.items():
            warm = np.array(samples[int(len(samples) * _WARM) :], dtype=float)
            if warm[-1, 0] - warm[0, 0] >= _SHORT:
                slope, _ = np.polyfit(warm[:, 0], warm[:, 1], 1)
                found[name] = float(warm[:, 1].mean()), float(slope)
        return found
