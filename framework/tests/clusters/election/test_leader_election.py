"""A candidate acquires, renews and loses a lease, and reports its status."""

import json
from datetime import timedelta

import pytest

from quaymaster.config import LeaderElection
from tests.kit.elections import Contender, ElectionWorld
from tests.kit.internals.election import HeldLease


@pytest.fixture
def world() -> ElectionWorld:
    return ElectionWorld()


@pytest.fixture
def leader(world: ElectionWorld) -> Contender:
    contender = world.start("a")
    world.elapse(0)
    assert world.writers() == ["a"]
    return contender


def test_missing_lease_is_created(world: ElectionWorld) -> None:
    contender = world.start("a")
    world.elapse(0)
    assert world.server.methods == ["GET", "POST"]
    assert world.server.spec == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2023-11-14T22:13:20.000000Z",
        "renewTime": "2023-11-14T22:13:20.000000Z",
        "leaseTransitions": 0,
    }
    assert contender.started == [HeldLease("7", 0)]


def test_leader_renews_every_two_seconds_by_one_request(
    world: ElectionWorld, leader: Contender
) -> None:
    del world.server.methods[:]
    world.elapse(20)
    assert world.server.methods == ["PUT"] * 10
    assert world.server.spec["acquireTime"] == "2023-11-14T22:13:20.000000Z"
    assert world.server.spec["renewTime"] == "2023-11-14T22:13:40.000000Z"
    assert leader.started == [HeldLease("7", 0)]


def test_other_one_waits_for_as_long_as_it_sees_renewals(
    world: ElectionWorld, leader: Contender
) -> None:
    other = world.start("b", ahead=-1000.0)
    world.elapse(600)
    assert not other.started
    assert leader.fence.may_write()


def test_lease_of_a_killed_leader_is_taken_over_when_it_has_ended(
    world: ElectionWorld, leader: Contender
) -> None:
    other = world.start("b")
    world.elapse(1)
    leader.kill()
    world.elapse(13.9)
    assert not other.started
    world.elapse(2 * (1 + 1.2))
    assert other.started == [HeldLease("8", 1)]


@pytest.mark.parametrize("ahead", [-1e6, 1e6])
def test_clocks_of_two_machines_are_never_compared(
    world: ElectionWorld, leader: Contender, ahead: float
) -> None:
    leader.kill()
    world.elapse(60)
    other = world.start("b", ahead=ahead)
    world.elapse(14.9)
    assert not other.started
    world.elapse(2 * (1 + 1.2))
    assert other.started


def test_lost_answer_costs_one_read_of_the_lease(
    world: ElectionWorld, leader: Contender
) -> None:
    leader.network.loses_answers = True
    world.elapse(2)
    leader.network.loses_answers = False
    world.elapse(10)
    assert leader.fence.may_write()
    assert leader.statuses[-1].slow_renewals == 1


def test_lease_changed_by_another_client_is_renewed_with_the_change(
    world: ElectionWorld, leader: Contender
) -> None:
    assert world.server.lease is not None
    changed = json.loads(json.dumps(world.server.lease))
    changed["metadata"]["labels"] = {"team": "infra"}
    world.server.store(changed)
    world.elapse(30)
    assert leader.fence.may_write()
    assert world.server.lease["metadata"]["labels"] == {"team": "infra"}


@pytest.mark.parametrize("code", [403, 409, 429, 500])
def test_leader_that_is_refused_for_the_renew_deadline_has_lost_the_lease(
    world: ElectionWorld, leader: Contender, code: int
) -> None:
    world.server.refuses = code
    world.elapse(9.9)
    assert leader.fence.may_write()
    world.elapse(0.1)
    assert leader.lost == [f"not renewed for 10 seconds: here: {code}"]
    world.server.refuses = 0
    world.elapse(60)
    assert not leader.fence.may_write()
    assert len(leader.lost) == 1


def test_leader_without_an_api_server_has_lost_the_lease(
    world: ElectionWorld, leader: Contender
) -> None:
    leader.network.loses_requests = True
    world.elapse(15)
    assert leader.lost == ["not renewed for 10 seconds: here: no answer"]


def test_short_outage_costs_nothing(world: ElectionWorld, leader: Contender) -> None:
    world.server.refuses = 503
    world.elapse(7)
    world.server.refuses = 0
    world.elapse(60)
    assert leader.fence.may_write()
    assert not leader.lost


def test_lease_that_another_process_took_is_lost_at_once(
    world: ElectionWorld, leader: Contender
) -> None:
    assert world.server.lease is not None
    spec = {**world.server.spec, "holderIdentity": "b"}
    world.server.store({**world.server.lease, "spec": spec})
    world.elapse(2)
    assert leader.lost == ["it is held by b"]
    assert not leader.fence.may_write()
    assert world.server.spec["holderIdentity"] == "b"


