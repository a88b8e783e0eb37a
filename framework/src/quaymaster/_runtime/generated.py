"""Code that is generated when a profile is built, as tracebacks see it."""

import linecache
from types import CodeType

__all__ = ["compiled"]


def compiled(source: str, name: str) -> CodeType:
    """Compile generated code, and let tracebacks show its lines.

    Args:
        source: The code.
        name: What it is, unlike all other generated code.
    """
    file = f"<quaymaster {name}>"
    lines = source.splitlines(keepends=True)
    # Without a time of change, `linecache` takes an entry for one that stays.
    linecache.cache[file] = len(source), None, lines, file
    return compile(source, file, "exec")
