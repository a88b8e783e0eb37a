"""Hints with an index are called for few pods, and the same pods wake."""

from collections.abc import Hashable, Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    Change,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Node,
    Pod,
    QueueingHint,
    on_node,
)
from quaymaster.testing import make_node
from tests.kit.queue_rig import BACKOFF, UNSCHEDULABLE, QueueRig

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)


class Asking:
    """Wakes the pods of a node's team and records the calls of its hint."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def hint(self, pod: Pod, _old: Node | None, new: Node) -> QueueingHint:
        self.asked.append(pod.name)
        is_meant = pod.metadata.labels.get("team") == new.labels.get("team")
        return QueueingHint.QUEUE if is_meant else QueueingHint.SKIP

    def registered(self, *, indexed: bool = True) -> ClusterEventWithHint:
        plain = on_node(Change.ADD, self.hint)
        return plain.indexed(teams_of_pod, teams_of_change) if indexed else plain


def teams_of_pod(pod: Pod) -> Iterable[Hashable] | None:
    team = pod.metadata.labels.get("team")
    return None if team == "any" else (team,)


def teams_of_change(_old: Node | None, new: Node) -> Iterable[Hashable] | None:
    team = new.labels.get("team")
    return None if team == "any" else (team,)


def waiting(rig: QueueRig, team: str, name: str) -> None:
    rig.add_rejected(name)
    pod = rig.stored[f"default/{name}"]
    rig.store(replace(pod, metadata=replace(pod.metadata, labels={"team": team})))


def rig_of(asking: Asking, *, indexed: bool = True) -> QueueRig:
    return QueueRig(events={"A": [asking.registered(indexed=indexed)]}, initial=0.0)


def arrive(rig: QueueRig, team: str) -> None:
    rig.queue.move_all(NODE_ADD, None, make_node(labels={"team": team}))


def test_hint_is_called_only_for_pods_with_a_key_of_the_change() -> None:
    asking = Asking()
    rig = rig_of(asking)
    for team, name in (("red", "r1"), ("blue", "b1"), ("red", "r2")):
        waiting(rig, team, name)
    arrive(rig, "red")
    assert asking.asked == ["r1", "r2"]
    assert rig.where("b1") is UNSCHEDULABLE
    assert rig.where("r1") is rig.where("r2") is BACKOFF


def test_change_without_a_key_calls_the_hint_for_all_pods() -> None:
    asking = Asking()
    rig = rig_of(asking)
    for team, name in (("red", "r"), ("blue", "b")):
        waiting(rig, team, name)
    arrive(rig, "any")
    assert asking.asked == ["r", "b"]


def test_pod_without_a_key_calls_the_hint_for_every_change() -> None:
    asking = Asking()
    rig = rig_of(asking)
    for team, name in (("any", "x"), ("blue", "b")):
        waiting(rig, team, name)
    arrive(rig, "red")
    assert asking.asked == ["x"]


def test_updated_pod_is_found_by_its_new_key() -> None:
    asking = Asking()
    rig = rig_of(asking)
    waiting(rig, "red", "p")
    pod = rig.stored["default/p"]
    rig.store(replace(pod, metadata=replace(pod.metadata, labels={"team": "blue"})))
    arrive(rig, "red")
    assert asking.asked == []
    arrive(rig, "blue")
    assert asking.asked == ["p"]


def test_registration_without_an_index_calls_the_hint_for_all_pods() -> None:
    asking = Asking()
    every = [asking.registered(), asking.registered(indexed=False)]
    rig = QueueRig(events={"A": every}, initial=0.0)
    waiting(rig, "blue", "b")
    arrive(rig, "red")
    assert asking.asked == ["b", "b"]


@pytest.mark.parametrize("broken", ["pod", "change"])
def test_index_that_fails_leaves_out_no_pod(
    broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_args: object) -> Iterable[Hashable]:
        raise KeyError("team")

    asking = Asking()
    plain = asking.registered(indexed=False)
    indexed = (
        plain.indexed(fails, teams_of_change)
        if broken == "pod"
        else plain.indexed(teams_of_pod, fails)
    )
    rig = QueueRig(events={"A": [indexed]}, initial=0.0)
    waiting(rig, "blue", "b")
    arrive(rig, "blue")
    assert rig.where("b") is BACKOFF
    assert "index of plugin 'A' failed: KeyError: 'team'" in caplog.text


TEAMS = st.sampled_from(["red", "blue", "any", "none"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["wait", "relabel", "arrive", "drop"]), TEAMS),
    max_size=30,
)


def play(steps: Sequence[tuple[str, str]], *, indexed: bool) -> list[list[str]]:
    """Return the pods that are awake after each step, in their order."""
    rig, seen = rig_of(Asking(), indexed=indexed), []
    for number, (what, team) in enumerate(steps):
        held = [record for record in rig.queue if record.queue is UNSCHEDULABLE]
        first = min((record.pod.name for record in held), default="")
        if what == "arrive":
            arrive(rig, team)
        elif what == "wait" and not rig.queue.active():
            waiting(rig, team, f"p{number:02}")
        elif what == "relabel" and first:
            pod = rig.stored[f"default/{first}"]
            metadata = replace(pod.metadata, labels={"team": team})
            rig.store(replace(pod, metadata=metadata))
        elif what == "drop":
            while (queued := rig.queue.pop()) is not None:
                rig.queue.done(queued.pod.uid)
        awake = [*rig.queue.active(), *rig.queue.backing_off()]
        seen.append([record.pod.name for record in awake])
    return seen


@given(steps=STEPS)
def test_the_same_pods_wake_in_the_same_order_with_and_without_index(
    steps: list[tuple[str, str]],
) -> None:
    assert play(steps, indexed=True) == play(steps, indexed=False)
