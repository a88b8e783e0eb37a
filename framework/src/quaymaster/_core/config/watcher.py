"""Watches a configuration file, and applies valid changes.

Each check reads the file and compares its content. Kubernetes replaces the directory of
a ConfigMap behind a symbolic link. In that case modification times are not reliable,
and watches of the file system miss the change.
"""

import hashlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Final, Protocol

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.errors import ConfigErrors, ReloadError
from quaymaster._core.config.load import parse_config, read_source
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.wrapped import read_wrapped
from quaymaster._core.contract.clock import Clock, Timer
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["ConfigObserver", "ConfigWatcher", "Reloadable"]

# Enough to distinguish the contents of one file.
_SHOWN_DIGITS: Final = 12

_log = logging.getLogger(__name__)


class Reloadable(Protocol):
    """An object whose configuration can be replaced while it runs."""

    @property
    def config(self) -> SchedulerConfig:
        """The active configuration."""

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Apply a configuration, or keep the old one after an error; thread-safe."""


class ConfigObserver(Protocol):
    """Receives the result of each change of a file, on the thread that applies it."""

    def reloaded(self, changes: ConfigChanges, /) -> None:
        """Handle a change that has been applied."""

    def rejected(self, error: ReloadError, /) -> None:
        """Handle a change that cannot be used; the active configuration stays."""


@attrs.frozen
class _Content:
    """The content of the file: its text, or the error of reading it."""

    text: bytes | None
    problem: str
    # Each reading makes a new error, and exceptions are compared by identity. If it
    # counted, an unreadable file would be reported at every check.
    error: ConfigErrors | None = attrs.field(default=None, eq=False)

    @property
    def digest(self) -> str:
        if self.text is None:
            return "unreadable"
        return "sha256:" + hashlib.sha256(self.text).hexdigest()[:_SHOWN_DIGITS]


class ConfigWatcher:
    """Checks a configuration file periodically, and applies its changes.

    A content may be half written or wrong, or a plugin may fail to build. Then all
    mistakes are logged once, and the active configuration stays until the file changes
    again. A content that is equal to the active configuration, such as a new comment,
    is not applied.

    Args:
        path: The file, or the name of a shipped profile, as for `load_config`.
        registry: The installed plugins.
        target: The object that uses the configuration.
        clock: The target's clock; its thread checks the file.
        interval_seconds: The time from one check to the next.
        observer: Receives the result of each change of the file.

    Attributes:
        error: Why the current content of the file is not active, or None.
    """

    def __init__(
        self,
        path: str | Path,
        registry: PluginRegistry,
        target: Reloadable,
        clock: Clock,
        *,
        interval_seconds: float = 5.0,
        observer: ConfigObserver | None = None,
    ) -> None:
        self._source = str(path)
        self._registry = registry
        self._target = target
        self._clock = clock
        self._interval = interval_seconds
        self._observer = observer
        # Re-entrant: on the engine's own thread `reload` may be done at once, and its
        # callback `_applied` then runs while `_check` still holds the lock.
        self._lock = threading.RLock()
        self._seen: _Content | None = None
        self._under_way = 0
        self._timer: Timer | None = None
        self.error: ReloadError | None = None

    def start(self) -> None:
        """Start the checks, as a background timer of the clock; on its thread."""
        self.stop()
        self._timer = self._clock.call_later(
            self._interval, self._check_periodically, background=True
        )

    def stop(self) -> None:
        """Stop the checks; on the clock's thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def check(self) -> None:
        """Check the file now, and retry a rejected content; from any thread.

        Mistakes are logged and passed to the observer, not raised.
        """
        self._check(retry=True)

    def _check(self, *, retry: bool) -> None:
        with self._lock:
            content = _read(self._source)
            if content == self._seen and not (retry and self.error):
                return
            is_first, self._seen = self._seen is None, content
            try:
                config = self._parsed(content)
                is_same = config == self._target.config
            except Exception as error:
                self._reject(content, error)
                return
            # While another content is being applied, the active configuration is not
            # the last one. Without the second condition, a file that is quickly changed
            # and changed back would end with the wrong content.
            if not is_same or self._under_way:
                self._apply(content, config)
            elif not is_first:
                self._accept(content, ConfigChanges())

    def _check_periodically(self) -> None:
        self._timer = None
        self._check(retry=False)
        self.start()

    def _parsed(self, content: _Content) -> SchedulerConfig:
        if content.text is None:
            raise content.error or ConfigErrors(())
        document, source = read_wrapped(content.text, self._source)
        return parse_config(
            document,
            self._registry,
            source=source,
            # Without the gates of the active content: a gate that was removed from the
            # file would otherwise stay as it was.
            kubernetes=self._target.config.chosen_kubernetes,
        )

    def _apply(self, content: _Content, config: SchedulerConfig) -> None:
        self._under_way += 1
        answer = self._target.reload(config)
        answer.add_done_callback(lambda done: self._applied(content, config, done))

    def _applied(
        self, content: _Content, config: SchedulerConfig, done: Future[ConfigChanges]
    ) -> None:
        with self._lock:
            self._under_way -= 1
            try:
                changes = done.result()
            except Exception as error:
                self._reject(content, error)
                return
            for warning in config.warnings:
                _log.warning("%s", warning)
            self._accept(content, changes)

    def _accept(self, content: _Content, changes: ConfigChanges) -> None:
        self.error = None
        _log.info("%s: reloaded (%s): %s", self._source, content.digest, changes)
        self._notify(lambda observer: observer.reloaded(changes))

    def _reject(self, content: _Content, error: Exception) -> None:
        rejection = ReloadError(self._source, content.digest, error)
        rejection.__cause__ = error
        self.error = rejection
        # A traceback helps only if the error is not one of our own.
        is_own = isinstance(error, QuaymasterError)
        _log.error("%s", rejection, exc_info=None if is_own else error)
        self._notify(lambda observer: observer.rejected(rejection))

    def _notify(self, call: Callable[[ConfigObserver], None]) -> None:
        if self._observer is None:
            return
        try:
            call(self._observer)
        except Exception:
            _log.exception("%s: the observer failed", self._source)


def _read(source: str) -> _Content:
    try:
        return _Content(read_source(source), "")
    except ConfigErrors as error:
        return _Content(None, str(error), error)
