"""What mypy has read of the framework and of libraries, kept between runs of the tests.

It is the same for all packages, and reading it takes ten times as long as a package.
mypy compares contents, so it also accepts what it kept for another checkout.
"""

import fcntl
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["mypy_cache"]

_CACHES: Final = Path.home() / ".cache" / "quaymaster" / "mypy-of-tests"


@contextmanager
def mypy_cache(settings: str) -> Iterator[Path]:
    """Lend a folder that no other process uses at the same time.

    Args:
        settings: A name of mypy's settings: other settings make a cache useless.

    Yields:
        The folder, for the variable ``MYPY_CACHE_DIR``.
    """
    for number in itertools.count():
        folder = _CACHES / f"{settings}-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield folder
            return
