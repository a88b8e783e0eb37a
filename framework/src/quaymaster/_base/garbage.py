"""Tunes when Python's collector of cyclic garbage runs.

A collection visits all new objects, and now and then all objects. Clusters are large
and have no cycles, so most of these visits find nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["collector_calmed", "collector_paused"]

# With Python's own thresholds (700, 10, 10) the collector takes a tenth to a third of
# the time of a scheduling process: a tenth if pods are of 100 kinds, a third if all
# pods differ. These thresholds halve that; what remains is mostly the first visit of
# each object. A finished simulation is a cycle, and stays in memory until a million
# objects have been allocated. Higher thresholds would keep more of them and save no
# time.
_THRESHOLDS: Final = (10_000, 10, 10)


@contextmanager
def collector_calmed() -> Iterator[None]:
    """Run a block in which the collector runs less often."""
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
