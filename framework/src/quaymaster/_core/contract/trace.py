"""A log of the scheduler's actions, one line each, for people and for ``grep``."""

import enum
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from quaymaster._api.objects import Pod

__all__ = ["Trace", "TraceCallback", "TraceTopic"]

_log = logging.getLogger(__name__)

_PLAIN: Final = frozenset("-_./:,+")
"""The characters, besides letters and digits, that need no quotes."""


class TraceTopic(enum.Enum):
    """The topics of lines."""

    PLUGIN = "plugin"
    """The calls of hooks; see `HookObserver`."""
    QUEUE = "queue"
    """Pods that enter a queue or are popped, with the cause, and queueing hints."""
    CACHE = "cache"
    """Pods and nodes in the cache: assumed, confirmed, removed."""


class TraceCallback(Protocol):
    """Writes a line on one topic."""

    def __call__(self, event: str, pod: Pod | None, /, **fields: object) -> None:
        """Write one event.

        Args:
            event: The event, in one word.
            pod: The pod of the event, or None.
            fields: More fields of the line; None and empty texts are left out.
        """


class Trace:
    """Writes a line of ``key=value`` for each event of some topics.

    Texts with spaces and other special characters are quoted as in JSON. The first keys
    of each line are ``trace`` (the topic), ``at`` (seconds of the scheduler's clock
    since it was built), ``event`` and ``pod``. Follows the structured logs of
    kube-scheduler (``V(5)`` and up). Two runs write the same lines, except for
    ``seconds``.

    Lines are written on the scheduler's thread. If writing fails, the error is logged
    and the trace ends; no decision depends on it.

    Args:
        write: Receives each line, without its line end.
        topics: The topics to write.
        pods: The keys of the pods to write about; empty for all. If set, lines without
            a pod are left out.

    Raises:
        ValueError: There are no topics, or an element is not a topic.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        topics: Iterable[TraceTopic] = tuple(TraceTopic),
        pods: Iterable[str] = (),
    ) -> None:
        self._topics = frozenset(topics)
        if not self._topics or not self._topics <= set(TraceTopic):
            raise ValueError(f"Trace: expected topics, got {topics!r}")
        self._write: Callable[[str], object] | None = write
        self._pods = frozenset(pods)
        self._unseen = set(self._pods)

    @property
    def unseen_pods(self) -> Sequence[str]:
        """The keys of the chosen pods that no line was written about."""
        return sorted(self._unseen)

    def on(self, topic: TraceTopic, now: Callable[[], float]) -> TraceCallback | None:
        """Return the callback that writes a topic, or None if it is not traced.

        Args:
            topic: The topic.
            now: Returns the seconds since the scheduler was built.
        """
        if topic not in self._topics:
            return None

        def write(event: str, pod: Pod | None, /, **fields: object) -> None:
            if self._covers(pod):
                self._write_line(topic.value, now(), event, pod, fields)

        return write

    def _covers(self, pod: Pod | None) -> bool:
        if self._write is None:
            return False
        return not self._pods or (pod is not None and pod.key in self._pods)

    def _write_line(
        self,
        topic: str,
        at: float,
        event: str,
        pod: Pod | None,
        fields: dict[str, object],
    ) -> None:
        line = f"trace={topic} at={at:.6f} event={event}"
        if pod is not None:
            self._unseen.discard(pod.key)
            line += f" pod={_shown(pod.key)}"
        for key, value in fields.items():
            if value is not None and value != "":
                line += f" {key}={_shown(value)}"
        assert self._write is not None, "no line is written after a failure"
        try:
            self._write(line)
        except Exception:
            # A full disk or a closed pipe must not end scheduling, nor log an error for
            # each of a million lines.
            self._write = None
            _log.exception("cannot write the trace; no more lines are written")


def _shown(value: object) -> str:
    text = f"{value:.6f}" if isinstance(value, float) else str(value)
    if all(letter.isalnum() or letter in _PLAIN for letter in text):
        return text
    return json.dumps(text, ensure_ascii=False)
