"""Records a live cluster: the changes that its watches report."""

import logging
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import msgspec

from quaymaster._api.objects import ApiObject, Node, Pod, Time
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.wire import decode
from quaymaster._base.errors import ObjectError
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.driver.frames import Changed, Current, Message, Trouble
from quaymaster._clusters.driver.packing import Gone, Text
from quaymaster._clusters.driver.reflector import SECONDS_OF_SILENCE, Reflector
from quaymaster._clusters.driver.sent_versions import as_text
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.anonymising import Anonymiser
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._clusters.kubernetes.resources import resource_of
from quaymaster._studies.recording.clusters import recorded_kinds
from quaymaster._studies.recording.files import RecordError, RecordFile, RecordWriter
from quaymaster._studies.recording.followed import (
    Followed,
    GoneError,
    MarkedReader,
    Reached,
)
from quaymaster._studies.recording.line_writer import LineWriter, kind_of, lean
from quaymaster._studies.recording.lines import Line, Tree
from quaymaster._studies.recording.state import RecordState

__all__ = ["RecordProgress", "Recorded", "record"]

_log = logging.getLogger(__name__)

_NAMELESS: Final = "an anonymous cluster"
_SECONDS_TO_FLUSH: Final = 1.0
_KEY_BYTES: Final = 32

RecordProgress: TypeAlias = Callable[[int, int], None]
"""Called repeatedly with the number of objects, and of lines so far."""


@attrs.frozen(kw_only=True)
class Recorded:
    """What was recorded.

    Attributes:
        file: The file.
        lines: How many lines were written.
        objects: How many objects exist now.
        pods: How many of them are pods.
        seconds: The duration of this recording.
        went_on: Whether an existing record was continued.
        notices: What could not be read.
    """

    file: str
    lines: int
    objects: int
    pods: int
    seconds: float
    went_on: bool = False
    notices: tuple[Notice, ...] = ()


def record(
    file: str | os.PathLike[str],
    *,
    context: str = "",
    kubeconfig: str | None = None,
    kinds: Iterable[type[ApiObject]] = (),
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    seconds: float | None = None,
    anonymise: bool = False,
    stop: threading.Event | None = None,
    on_progress: RecordProgress | None = None,
) -> Recorded:
    """Record the changes of a live cluster in a file, without writing to the cluster.

    If the file has a record, that is continued. Changes in between are read from the
    server as far as it keeps them, and otherwise found by comparison.

    Args:
        file: The file; compressed if its name ends with ``.gz``.
        context: The context of the kubeconfig; empty for the current one.
        kubeconfig: The kubeconfig file, instead of the usual ones.
        kinds: Kinds that plugins and packages declare.
        kubernetes: The version and feature gates whose kinds are recorded: groups, if
            their gates are on.
        seconds: For how long; None to record until it is stopped.
        anonymise: Whether to replace all names.
        stop: Ends the recording when it is set.
        on_progress: Called with the progress.

    Returns:
        What was recorded.

    Raises:
        RecordError: The file cannot be written, is not a record, or is a record of
            another cluster.
        QuaymasterError: The server is unreachable or rejects lists of nodes or pods, or
            credentials are missing.
        ConfigErrors: The kubeconfig is wrong.
    """
    access = find_access(kubeconfig=kubeconfig, context=context)
    # A recording may last longer than the credentials that it begins with.
    access = attrs.evolve(
        access, reread=partial(find_access, kubeconfig=kubeconfig, context=context)
    )
    # Before the file is created: without these rights there is nothing to record.
    _check_reads(access)
    declared = tuple(kinds)
    earlier = _recorded_before(Path(file), KindSet(declared), access.name, anonymise)
    with RecordWriter(file) as writer:
        recorded = recorded_kinds(declared, kubernetes)
        recorder = _Recorder(access, recorded, writer, earlier, anonymise=anonymise)
        recorder.run(seconds, stop or threading.Event(), on_progress)
        return recorder.summary(str(file))


