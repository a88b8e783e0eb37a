"""The one call that loads manifests."""

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from quaymaster.manifests._collector import Collector
from quaymaster.manifests._loaded import Loaded
from quaymaster.objects import SpecPool

__all__ = ["load"]


def load(
    paths: Iterable[str | os.PathLike[str]], *, pool: SpecPool | None = None
) -> Loaded:
    """Load manifests; a namespaced object without a namespace goes to ``default``.

    Directories are searched for ``.yaml``, ``.yml`` and ``.json`` files, with all that
    is below them but without what begins with a dot, in the order of the paths. The
    garbage collector pauses meanwhile.

    Args:
        paths: Files, directories, or ``-`` for standard input.
        pool: What the objects share their parts with.

    Raises:
        ManifestErrors: Something is wrong; nothing was loaded.
    """
    collector = Collector(pool if pool is not None else SpecPool())
    with _paused_gc():
        for path in paths:
            collector.read_path(os.fspath(path))
    return collector.result()


@contextmanager
def _paused_gc() -> Iterator[None]:
    """Keep the collector from looking again and again at all that was loaded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
