"""When Python's collector of cyclic garbage looks for some.

It looks at everything that is new, and now and then at all there is. Clusters are large
and hold no cycles, so most of that is in vain.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["collector_calmed", "collector_paused"]

# In a process that decides, a tenth to a third of the time is the collector's as Python
# sets it (700, 10, 10): a tenth where pods are of 100 kinds, a third where no two are
# alike. With these numbers it is half of that: mostly to look at each new object once.
# A simulation that is over is a cycle, and waits until a million objects have come.
# With larger numbers more of them would wait, and nothing would be gained.
_THRESHOLDS: Final = (10_000, 10, 10)


@contextmanager
def collector_calmed() -> Iterator[None]:
    """Run a block in which the collector looks for garbage less often."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Run a block without the collector, which only slows a bulk load."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