def _check_reads(access: Access) -> None:
    """Read the resources that must be readable."""
    with closing(ApiClient(access)) as client:
        for kind in (Node, Pod):
            client.get(resource_of(kind).path(), {"limit": 1})


def _recorded_before(
    path: Path, kinds: KindSet, source: str, anonymise: bool
) -> RecordState | None:
    """Return the state of the record that is continued, or None."""
    if not path.exists() or not path.stat().st_size:
        return None
    state = RecordState(kinds)
    for _ in state.entries(RecordFile(path).lines()):
        pass
    before = state.begins[-1]
    if before.anonymous or anonymise:
        message = "an anonymous record cannot go on: its names are forgotten"
        raise RecordError(str(path), message)
    if before.source != source:
        message = f"expected a record of {source!r}, got one of {before.source!r}"
        raise RecordError(str(path), message)
    return state


class _Recorder:
    """Records one cluster.

    Args:
        access: The access to its API server.
        kinds: The kinds to record.
        writer: Writes the lines.
        earlier: What the file has already, or None.
        anonymise: Whether to replace all names.
    """

    def __init__(
        self,
        access: Access,
        kinds: Sequence[type[ApiObject]],
        writer: RecordWriter,
        earlier: RecordState | None,
        *,
        anonymise: bool,
    ) -> None:
        self._access = access
        self._issuer = Issuer()
        self._kinds = kinds
        self._writer = writer
        self._earlier = earlier
        self._line_writer = LineWriter(self._write, earlier)
        self._anonymiser = (
            Anonymiser(secrets.token_bytes(_KEY_BYTES)) if anonymise else None
        )
        self._is_anonymous = anonymise
        self._begun = self._started = time.time()
        if earlier is not None:
            # Times go on from the first recording in the file.
            self._started = Time.parse(earlier.begins[0].time)
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._followed = [
            Followed(kind, number) for number, kind in enumerate(self._kinds)
        ]
        self._reflectors: list[Reflector] = []
        self._lines = 0

    def run(
        self,
        seconds: float | None,
        stop: threading.Event,
        on_progress: RecordProgress | None,
    ) -> None:
        """Record until the time is over or the recorder is stopped."""
        self._line_writer.begin(
            self._now(),
            now=self._begun,
            source=_NAMELESS if self._is_anonymous else self._access.name,
            kinds=self._kinds,
            anonymous=self._is_anonymous,
        )
        gone = threading.Event()
        for followed in self._followed:
            self._follow(followed, gone)
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while not stop.is_set() and (
                deadline is None or time.monotonic() < deadline
            ):
                self._take_messages(_SECONDS_TO_FLUSH)
                for reflector in self._reflectors:
                    reflector.check()
                self._line_writer.mark(self._now())
                self._writer.flush()
                if on_progress is not None:
                    on_progress(self._objects(), self._lines)
        finally:
            gone.set()
            self._line_writer.end(self._now())

    def summary(self, file: str) -> Recorded:
        """Return what was recorded."""
        pods = next(followed for followed in self._followed if followed.kind is Pod)
        return Recorded(
            file=file,
            lines=self._lines,
            objects=self._objects(),
            pods=len(pods.keys),
            seconds=time.time() - self._begun,
            went_on=self._earlier is not None,
            notices=tuple(
                notice
                for followed in self._followed
                for notice in followed.notices(self._access)
            ),
        )

    def _follow(self, followed: "Followed", gone: threading.Event) -> None:
        client = ApiClient(
            self._access, timeout=SECONDS_OF_SILENCE, issuer=self._issuer
        )

        def report(message: Message) -> None:
            # Raised inside the reflector, as nothing else can stop a thread that reads.
            if gone.is_set():
                raise GoneError
            self._messages.put(message)

        def wait(pause: float) -> None:
            if gone.wait(pause):
                raise GoneError

        path = resource_of(followed.kind).path()
        number, reached = followed.number, [""]

        def mark() -> None:
            # Bookmarks that change nothing would be most of the lines of a quiet
            # cluster.
            if reflector.version != reached[0]:
                reached[0] = reflector.version
                report(Reached(number, reached[0]))

        reader = MarkedReader(client, mark)
        reflector = Reflector(reader, number, path, as_text, report, wait=wait)
        self._reflectors.append(reflector)
        if self._earlier is not None:
            name = kind_of(followed.kind)
            stored = self._earlier.stored.get(name, {})
            followed.keys.update({key: key for key in stored})
            latest = self._earlier.versions.get(name, "")
            # Without a version to go on from, the server sends a whole list, whose
            # objects are marked as listed.
            followed.is_listed = bool(latest)
            versions = {key: obj.version for key, obj in stored.items()}
            reflector.resume(versions, latest)

        def work() -> None:
            try:
                reflector.run()
            except GoneError:
                client.close()

        # A thread that waits for the server cannot be interrupted, and must not keep
        # the process alive.
        threading.Thread(target=work, name=path, daemon=True).start()

    def _take_messages(self, seconds: float) -> None:
        """Record the messages of some seconds."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            try:
                message = self._messages.get(timeout=max(0.0, left))
            except queue.Empty:
                return
            self._take(message)

    def _take(self, message: Message) -> None:
        match message:
            case Changed():
                followed = self._followed[message.resource]
                for change in followed.unpacker.changes(message.changes):
                    self._changed(followed, change)
            case Current():
                self._followed[message.resource].is_listed = True
            case Reached():
                kind = self._followed[message.resource].kind
                self._line_writer.reached(kind, message.version)
            case Trouble():
                self._note(self._followed[message.resource], message)
            case _:
                pass

    def _note(self, followed: "Followed", trouble: Trouble) -> None:
        """Keep a problem for the end; log it unless the server has answered."""
        followed.trouble, followed.code = trouble.why, trouble.code
        if trouble.why and not trouble.code:
            name = resource_of(followed.kind).full_name
            _log.warning("%s cannot be followed: %s", name, trouble.why)

    def _changed(self, followed: "Followed", change: object) -> None:
        kind, now = followed.kind, self._now()
        if isinstance(change, Gone):
            # Its name in the record is that of this table: an anonymous name cannot be
            # made from a key alone.
            key = followed.keys.pop(change.key, "")
            self._line_writer.drop(now, kind, key, missed=True)
            return
        if not isinstance(change, Text):
            return
        try:
            obj = decode(change.json, kind, pool=followed.pool)
        except (ObjectError, msgspec.DecodeError):
            followed.unreadable += 1
            return
        if change.type == "DELETED":
            key = followed.keys.pop(obj.key, "")
            version = obj.metadata.resource_version
            self._line_writer.drop(now, kind, key, version=version)
            return
        key, tree = self._named(obj)
        followed.keys[obj.key] = key
        self._line_writer.put(
            now,
            kind,
            key,
            tree,
            version=obj.metadata.resource_version,
            listed=not followed.is_listed,
        )

    def _named(self, obj: ApiObject) -> tuple[str, Tree]:
        """Return an object as it is written, with its key."""
        tree = lean(obj)
        if self._anonymiser is None:
            return obj.key, tree
        typed = {"apiVersion": obj.api_version, "kind": obj.kind, **tree}
        renamed = self._anonymiser.renamed(typed)
        metadata = renamed["metadata"]
        names = (metadata.get("namespace", ""), metadata.get("name", ""))
        for key in ("apiVersion", "kind"):
            del renamed[key]
        return "/".join(filter(None, names)), renamed

    def _objects(self) -> int:
        return sum(len(followed.keys) for followed in self._followed)

    def _write(self, line: Line) -> None:
        self._lines += 1
        self._writer.write(line)

    def _now(self) -> float:
        return time.time() - self._started
