"""Runs a generated test once, before the caller gets it."""

import traceback
from typing import Final

from quaymaster._base.raised import describe_exception

__all__ = ["failure_of"]

_FILE: Final = "<generated test>"


def failure_of(text: str) -> str:
    """Run the test of a generated file; return why it fails, or empty if it passes.

    Args:
        text: The file's content, with one test.
    """
    names: dict[str, object] = {"__name__": "generated_test"}
    try:
        exec(compile(text, _FILE, "exec"), names)
        [test] = [value for name, value in names.items() if name.startswith("test_")]
        assert callable(test)
        test()
    except AssertionError as error:
        return f"it fails: {_failed_line(error, text)}"
    except Exception as error:
        return f"it raises {describe_exception(error)}"
    return ""


def _failed_line(error: BaseException, text: str) -> str:
    """Return the assertion of the file that failed, in one line."""
    lines = text.splitlines()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == _FILE and frame.lineno:
            end = frame.end_lineno or frame.lineno
            parts = (line.strip() for line in lines[frame.lineno - 1 : end])
            return "".join(parts)
    return describe_exception(error)
