"""Lines about what a scheduler does, for people and for ``grep``."""

import enum
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from quaymaster._api.objects import Pod

__all__ = ["Tell", "Trace", "TraceTopic"]

_log = logging.getLogger(__name__)

_PLAIN: Final = frozenset("-_./:,+")
"""What texts may have beside letters and digits to go without quotes."""


class TraceTopic(enum.Enum):
    """What lines are about."""

    PLUGIN = "plugin"
    """The calls of hooks; see `HookObserver`."""
    QUEUE = "queue"
    """Pods that enter a queue or are popped, with the cause, and queueing hints."""
    CACHE = "cache"
    """Pods and nodes as decisions see them: assumed, confirmed, removed."""


class Tell(Protocol):
    """Writes a line on one topic."""

    def __call__(self, event: str, pod: Pod | None, /, **fields: object) -> None:
        """Write that something has happened.

        Args:
            event: What has happened, in one word.
            pod: The pod that it is about, or None.
            fields: What else there is to say; what is None or empty is left out.
        """


class Trace:
    """Writes a line of ``key=value`` for everything that happens on some topics.

    Texts with spaces and the like are quoted as in JSON. The first keys of each line
    are ``trace`` (the topic), ``at`` (seconds of the scheduler's clock since it was
    built), ``event`` and ``pod``. Follows the structured logs of kube-scheduler
    (``V(5)`` and up), in a form that is the same from run to run, but for ``seconds``.

    Lines are told on the scheduler's thread. If writing fails, that is logged, and no
    more is written; no decision depends on it.

    Args:
        write: Takes each line, without its end.
        topics: What is told.
        pods: The keys of the pods that are told of; empty for all. If given, lines
            about no pod are left out.

    Raises:
        ValueError: There are no topics, or one is none.
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
        """The keys of the wanted pods that there was no line about."""
        return sorted(self._unseen)

    def on(self, topic: TraceTopic, now: Callable[[], float]) -> Tell | None:
        """Return what a scheduler tells a topic with; None if nobody wants to know.

        Args:
            topic: The topic.
            now: Returns the seconds since the scheduler was built.
        """
        if topic not in self._topics:
            return None

        def tell(event: str, pod: Pod | None, /, **fields: object) -> None:
            if self._is_wanted(pod):
                self._say(topic.value, now(), event, pod, fields)

        return tell

    def _is_wanted(self, pod: Pod | None) -> bool:
        if self._write is None:
            return False
        return not self._pods or (pod is not None and pod.key in self._pods)

    def _say(
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
        assert self._write is not None, "else nobody wants to know"
        try:
            self._write(line)
        except Exception:
            self._write = None
            _log.exception("the trace cannot be written, and ends")


def _shown(value: object) -> str:
    text = f"{value:.6f}" if isinstance(value, float) else str(value)
    if all(letter.isalnum() or letter in _PLAIN for letter in text):
        return text
    return json.dumps(text, ensure_ascii=False)
