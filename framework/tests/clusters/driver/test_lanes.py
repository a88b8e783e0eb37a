"""Lanes: which requests are sent, repeated, or in doubt."""

import pytest

from tests.kit.internals.outbound import Lane, Lost, Reply
from tests.kit.roads import LOST, LaneRig, refusal_of

DONE = Reply(201)


def test_full_lane_delays_no_other_lane() -> None:
    rig = LaneRig(room=1)
    rig.ask(Lane.EVENT)
    rig.ask(Lane.EVENT)
    rig.ask(Lane.STATUS)
    rig.ask(Lane.BIND)
    rig.ask(Lane.READ, "GET")
    assert rig.targets == ["event/1", "status/3", "bind/4", "read/5"]


def test_waiting_requests_are_sent_in_order() -> None:
    rig = LaneRig(room=1)
    for _ in range(3):
        rig.ask(Lane.BIND)
    rig.answer(DONE)
    assert rig.targets == ["bind/2"]
    rig.answer(DONE)
    assert rig.targets == ["bind/3"]


def test_reads_and_binds_come_first_when_few_requests_may_be_sent() -> None:
    rig = LaneRig(qps=1.0, burst=1)
    rig.ask(Lane.STATUS)
    for lane in (Lane.STATUS, Lane.BIND, Lane.READ):
        rig.ask(lane, "GET" if lane is Lane.READ else "POST")
    for _ in range(3):
        rig.wait(1.0)
    assert rig.targets == ["status/1", "read/4", "bind/3", "status/2"]


def test_events_have_a_bucket_of_their_own() -> None:
    rig = LaneRig(qps=1.0, burst=1)
    rig.ask(Lane.EVENT)
    rig.ask(Lane.EVENT)
    rig.ask(Lane.BIND)
    assert rig.targets == ["event/1", "bind/3"]


def test_events_leave_one_at_a_time_while_binds_wait() -> None:
    rig = LaneRig(room=2)
    for _ in range(3):
        rig.ask(Lane.BIND)
    for _ in range(3):
        rig.ask(Lane.EVENT)
    assert rig.targets == ["bind/1", "bind/2", "event/4"]
    rig.answer(DONE)
    assert rig.targets == ["bind/2", "event/4", "bind/3", "event/5"]


def test_content_of_a_good_answer_is_handed_over() -> None:
    rig = LaneRig()
    call = rig.ask(Lane.READ, "GET")
    rig.answer(Reply(200, b"{}"))
    assert (rig.last.call, rig.last.body, rig.last.why) == (call, b"{}", "")


def test_429_delays_only_its_lane_for_the_time_of_the_answer() -> None:
    rig = LaneRig()
    rig.ask(Lane.BIND)
    rig.answer(refusal_of(429, headers={"retry-after": "3"}))
    rig.ask(Lane.BIND)
    rig.ask(Lane.STATUS)
    rig.wait(2.9)
    assert rig.targets == ["status/3"]
    rig.wait(0.2)
    assert rig.targets == ["status/3", "bind/1", "bind/2"]


def test_429_for_ever_is_an_error_after_ten_waits() -> None:
    rig = LaneRig()
    rig.ask(Lane.BIND)
    for _ in range(10):
        rig.answer(refusal_of(429))
        rig.wait(1.0)
    assert rig.answers == []
    rig.answer(refusal_of(429, "TooManyRequests", "slow down"))
    assert rig.last.why == "POST /bind/1: 429 TooManyRequests: slow down"
    assert not rig.last.is_in_doubt


@pytest.mark.parametrize("outcome", [LOST, refusal_of(500), refusal_of(504)])
def test_bind_that_may_have_taken_effect_is_in_doubt_and_not_repeated(
    outcome: Reply | Lost,
) -> None:
    rig = LaneRig()
    rig.ask(Lane.BIND)
    rig.answer(outcome)
    rig.wait(60.0)
    assert rig.sent == []
    assert rig.last.is_in_doubt


def test_conflict_of_a_bind_is_in_doubt() -> None:
    # A proxy may have sent it twice, or answered 429 for a bind that came
    # through. The pod itself shows its node.
    rig = LaneRig()
    rig.ask(Lane.BIND)
    rig.answer(refusal_of(409, "Conflict", "is already assigned"))
    assert rig.last.is_in_doubt


def test_unsent_request_is_sent_on_another_connection() -> None:
    rig = LaneRig()
    rig.ask(Lane.BIND)
    rig.answer(Lost("closed", is_sent=False))
    assert rig.targets == ["bind/1"]
    assert rig.answers == []


def test_unreachable_server_is_retried_for_a_while() -> None:
    rig = LaneRig()
    rig.cut_off("connection refusal_of")
    rig.ask(Lane.BIND)
    rig.wait(9.0)
    assert rig.answers == []
    rig.wait(2.0)
    assert (rig.last.why, rig.last.is_in_doubt) == ("connection refusal_of", False)


