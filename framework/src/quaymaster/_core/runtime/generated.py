"""Compiles generated code in a way that lets tracebacks show it."""

import linecache
from types import CodeType

__all__ = ["compiled"]


def compiled(source: str, name: str) -> CodeType:
    """Compile generated code, and let tracebacks show its lines.

    Args:
        source: The code.
        name: A unique name for it.
    """
    file = f"<quaymaster {name}>"
    lines = source.splitlines(keepends=True)
    # An entry without a modification time stays in `linecache`.
    linecache.cache[file] = len(source), None, lines, file
    return compile(source, file, "exec")
