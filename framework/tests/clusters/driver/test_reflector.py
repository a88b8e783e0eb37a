"""The engine's copy of a resource equals the server's, whatever goes wrong."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod
from quaymaster.objects import PodDisruptionBudget
from tests.kit.following import Following, version_of
from tests.kit.scripted_server import Ending, ScriptedServer


def test_a_watch_begins_with_all_objects_if_the_server_supports_it() -> None:
    server = ScriptedServer()
    server.put("a")
    server.put("b")
    server.waiting.append(lambda: server.put("c"))
    following = Following(server)
    following.step()
    assert following.changes.lines == ["added a", "added b", "added c"]
    [query] = server.queries
    assert query == {
        "watch": 1,
        "allowWatchBookmarks": "true",
        "timeoutSeconds": 300,
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }


def test_pages_are_listed_where_such_watches_are_refused() -> None:
    server = ScriptedServer(offers_lists_by_watch=False)
    for number in range(501):
        server.put(f"p{number}")
    following = Following(server)
    following.step()
    assert len(following.changes.objects) == 501
    assert [query.get("limit") for query in server.queries] == [None, 500, 500]
    assert following.waits == []


def test_such_watches_are_not_tried_again_after_a_rejection() -> None:
    server = ScriptedServer(offers_lists_by_watch=False)
    following = Following(server)
    following.step()
    server.put("a")
    server.forget()
    following.step(3)
    assert following.names() == ["a"]
    assert ["sendInitialEvents" in query for query in server.queries].count(True) == 1


def test_a_broken_watch_continues_where_it_was() -> None:
    server = ScriptedServer()
    server.put("a")
    following = Following(server)
    server.endings.append(Ending(is_cut=True))
    server.waiting.extend([lambda: server.put("b"), lambda: server.remove("a")])
    following.step()
    server.put("c")
    following.step()
    assert following.changes.lines == ["added a", "added b", "gone a", "added c"]
    assert following.waits == [0.8]
    assert [query.get("resourceVersion") for query in server.queries] == [None, "103"]


def test_a_line_that_was_cut_off_comes_again() -> None:
    server = ScriptedServer()
    following = Following(server)
    following.step()
    server.put("a")
    server.put("b")
    server.endings.append(Ending(after=1, is_cut=True))
    following.step(2)
    assert following.changes.lines == ["added a", "added b"]


def test_missed_changes_are_reported_after_the_watch_expired() -> None:
    server = ScriptedServer()
    for name in ("stays", "changes", "goes", "returns"):
        server.put(name)
    following = Following(server)
    following.step()
    following.changes.lines.clear()
    server.put("changes")
    server.remove("goes")
    server.remove("returns")
    server.put("returns")
    server.put("comes")
    server.forget()
    following.step(2)
    assert following.waits == []
    assert following.changes.lines == [
        "changed changes",
        "gone returns (missed)",
        "added returns",
        "added comes",
        "gone goes (missed)",
    ]


def test_versions_that_expire_again_at_once_are_waited_for() -> None:
    server = ScriptedServer()
    following = Following(server)
    following.step()
    server.endings.extend([Ending(code=410), Ending(), Ending(code=410)])
    following.step(3)
    assert following.waits == [0.8]


@pytest.mark.parametrize("code", [410, 500, 504])
def test_an_error_in_the_stream_leads_to_a_new_list(code: int) -> None:
    server = ScriptedServer()
    server.put("a")
    following = Following(server)
    server.endings.append(Ending(code=code))
    following.step()
    server.remove("a")
    following.step()
    assert following.changes.lines == ["added a", "gone a (missed)"]
    assert "sendInitialEvents" in server.queries[-1]


def test_a_stream_with_retry_after_leads_to_no_new_list() -> None:
    server = ScriptedServer()
    following = Following(server)
    following.step()
    server.endings.append(Ending(code=429, seconds=7))
    following.step()
    server.put("a")
    following.step()
    assert following.names() == ["a"]
    assert following.waits == [7]
    assert "sendInitialEvents" not in server.queries[-1]


def test_a_line_that_is_not_json_leads_to_a_new_list() -> None:
    server = ScriptedServer()
    following = Following(server)
    following.step()
    server.endings.append(Ending(is_garbage=True))
    following.step()
    assert "the server sent invalid data" in following.followed.trouble
    following.step()
    assert "sendInitialEvents" in server.queries[-1]


def test_a_stream_that_ends_early_does_not_complete_a_list() -> None:
    server = ScriptedServer()
    server.put("a")
    server.put("b")
    following = Following(server)
    server.endings.append(Ending(after=1))
    following.step()
    assert following.changes.lines == []
    assert not following.informers.has_listed
    assert following.waits == [0.8]
    server.remove("a")
    following.step()
    assert following.changes.lines == ["added b"]
    assert "limit" in server.queries[-1], "pages may do where such a watch does not"
    assert following.informers.has_listed


def test_pages_that_expire_are_read_again_from_the_start() -> None:
    server = ScriptedServer(offers_lists_by_watch=False, expired_pages=1)
    for number in range(600):
        server.put(f"p{number}")
    server.waiting.append(lambda: server.remove("p0"))
    following = Following(server)
    following.step()
    assert len(following.changes.objects) == 599
    assert len(following.changes.lines) == 599


def test_a_list_from_a_replica_that_lags_takes_nothing_back() -> None:
    server = ScriptedServer()
    server.put("a")
    following = Following(server)
    following.step()
    server.remove("a")
    server.put("b")
    following.step()
    server.endings.append(Ending(code=500))
    server.lag = 2
    following.step(2)
    assert following.changes.lines == ["added a", "gone a", "added b"]
    assert (
        following.followed.trouble
        == "the list is older than the objects that were received before"
    )
    following.step()
    assert following.followed.trouble == ""
    assert following.names() == ["b"]


def test_waits_double_up_to_half_a_minute_and_restart_after_two() -> None:
    server = ScriptedServer()
    server.refusals.extend([500] * 14)
    following = Following(server)
    following.step(7)
    assert following.waits == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0]
    following.step()
    following.seconds += 121
    server.refusals.append(500)
    following.step()
    assert following.waits[7:] == [0.8]


def test_waits_restart_once_a_watch_has_worked_for_long() -> None:
    server = ScriptedServer()
    following = Following(server)
    following.step()
    server.refusals.extend([500] * 3)
    following.step(3)

    def later() -> None:
        following.seconds += 11
        server.put("a")

    server.waiting.append(later)
    following.step()
    server.refusals.append(500)
    following.step()
    assert following.waits == [0.8, 1.6, 3.2, 0.8]


@pytest.mark.parametrize(("code", "ends"), [(500, True), (403, False), (404, False)])
def test_only_waits_for_a_server_that_is_away_end_when_it_is_back(
    code: int, ends: bool
) -> None:
    server = ScriptedServer()
    server.refusals.extend([code] * 2)
    following = Following(server)
    following.step()
    assert following.waits == [0.8]
    assert following.waits_for_server == ([0.8] if ends else [])


def test_a_watch_that_ends_at_once_again_and_again_is_waited_for() -> None:
    following = Following(ScriptedServer())
    following.step(4)
    assert following.waits == [0.8, 1.6, 3.2]


def test_a_problem_is_reported_once_until_it_is_over() -> None:
    server = ScriptedServer()
    server.refusals.extend([403] * 6)
    following = Following(server)
    following.step(3)
    assert following.followed.trouble.endswith("refused")
    assert not following.informers.has_listed
    assert len(following.messages) == 1
    following.step()
    assert following.followed.trouble == ""
    assert following.informers.has_listed


def test_a_kind_that_the_server_does_not_have_is_empty() -> None:
    server = ScriptedServer()
    server.refusals.extend([404] * 4)
    following = Following(server, PodDisruptionBudget)
    following.step(2)
    assert following.followed.is_absent
    assert following.informers.has_listed
    server.put("a")
    following.step()
    assert not following.followed.is_absent
    assert following.changes.lines == ["added a"]
    server.refusals.extend([410, 404, 404])
    following.step(2)
    assert following.changes.lines == ["added a", "gone a (missed)"]


def test_a_pod_that_cannot_be_read_is_named_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = ScriptedServer()
    server.put("good")
    server.put("bad", spec={"containers": 5})
    following = Following(server)
    server.waiting.append(lambda: server.put("bad", spec={"containers": 6}))
    server.waiting.append(lambda: server.put("next"))
    following.step()
    assert following.names() == ["good", "next"]
    assert following.followed.unreadable == 1
    [record] = caplog.records
    assert "pods default/bad cannot be read and is skipped: " in record.message
    server.put("bad")
    following.step()
    assert following.names() == ["bad", "good", "next"]
    assert following.followed.unreadable == 0


def test_a_pending_pod_that_becomes_unreadable_is_not_scheduled() -> None:
    server = ScriptedServer()
    server.put("pending")
    server.put("placed", spec={"nodeName": "n"})
    following = Following(server)
    following.step()
    server.put("pending", spec={"containers": 5})
    server.put("placed", spec={"nodeName": "n", "containers": 5})
    following.step()
    assert following.names() == ["placed"]
    assert following.followed.unreadable == 2
    server.remove("placed")
    server.remove("pending")
    following.step()
    assert following.names() == []
    assert following.followed.unreadable == 0


def test_pods_of_one_template_send_their_spec_once() -> None:
    server = ScriptedServer()
    spec = {"containers": [{"name": "c", "image": "i", "env": [{"name": "A"}]}]}
    for number in range(100):
        server.put(f"p{number}", spec={**spec, "nodeName": f"n{number}"})
    following = Following(server)
    following.step()
    specs = {id(pod.spec) for pod in following.informers.list(Pod)}
    assert len(specs) == 1


NAMES = st.sampled_from("abcd")
WRITES = st.one_of(
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("remove"), NAMES),
    st.just(("forget", "")),
)
ENDINGS = st.builds(
    Ending,
    after=st.integers(0, 6) | st.just(99),
    code=st.sampled_from([0, 0, 0, 410, 429, 500, 504]),
    is_cut=st.booleans(),
    is_garbage=st.sampled_from([False, False, False, True]),
    repeats=st.booleans(),
)


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what happens before and during a request, and its outcome."""
    return {
        "before": draw(st.lists(WRITES, max_size=4)),
        "during": draw(st.lists(WRITES, max_size=4)),
        "ending": draw(ENDINGS),
        "refusal": draw(st.sampled_from([0, 0, 0, 0, 403, 404, 410, 429, 500])),
        "lag": draw(st.sampled_from([0, 0, 0, 1, 3])),
        "expired_pages": draw(st.sampled_from([0, 0, 1])),
    }


def play(server: ScriptedServer, write: tuple[str, str]) -> None:
    what, name = write
    if what == "put":
        server.put(name)
    elif what == "remove":
        server.remove(name)
    else:
        server.forget()


@given(st.lists(rounds(), max_size=8), st.booleans())
def test_copy_finally_equals_the_server_whatever_happened(
    script: list[dict[str, Any]], offers_lists_by_watch: bool
) -> None:
    server = ScriptedServer(offers_lists_by_watch=offers_lists_by_watch, page=2)
    following = Following(server)
    for round_ in script:
        for write in round_["before"]:
            play(server, write)
        server.waiting.extend(partial(play, server, step) for step in round_["during"])
        server.endings.append(round_["ending"])
        server.refusals.append(round_["refusal"])
        server.lag = round_["lag"] or server.lag
        server.expired_pages = round_["expired_pages"] or server.expired_pages
        following.step()
    server.endings.clear()
    server.refusals.clear()
    server.lag = server.expired_pages = 0
    following.settle()
    assert {key: version_of(obj) for key, obj in following.changes.objects.items()} == {
        key: int(tree["metadata"]["resourceVersion"])
        for key, tree in server.objects.items()
    }
