"""The health of a scheduler's process."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from tests.kit.internals.operation import EngineProbe, Readiness, health

T = TypeVar("T")


class Engine:
    """Answers at once and has these unlisted kinds."""

    def __init__(self, *kinds: str, is_stuck: bool = False) -> None:
        self.kinds = kinds
        self.is_stuck = is_stuck

    def unlisted(self) -> Sequence[str]:
        return self.kinds

    def ask(self, call: Callable[[], T], /) -> Future[T]:
        answer: Future[T] = Future()
        if not self.is_stuck:
            answer.set_result(call())
        return answer


def get_page(engine: Engine, readiness: Readiness, path: str) -> tuple[int, str]:
    pages = health(readiness, EngineProbe(engine, 0.001), engine)
    reply = pages[path]({"verbose": [""]})
    return reply.status, reply.body.decode()


def test_scheduler_that_has_listed_the_cluster_is_ready() -> None:
    assert get_page(Engine(), Readiness(), "/readyz") == (
        200,
        (
            "[+]ping ok\n[+]leaderElection ok\n[+]shutdown ok\n[+]informer-sync ok\n"
            "[+]sched-handler-sync ok\n[+]io-process ok\nreadyz check passed\n"
        ),
    )


def test_scheduler_is_not_ready_before_all_is_listed() -> None:
    engine = Engine("Node", "Pod", "Service", "Namespace")
    status, text = get_page(engine, Readiness(), "/readyz")
    assert status == 500
    assert "[-]informer-sync failed: reason withheld\n" in text
    assert get_page(engine, Readiness(), "/readyz/informer-sync") == (
        500,
        "internal server error: not listed yet: Node, Pod, Service and 1 more\n",
    )


def test_kinds_that_cannot_be_listed_are_named_first_with_the_reason() -> None:
    engine = Engine("Node", "Pod", "Service", "Namespace")
    readiness = Readiness(troubles=lambda: {"Namespace": "refused", "Lease": "refused"})
    assert get_page(engine, readiness, "/readyz/informer-sync")[1] == (
        "internal server error: not listed yet: Namespace (refused), Node, Pod and 1 "
        "more\n"
    )


def test_replica_that_waits_for_the_lease_is_ready() -> None:
    readiness = Readiness(is_leading=lambda: False)
    assert get_page(Engine("Pod"), readiness, "/readyz")[0] == 200


def test_process_that_ends_is_not_ready_but_alive() -> None:
    readiness = Readiness(is_stopping=lambda: True)
    assert get_page(Engine(), readiness, "/readyz")[0] == 500
    assert get_page(Engine(), readiness, "/livez")[0] == 200


def test_stuck_engine_fails_the_engine_checks() -> None:
    engine = Engine(is_stuck=True)
    for path in ("/livez", "/healthz"):
        status, text = get_page(engine, Readiness(), path)
        assert status == 500
        assert "[-]engine failed: reason withheld\n" in text


def test_lost_lease_and_lost_connections_are_reported() -> None:
    readiness = Readiness(
        lease_problem=lambda: "not renewed for 20 s", io_problem=lambda: "it has ended"
    )
    assert get_page(Engine(), readiness, "/healthz") == (
        500,
        (
            "[+]ping ok\n[-]leaderElection failed: reason withheld\n[+]engine ok\n"
            "[-]io-process failed: reason withheld\nhealthz check failed\n"
        ),
    )
