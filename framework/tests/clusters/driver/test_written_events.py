"""Events become API objects, and repeated events become a series."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.kit.internals.outbound import Events, Note, Reference, Request, Response


class World:
    """Events in virtual time, and the requests that write them."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.25
        self.requests: list[Request] = []
        self.answers: list[Callable[[Response], None]] = []
        self.is_quick = True
        self.events = Events(self._take, now=lambda: self.now, host="here")

    def _take(self, request: Request, answered: Callable[[Response], None]) -> None:
        self.requests.append(request)
        self.answers.append(answered)

    def note(self, text: str = "no room", *, version: str = "7") -> None:
        pod = Reference("v1", "Pod", "team", "web", "uid-1", version)
        reason, action = "FailedScheduling", "Scheduling"
        note = Note(pod, "Warning", reason, action, text, "default-scheduler")
        self.events.note(note)
        if self.is_quick:
            self.events.make(lambda: True)

    def wait(self, seconds: float) -> None:
        """Let time pass while the events are maintained each second."""
        for _ in range(int(seconds)):
            self.now += 1
            self.events.look()
            self.events.make(lambda: True)

    @property
    def written(self) -> list[tuple[str, Any]]:
        """Return method and content of the requests."""
        return [(request.method, json.loads(request.body)) for request in self.requests]


def test_event_has_the_fields_that_kube_scheduler_writes() -> None:
    world = World()
    world.note()
    ((method, tree),) = world.written
    assert world.requests[0].target == "/apis/events.k8s.io/v1/namespaces/team/events"
    assert method == "POST"
    name = tree["metadata"].pop("name")
    assert name == f"web.{int(world.now * 1e9):x}"
    assert tree == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": "team"},
        "eventTime": "2023-11-14T22:13:20.250000Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-here",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "team",
            "name": "web",
            "uid": "uid-1",
            "resourceVersion": "7",
        },
        "note": "no room",
        "type": "Warning",
    }


def test_second_event_makes_a_series_and_further_ones_are_counted() -> None:
    world = World()
    for text in ("no room", "still no room", "no room", "no room"):
        world.note(text)
    (_, first), (method, patch) = world.written
    assert method == "PATCH"
    assert world.requests[1].target.endswith(f"/events/{first['metadata']['name']}")
    assert patch == {
        "series": {"count": 2, "lastObservedTime": "2023-11-14T22:13:20.250000Z"}
    }


def test_series_that_has_ended_is_written_once_more_and_forgotten() -> None:
    world = World()
    for _ in range(5):
        world.note()
    world.wait(400)
    assert world.written[-1][1]["series"]["count"] == 5
    count = len(world.requests)
    world.wait(4000)
    assert len(world.requests) == count
    world.note()
    assert world.written[-1][0] == "POST"


def test_series_that_goes_on_is_written_every_half_an_hour() -> None:
    world = World()
    for _ in range(70):
        world.note()
        world.wait(60)
    patches = [tree["series"]["count"] for method, tree in world.written[1:]]
    assert patches == [2, 32, 62]


def test_object_that_has_changed_begins_another_event() -> None:
    world = World()
    world.note()
    world.note(version="8")
    assert [method for method, _ in world.written] == ["POST", "POST"]
    names = {tree["metadata"]["name"] for _, tree in world.written}
    assert len(names) == 2


def test_series_whose_event_is_gone_is_created_again() -> None:
    world = World()
    world.note()
    world.note()
    world.answers[1](Response(-2, 404, why="gone"))
    method, tree = world.written[2]
    assert (method, tree["series"]["count"]) == ("POST", 2)


@pytest.mark.long
def test_number_of_kept_series_is_limited() -> None:
    world = World()
    for version in range(20_001):
        world.note(version=str(version))
    world.requests.clear()
    world.note(version="1")
    world.note(version="0")
    assert [request.method for request in world.requests] == ["PATCH", "POST"]


def test_events_that_wait_keep_their_time_and_become_one_series() -> None:
    world = World()
    world.is_quick = False
    for _ in range(3):
        world.note()
    assert world.written == []
    world.now += 30.0
    world.events.make(lambda: True)
    (_, first), (_, patch) = world.written
    assert first["eventTime"] == "2023-11-14T22:13:20.250000Z"
    assert patch["series"]["lastObservedTime"] == "2023-11-14T22:13:20.250000Z"


def test_no_more_requests_are_made_than_the_lane_accepts() -> None:
    world = World()
    world.is_quick = False
    for version in range(5):
        world.note(version=str(version))
    world.events.make(lambda: len(world.requests) < 2)
    assert len(world.requests) == 2
    assert not world.events.is_empty


@pytest.mark.long
def test_oldest_waiting_events_are_dropped_beyond_the_limit() -> None:
    world = World()
    world.is_quick = False
    for version in range(10_003):
        world.note(version=str(version))
    world.events.make(lambda: True)
    assert (len(world.requests), world.events.dropped) == (10_000, 3)
