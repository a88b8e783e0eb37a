"""A stream that brings bytes but no events is reported, as is a list without an end."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from tests.kit.internals.driver import Message, Reflector, Trouble, as_text

NO_EVENT = "the watch has received bytes for 30 seconds, but no event"
NO_END = "the watch has not marked the end of its list in 30 seconds"
POD = b'{"metadata": {"name": "a", "uid": "1", "resourceVersion": "7"}}'
ADDED = b'{"type": "ADDED", "object": ' + POD + b"}\n"
BOOKMARK = b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "8"%s}}}\n'
LIST_ENDS = BOOKMARK % b', "annotations": {"k8s.io/initial-events-end": "true"}'
QUIET = BOOKMARK % b""


class Stage:
    """A reflector of a server that sends what a script says, in virtual time.

    The reflector is checked every five seconds, as its thread does.

    Args:
        script: Per stream, how many seconds pass before which bytes come.

    Attributes:
        seconds: The time.
        reports: What was reported, with the time; empty: it is over.
    """

    def __init__(self, *script: Sequence[tuple[float, bytes]]) -> None:
        self.seconds = 0.0
        self.reports: list[tuple[float, str]] = []
        self._script = list(script)
        self.reflector = Reflector(
            self,
            0,
            "/things",
            as_text,
            self._report,
            wait=self.pass_time,
            now=lambda: self.seconds,
            uniform=lambda low, _high: low,
        )

    def get(self, path: str, query: Mapping[str, str | int]) -> bytes:
        raise AssertionError("pages are not read")

    @contextlib.contextmanager
    def stream(
        self, path: str, query: Mapping[str, str | int]
    ) -> Iterator[Iterator[bytes]]:
        yield self._blocks(self._script.pop(0))

    def _blocks(self, script: Sequence[tuple[float, bytes]]) -> Iterator[bytes]:
        for seconds, block in script:
            self.pass_time(seconds)
            yield block

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with a check every five seconds."""
        end = self.seconds + seconds
        while (check := self.seconds // 5 * 5 + 5) <= end:
            self.seconds = check
            self.reflector.check()
        self.seconds = end

    def _report(self, message: Message) -> None:
        if isinstance(message, Trouble):
            self.reports.append((self.seconds, message.why))


LIST = (0.0, ADDED + LIST_ENDS)


@pytest.mark.parametrize(
    "silence",
    [[(140.0, b"")], [(60.0, QUIET), (60.0, QUIET), (60.0, QUIET)]],
    ids=["without any bytes", "between bookmarks"],
)
def test_a_quiet_watch_is_not_reported(silence: list[tuple[float, bytes]]) -> None:
    stage = Stage([LIST, *silence])
    stage.reflector.step()
    assert stage.reports == []


@pytest.mark.parametrize(
    "bytes_of",
    [
        lambda: [(1.0, b"")] * 100,
        lambda: [(1.0, b""), (99.0, b"")],
        lambda: [(1.0, ADDED[:9]), *[(1.0, b" ")] * 99],
        lambda: [(1.0, QUIET + ADDED[:9]), (99.0, b" ")],
    ],
    ids=["no content", "no content, once", "half an event", "an event and a half"],
)
def test_a_watch_that_brings_bytes_but_no_event_is_reported_after_30_seconds(
    bytes_of: Callable[[], list[tuple[float, bytes]]],
) -> None:
    stage = Stage([LIST, *bytes_of()])
    stage.reflector.step()
    assert [why for _, why in stage.reports] == [NO_EVENT]
    assert 31 <= stage.reports[0][0] <= 36


def test_the_report_is_withdrawn_with_the_next_event() -> None:
    stage = Stage([LIST, (1.0, ADDED[:9]), (50.0, ADDED[9:]), (9.0, QUIET)])
    stage.reflector.step()
    assert stage.reports == [(35.0, NO_EVENT), (51.0, "")]


def test_a_slow_event_of_less_than_30_seconds_is_not_reported() -> None:
    slow = [(10.0, ADDED[:9]), (20.0, ADDED[9:])]
    stage = Stage([LIST, *slow * 4])
    stage.reflector.step()
    assert stage.reports == []


def test_a_list_that_does_not_end_is_reported_while_its_objects_come() -> None:
    stage = Stage([*[(2.0, ADDED)] * 30, (1.0, LIST_ENDS), (60.0, QUIET)])
    stage.reflector.step()
    assert stage.reports == [(30.0, NO_END), (61.0, "")]


def test_a_list_that_falls_silent_is_reported() -> None:
    stage = Stage([(0.0, ADDED), (140.0, LIST_ENDS)])
    stage.reflector.step()
    assert stage.reports == [(30.0, NO_END), (140.0, "")]


def test_only_the_marked_bookmark_ends_a_list() -> None:
    stage = Stage([(0.0, ADDED), (20.0, QUIET), (20.0, LIST_ENDS)])
    stage.reflector.step()
    assert stage.reports == [(30.0, NO_END), (40.0, "")]


def test_the_error_that_ended_a_stream_replaces_the_report() -> None:
    stage = Stage([(0.0, ADDED), (100.0, b"")])
    stage.reflector.step()
    (_, stalled), (_, ended) = stage.reports
    assert stalled == NO_END
    assert "the stream ended before its list was complete" in ended
    stage.pass_time(60.0)
    assert len(stage.reports) == 2, "no stream is there that could go on"


def test_a_new_stream_has_a_time_of_its_own() -> None:
    stage = Stage([LIST, (1.0, b""), (25.0, b"")], [(20.0, b""), (25.0, QUIET)])
    stage.reflector.step()
    stage.reflector.step()
    assert stage.reports == []
