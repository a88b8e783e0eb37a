"""Pods that stopped a scheduler: the lease names them, and they are tried last."""

import os
import threading
import time

import pytest

from quaymaster import Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.elections import ElectionWorld
from tests.kit.internals.driver import StackReader, Suspects, pause_seconds, place_in

KEY = "scheduling.quaymaster.io/unfinished-attempts"


def test_unfinished_attempts_are_counted_from_leader_to_leader() -> None:
    first, second, third = Suspects(), Suspects(), Suspects()
    first.suspect("u", "default/web", "in filter of plugin 'Stuck'")
    [inherited] = second.inherit(first.text())
    assert (inherited.pod, inherited.times) == ("default/web", 1)
    second.suspect("u", "default/web", "elsewhere")
    [again] = third.inherit(second.text())
    assert (again.times, again.where) == (2, "elsewhere")
    third.finished("u")
    assert third.text() == ""


def test_pods_that_are_not_tried_yet_stay_in_the_lease() -> None:
    first, second = Suspects(), Suspects()
    first.suspect("u", "default/web", "")
    second.inherit(first.text())
    second.suspect("v", "default/api", "")
    assert second.text().count("default/") == 2
    second.clear()
    assert second.text() == first.text()


@pytest.mark.parametrize("text", ["", "x", "{}", "[1]", "[" * 100_000])
def test_what_others_write_into_the_lease_does_no_harm(text: str) -> None:
    suspects = Suspects()
    assert suspects.inherit(text) == []
    assert suspects.text() == ""


def test_pauses_grow_up_to_an_hour() -> None:
    assert [pause_seconds(times) for times in (1, 2, 3, 99)] == [60, 120, 240, 3600]


def test_held_pod_is_tried_after_its_pause() -> None:
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(name="quay")])
    registry = PluginRegistry.discover()
    scheduler = Scheduler(cluster, default_config(registry), registry, clock=clock)
    held: list[tuple[str, float]] = []
    evil = cluster.create(make_pod(name="evil", namespace="default"))
    cluster.create(make_pod(name="web", namespace="default"))
    scheduler.queue.hold({evil.uid: 60.0}, lambda pod, s: held.append((pod.name, s)))
    scheduler.start()
    start = clock.now()
    while scheduler.turn():
        pass
    assert held == [("evil", 60.0)]
    assert cluster.get(Pod, "default/web").node_name == "quay"
    assert cluster.get(Pod, "default/evil").node_name == ""
    scheduler.settle()
    assert cluster.get(Pod, "default/evil").node_name == "quay"
    assert clock.now() - start >= 60
    scheduler.close()


def test_leader_removes_notes_that_no_longer_hold() -> None:
    world = ElectionWorld()
    world.start("a")
    world.elapse(5)
    assert world.server.lease is not None
    metadata = world.server.lease["metadata"]
    noted = {**metadata, "annotations": {KEY: "[]", "other": "x"}}
    world.server.store({**world.server.lease, "metadata": noted})
    world.elapse(10)
    assert world.server.lease["metadata"]["annotations"] == {"other": "x"}


STACK = """\
Current thread 0x1 (most recent call first):
  File "/site/acme/rules.py", line 12 in deep
  File "/site/acme/plugin.py", line 7 in filter
  File "<quaymaster guard of a hook with (pod) of (pod): filter>", line 4 in filter of Acme
  File "/site/quaymaster/_core/cycle/filtering.py", line 9 in run
"""  # noqa: E501 - as faulthandler writes it
PLACE = "in filter of plugin 'Acme' (rules.py:12)"


def test_plugin_is_found_in_a_stack() -> None:
    assert str(place_in(STACK)) == PLACE
    assert str(place_in("")) == "in the scheduler"


def test_stack_is_read_whole_however_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    writers = []

    def write() -> None:
        for line in STACK.splitlines(keepends=True):
            for part in line.partition("ter"):
                os.write(writer, part.encode())
                time.sleep(0)  # lets the reader run between two parts

    def start_to_write(*_: int) -> None:
        writers.append(threading.Thread(target=write))
        writers[-1].start()

    monkeypatch.setattr(os, "kill", start_to_write)
    stack = StackReader(os.getppid(), reader)
    for _ in range(20):
        assert str(stack.place()) == PLACE
        writers[-1].join()
    os.close(writer)
    os.close(reader)
