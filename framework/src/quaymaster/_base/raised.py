"""Describes exceptions of plugins in one line: type, text and place.

``KeyError: 'tier' (acme_racks/racks.py:9)`` is enough to find a line; the bare text,
``'tier'``, is not. The place is the innermost line of the plugin itself. Lines of its
callees (the framework, numpy, a client library) are left out.
"""

import inspect
import itertools
import signal
import threading
from collections.abc import Iterator
from pathlib import PurePath
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Final

__all__ = [
    "class_place",
    "describe_exception",
    "exception_place",
    "is_from_outside",
    "located",
]

_NOT_A_PLUGIN: Final = frozenset({"importlib", "pluggy", "quaymaster"})
"""Top-level packages whose lines call plugins."""


def describe_exception(error: BaseException) -> str:
    """Describe in one line what a plugin raised, and where.

    Args:
        error: The exception, as it was caught.

    Returns:
        Type, text and place; without the place if no line of a plugin was running.
    """
    return located(_with_type(error), exception_place(error))


def located(text: str, place: str) -> str:
    """Join a text and the place that it is about, if there is one."""
    return f"{text} ({place})" if place else text


def class_place(kind: type) -> str:
    """Return where a class is defined; its module if the line is unavailable."""
    try:
        line = inspect.getsourcelines(kind)[1]
        return f"{_file(inspect.getfile(kind), kind.__module__)}:{line}"
    except (OSError, TypeError):
        return kind.__module__


def _with_type(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception:  # the exception's class is a plugin's, so even str() may raise
        text = ""
    return f"{name}: {text}" if text else name


def exception_place(error: BaseException) -> str:
    """Return the innermost line of a plugin that was running, or empty."""
    lines = list(_lines(error.__traceback__))
    package = _plugins_package([frame for frame, _ in lines])
    for frame, number in reversed(lines):
        if package and _package(frame) == package:
            return f"{_file(frame.f_code.co_filename, _module(frame))}:{number}"
    return ""


def _lines(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _plugins_package(frames: list[FrameType]) -> str:
    """Return the package of the function that the framework called, or empty.

    A wrapper comes before the hook that it wraps, although it may only have passed the
    exception on. Wrappers are generators, so generators come last.
    """
    called = [
        frame
        for caller, frame in itertools.pairwise(frames)
        if _package(caller) in _NOT_A_PLUGIN and _package(frame) not in _NOT_A_PLUGIN
    ]
    hooks = [
        frame for frame in called if not frame.f_code.co_flags & inspect.CO_GENERATOR
    ]
    candidates = hooks or called
    return _package(candidates[0]) if candidates else ""


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _file(path: str, module: str) -> str:
    """Cut a path to the part that shows the module; the rest depends on the machine."""
    parts = PurePath(path).parts
    depth = len(module.split("."))
    if parts[-1:] == ("__init__.py",):
        depth += 1
    return "/".join(parts[-depth:])


def is_from_outside(error: BaseException) -> bool:
    """Return whether the plugin that was running did not cause this exception.

    Args:
        error: The caught exception.
    """
    if isinstance(error, SystemExit):
        return _is_from_signal(error)
    if isinstance(error, Exception):
        return False
    return type(error).__name__ != "CancelledError"  # importing asyncio takes 30 ms


def _is_from_signal(error: SystemExit) -> bool:
    """Return whether a signal handler raised this while a plugin ran."""
    if threading.current_thread() != threading.main_thread():
        return False
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()}
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in handlers:
            return True
        traceback = traceback.tb_next
    return False


def _code(handler: object) -> CodeType | None:
    if isinstance(handler, MethodType):
        handler = handler.__func__
    return handler.__code__ if isinstance(handler, FunctionType) else None