@pytest.mark.parametrize("method", ["PATCH", "GET"])
def test_repeatable_request_is_sent_again_after_a_pause(method: str) -> None:
    rig = LaneRig()
    rig.ask(Lane.STATUS, method, may_repeat=True)
    rig.answer(refusal_of(500))
    assert rig.sent == []
    rig.wait(0.3)
    rig.answer(LOST)
    rig.wait(0.6)
    rig.answer(DONE)
    assert [answer.why for answer in rig.answers] == [""]


def test_repeated_request_without_success_is_an_error_in_the_end() -> None:
    rig = LaneRig()
    rig.ask(Lane.STATUS, "PATCH", may_repeat=True)
    for _ in range(100):
        if rig.sent:
            rig.answer(refusal_of(503))
        rig.wait(1.0)
    assert [answer.code for answer in rig.answers] == [503]


def test_repeated_delete_that_finds_nothing_was_done() -> None:
    rig = LaneRig()
    rig.ask(Lane.STATUS, "DELETE", may_repeat=True)
    rig.answer(LOST)
    rig.wait(1.0)
    rig.answer(refusal_of(404, "NotFound"))
    assert rig.last.why == ""


def test_delete_that_finds_nothing_at_once_is_an_error() -> None:
    rig = LaneRig()
    rig.ask(Lane.STATUS, "DELETE", may_repeat=True)
    rig.answer(refusal_of(404, "NotFound"))
    assert rig.last.code == 404


def test_401_is_tried_once_more_with_other_credentials() -> None:
    rig = LaneRig()
    rig.ask(Lane.BIND)
    rig.answer(refusal_of(401))
    rig.answer(refusal_of(401, "Unauthorized"))
    assert [answer.code for answer in rig.answers] == [401]
    assert not rig.last.is_in_doubt


def test_write_is_not_sent_behind_a_closed_fence() -> None:
    rig = LaneRig()
    rig.may_write = False
    rig.ask(Lane.BIND)
    rig.ask(Lane.READ, "GET")
    assert rig.targets == ["read/2"]
    assert rig.last.why == "not sent: this process does not hold the lease"
    assert not rig.last.is_in_doubt


def test_fence_is_checked_when_a_write_is_sent_and_not_when_it_is_queued() -> None:
    rig = LaneRig(room=1)
    rig.ask(Lane.BIND)
    rig.ask(Lane.BIND)
    rig.may_write = False
    rig.answer(DONE)
    assert rig.sent == []
    assert [answer.code for answer in rig.answers] == [201, 0]


def test_requests_with_the_same_key_are_sent_one_after_the_other() -> None:
    rig = LaneRig()
    rig.ask(Lane.STATUS, "PATCH", key="pod")
    rig.ask(Lane.STATUS, "PATCH", key="pod")
    rig.ask(Lane.STATUS, "PATCH", key="other")
    assert rig.targets == ["status/1", "status/3"]
    rig.answer(DONE)
    assert rig.targets == ["status/3", "status/2"]


def test_bind_waits_for_the_patch_of_its_pod_that_is_under_way() -> None:
    rig = LaneRig()
    rig.ask(Lane.STATUS, "PATCH", key="pod")
    rig.ask(Lane.BIND, key="pod")
    assert rig.targets == ["status/1"]
    rig.answer(DONE)
    assert rig.targets == ["bind/2"]


def test_bind_replaces_unsent_patches_of_its_pod() -> None:
    rig = LaneRig(room=1)
    rig.ask(Lane.STATUS, "PATCH")
    rig.ask(Lane.STATUS, "PATCH", key="pod")
    rig.ask(Lane.BIND, key="pod")
    assert rig.targets == ["status/1", "bind/3"]
    assert (rig.last.call, rig.last.why) == (2, "")
    rig.answer(DONE)
    assert rig.targets == ["bind/3"]


def test_lane_accepts_more_requests_until_eight_wait() -> None:
    rig = LaneRig(room=1)
    wanted = []
    for _ in range(10):
        wanted.append(rig.lanes.is_short_of(Lane.EVENT))
        rig.ask(Lane.EVENT)
    assert wanted == [True] * 9 + [False]


def test_process_that_ends_sends_what_waits_until_its_time_is_over() -> None:
    rig = LaneRig(room=1)
    for _ in range(3):
        rig.ask(Lane.BIND)
    rig.lanes.leave(5.0)
    rig.answer(DONE)
    rig.wait(5.1)
    assert rig.targets == ["bind/2"]
    assert rig.last.why == "not sent: this process is about to end"
    assert not rig.lanes.is_empty
    rig.answer(DONE)
    assert rig.lanes.is_empty