def test_deleted_lease_is_created_again_by_its_holder(
    world: ElectionWorld, leader: Contender
) -> None:
    world.server.lease = None
    world.elapse(60)
    assert leader.fence.may_write()
    assert world.server.spec["holderIdentity"] == "a"


def test_lease_that_was_deleted_is_waited_for_by_the_others(
    world: ElectionWorld, leader: Contender
) -> None:
    other = world.start("b")
    world.elapse(1)
    leader.stand_still()
    world.server.lease = None
    world.elapse(14)
    assert not other.started
    world.elapse(10)
    assert other.started
    leader.wake()
    assert leader.lost


def test_lease_is_not_renewed_for_an_engine_that_stands_still(
    world: ElectionWorld, leader: Contender
) -> None:
    leader.is_alive = False
    world.elapse(10)
    reason = "the engine does not respond"
    assert leader.lost == [f"not renewed for 10 seconds: {reason}"]


def test_lease_is_not_acquired_for_an_engine_that_stands_still(
    world: ElectionWorld,
) -> None:
    contender = world.start("a", is_alive=False)
    world.elapse(60)
    assert world.server.methods == []
    contender.is_alive = True
    world.elapse(2 * (1 + 1.2))
    assert contender.started


def test_leader_that_is_stopped_releases_the_lease(
    world: ElectionWorld, leader: Contender
) -> None:
    other = world.start("b")
    world.elapse(30)
    leader.stop()
    assert not leader.fence.may_write()
    world.elapse(0)
    assert world.server.spec["holderIdentity"] == ""
    assert world.server.spec["leaseDurationSeconds"] == 1
    assert leader.has_ended
    assert not leader.lost
    world.elapse(2 * (1 + 1.2))
    assert other.started == [HeldLease("24", 1)]


def test_lease_of_another_process_is_not_released(
    world: ElectionWorld, leader: Contender
) -> None:
    assert world.server.lease is not None
    spec = {**world.server.spec, "holderIdentity": "b"}
    world.server.store({**world.server.lease, "spec": spec})
    leader.stop()
    world.elapse(0)
    assert world.server.spec["holderIdentity"] == "b"


def test_fence_closes_by_time_alone(world: ElectionWorld, leader: Contender) -> None:
    world.elapse(1)
    leader.stand_still()
    world.elapse(8.9)
    assert leader.fence.may_write()
    world.elapse(0.1)
    assert not leader.fence.may_write()
    world.elapse(60)
    leader.wake()
    world.elapse(0)
    assert not leader.fence.may_write()
    assert len(leader.lost) == 1


def test_renewal_counts_from_before_its_request(
    world: ElectionWorld, leader: Contender
) -> None:
    leader.network.back = 4.0
    world.elapse(6)  # renewed, by a request sent at 2
    leader.network.loses_requests = True
    world.elapse(5.9)
    assert leader.fence.may_write()
    world.elapse(0.1)
    assert not leader.fence.may_write()


def test_renewal_that_is_answered_after_the_deadline_comes_too_late(
    world: ElectionWorld, leader: Contender
) -> None:
    world.server.refuses = 500
    world.elapse(7.9)
    world.server.refuses, leader.network.back = 0, 4.0
    world.elapse(4.1)
    assert leader.lost == ["not renewed for 10 seconds: the response was too late"]
    assert not leader.fence.may_write()


def test_times_and_names_are_those_of_the_settings() -> None:
    settings = LeaderElection(
        lease_duration=timedelta(seconds=3.5),
        renew_deadline=timedelta(seconds=3),
        retry_period=timedelta(seconds=1),
        resource_name="mine",
        resource_namespace="here",
    )
    world = ElectionWorld(settings)
    contender = world.start("a")
    world.elapse(3)
    assert world.server.methods == ["GET", "POST", "PUT", "PUT", "PUT"]
    assert world.server.lease is not None
    assert world.server.lease["metadata"]["name"] == "mine"
    assert world.server.lease["metadata"]["namespace"] == "here"
    assert world.server.spec["leaseDurationSeconds"] == 4
    assert contender.statuses[-1].name == "mine"
    world.server.refuses = 500
    world.elapse(3)
    assert contender.lost


def test_status_names_the_leader(world: ElectionWorld, leader: Contender) -> None:
    other = world.start("b")
    world.elapse(10)
    leader.kill()
    world.elapse(30)
    states = [
        (status.is_leader, status.leader, status.transitions)
        for status in other.statuses
    ]
    assert states == [(False, "", 0), (False, "a", 0), (True, "b", 1)]
