"""Watches a configuration file, and applies what is new and right in it.

The file is read at every look and compared by content: times of modification say
nothing where a whole directory is exchanged behind a symbolic link, as Kubernetes does
with a ConfigMap, and watches of the file system lose track of it there.
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
from quaymaster._core.config.yaml_file import read_yaml
from quaymaster._core.contract.clock import Clock, Timer
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["ConfigObserver", "ConfigWatcher", "Reloadable"]

# Enough to tell the contents of one file apart.
_SHOWN_DIGITS: Final = 12

_log = logging.getLogger(__name__)


class Reloadable(Protocol):
    """Something that runs with a configuration, and can take another one."""

    @property
    def config(self) -> SchedulerConfig:
        """The configuration in force."""

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Take another configuration, or keep the old one; from any thread."""


class ConfigObserver(Protocol):
    """Is told what becomes of a changed file, on the thread where it happens."""

    def reloaded(self, changes: ConfigChanges, /) -> None:
        """The new content of the file is in force."""

    def rejected(self, error: ReloadError, /) -> None:
        """The new content cannot be used; the configuration in force stays."""


@attrs.frozen
class _Content:
    """The content of the file: its text, or why it could not be read."""

    text: bytes | None
    problem: str
    error: ConfigErrors | None = attrs.field(default=None, eq=False)

    @property
    def digest(self) -> str:
        if self.text is None:
            return "unreadable"
        return "sha256:" + hashlib.sha256(self.text).hexdigest()[:_SHOWN_DIGITS]


class ConfigWatcher:
    """Looks at a configuration file now and then, and applies it when it has changed.

    If a content cannot be used, because it is half written, wrong, or a plugin cannot
    be built, all that is wrong with it is logged once, and the configuration in force
    stays until the file changes again. A content that means the same as what is in
    force (a comment was added) is not applied.

    Args:
        path: The file, or the name of a shipped profile, as for `load_config`.
        registry: The installed plugins.
        target: What runs with the configuration.
        clock: The target's clock; its thread looks at the file.
        interval_seconds: How long from one look to the next.
        observer: Is told what becomes of each changed file.

    Attributes:
        error: Why the file as it is now is not in force; None if it is.
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
        self._lock = threading.RLock()
        self._seen: _Content | None = None
        self._under_way = 0
        self._timer: Timer | None = None
        self.error: ReloadError | None = None

    def start(self) -> None:
        """Begin to look, as a background timer of the clock; on the clock's thread."""
        self.stop()
        self._timer = self._clock.call_later(
            self._interval, self._look_again, background=True
        )

    def stop(self) -> None:
        """Look no more; on the clock's thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def check(self) -> None:
        """Look at the file now, and try again what did not work; from any thread.

        Whatever is wrong is logged and told to the observer, not raised.
        """
        self._look(retry=True)

    def _look(self, *, retry: bool) -> None:
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
            if not is_same or self._under_way:
                self._apply(content, config)
            elif not is_first:
                self._accept(content, ConfigChanges())

    def _look_again(self) -> None:
        self._timer = None
        self._look(retry=False)
        self.start()

    def _parsed(self, content: _Content) -> SchedulerConfig:
        if content.text is None:
            raise content.error or ConfigErrors(())
        document = read_yaml(content.text, self._source)
        return parse_config(
            document,
            self._registry,
            source=self._source,
            kubernetes=self._target.config.kubernetes,
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
        self._tell(lambda observer: observer.reloaded(changes))

    def _reject(self, content: _Content, error: Exception) -> None:
        rejection = ReloadError(self._source, content.digest, error)
        rejection.__cause__ = error
        self.error = rejection
        # A traceback helps only where the error is not one of our own.
        is_known = isinstance(error, QuaymasterError)
        _log.error("%s", rejection, exc_info=None if is_known else error)
        self._tell(lambda observer: observer.rejected(rejection))

    def _tell(self, message: Callable[[ConfigObserver], None]) -> None:
        if self._observer is None:
            return
        try:
            message(self._observer)
        except Exception:
            _log.exception("%s: the observer failed", self._source)


def _read(source: str) -> _Content:
    try:
        return _Content(read_source(source), "")
    except ConfigErrors as error:
        return _Content(None, str(error), error)
