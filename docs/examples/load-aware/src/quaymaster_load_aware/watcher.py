"""What load-watcher answers: the CPU load of nodes, fetched and read.

The format is that of ``WatcherMetrics`` (github.com/paypal/load-watcher v0.2.3,
``pkg/watcher/watcher.go``).
"""

import json
import math
from collections.abc import Mapping
from urllib.request import urlopen

import attrs

__all__ = ["BadAnswerError", "Reading", "fetch", "parse"]

_MOST_BYTES = 2**26
# Of several measures of a node, the last of these counts, as upstream.
_OPERATORS = ("AVG", "Latest")


class BadAnswerError(ValueError):
    """An answer that is not what load-watcher answers; the text says in what."""


@attrs.frozen(kw_only=True)
class Reading:
    """The CPU load of nodes at one time.

    Attributes:
        percent: Node name -> its load, in percent of its CPU.
        window_end: When what was measured ends, in seconds since the epoch, by the
            server's clock; None if the answer does not say.
    """

    percent: Mapping[str, float]
    window_end: float | None = None


def fetch(url: str, timeout_seconds: float) -> bytes:
    """Ask a server.

    Raises:
        OSError: It cannot be reached, refuses, or says nothing for too long.
        BadAnswerError: The answer is too large.
    """
    with urlopen(url, timeout=timeout_seconds) as answer:
        found: bytes = answer.read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        raise BadAnswerError(f"expected at most {_MOST_BYTES} bytes, got more")
    return found


def parse(answer: bytes) -> Reading:
    """Read an answer; nodes without a measure of CPU are left out.

    Raises:
        BadAnswerError: It is something else.
    """
    try:
        tree = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError(f"expected JSON, got {answer[:40]!r}") from error
    data = _member(_member(tree, "data"), "NodeMetricsMap")
    percent = {}
    for name, node in data.items():
        found = _cpu(node.get("metrics") if isinstance(node, dict) else None)
        if found is not None:
            percent[name] = found
    window = tree.get("window")
    end = window.get("end") if isinstance(window, dict) else None
    return Reading(percent=percent, window_end=_number(end))


def _member(tree: object, name: str) -> Mapping[str, object]:
    found = tree.get(name) if isinstance(tree, dict) else None
    if not isinstance(found, dict):
        raise BadAnswerError(f"expected an object with an object '{name}'")
    return found


def _cpu(metrics: object) -> float | None:
    found = None
    for metric in metrics if isinstance(metrics, list) else ():
        if not isinstance(metric, dict) or metric.get("type") != "CPU":
            continue
        value = _number(metric.get("value"))
        if metric.get("operator") in _OPERATORS and value is not None and value >= 0:
            found = value
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
