"""A silent process that should renew the lease is a problem."""

from tests.kit.internals.driver import Election, LeaseHealth

ELECTION = Election("me", "quaymaster", "kube-system", 15.0, 10.0, 2.0)


def test_silence_for_longer_than_a_lease_is_valid_is_a_problem() -> None:
    now = [100.0]
    health = LeaseHealth(ELECTION, lambda: now[0])
    now[0] += 35.0
    assert health.problem() == ""
    now[0] += 1.0
    assert health.problem() == (
        "no renewal of the lease kube-system/quaymaster was reported for 36 s"
    )
    health.note_message()
    assert health.problem() == ""


def test_without_an_election_silence_is_not_a_problem() -> None:
    now = [100.0]
    health = LeaseHealth(None, lambda: now[0])
    now[0] += 1000.0
    assert health.problem() == ""
