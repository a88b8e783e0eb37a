"""Counts requests and how long they took, for the metrics.

Mirrors the metrics of k8s.io/client-go v0.36, as k8s.io/component-base v0.36 registers
them (``metrics/prometheus/restclient``).
"""

import threading
from bisect import bisect_left
from collections import Counter
from typing import Final

from quaymaster._clusters.driver.frames import Counted, Durations

__all__ = ["REQUEST_SECONDS", "RequestCounts"]

REQUEST_SECONDS: Final = (
    0.005,
    0.025,
    0.1,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    15.0,
    30.0,
    60.0,
)
"""The bounds of the buckets for the durations of requests, in seconds."""

_NO_ANSWER: Final = "<error>"  # upstream's label


class RequestCounts:
    """Counts the requests of a process; any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[int, str]] = Counter()
        self._durations: dict[str, Durations] = {}

    def note(self, method: str, code: int, seconds: float | None) -> None:
        """Count a request.

        Args:
            method: Such as ``GET``.
            code: The HTTP status of the response; 0 without a response.
            seconds: How long it took; None for a stream, whose time upstream does not
                measure either.
        """
        with self._lock:
            self._requests[code, method] += 1
            if seconds is None:
                return
            times = self._durations.get(method)
            if times is None:
                counts = [0] * (len(REQUEST_SECONDS) + 1)
                times = self._durations[method] = Durations(counts, 0.0)
            times.counts[bisect_left(REQUEST_SECONDS, seconds)] += 1
            times.total += seconds

    def counted(self) -> Counted:
        """Return the counts since the start."""
        with self._lock:
            durations = {
                verb: Durations(list(times.counts), times.total)
                for verb, times in self._durations.items()
            }
            requests = {
                (str(code) if code else _NO_ANSWER, method): count
                for (code, method), count in self._requests.items()
            }
        return Counted(requests, durations)
