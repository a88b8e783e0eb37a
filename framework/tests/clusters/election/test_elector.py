"""A leader election runs in a thread against a server."""

from collections.abc import Mapping
from email.message import Message

import pytest

from quaymaster.config import LeaderElection
from tests.kit.elections import LeaseServer
from tests.kit.fake_api_server import ApiRefusal, fake_api_server
from tests.kit.internals.election import (
    Ask,
    Candidate,
    Fence,
    HeldLease,
    LeaderElector,
    boot_seconds,
    election_client,
    new_identity,
)
from tests.kit.internals.kubernetes import Access, Answer, ApiClient, ApiError

ACCESS = Access(name="here", server="http://127.0.0.1:1")
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"


class LeaseClient(ApiClient):
    """A client of a server in this process."""

    def __init__(self, server: LeaseServer) -> None:
        super().__init__(ACCESS)
        self.server = server

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: bytes = b"",
        content_type: str = "application/json",
    ) -> Answer:
        answer = self.server.answer(Ask(method, path, body))
        if isinstance(answer, ApiError):
            raise answer
        assert isinstance(answer, bytes)
        return Answer(200, answer, Message())


def test_elector_leads_until_it_is_stopped() -> None:
    server = LeaseServer()
    writes: list[bool] = []

    def lead(held: HeldLease) -> None:
        writes.append(elector.fence.may_write())
        assert held.resource_version == "7"
        elector.stop()
        writes.append(elector.fence.may_write())

    candidate = Candidate(identity="a", on_started=lead, on_lost=pytest.fail)
    elector = LeaderElector(LeaseClient(server), LeaderElection(), candidate)
    elector.run()
    assert writes == [True, False]
    assert server.methods == ["GET", "POST", "GET", "PUT"]
    assert server.spec["holderIdentity"] == ""


def test_fence_is_shut_if_the_election_breaks() -> None:
    def broken(_: HeldLease) -> None:
        raise RuntimeError("broken")

    candidate = Candidate(identity="a", on_started=broken, on_lost=pytest.fail)
    elector = LeaderElector(LeaseClient(LeaseServer()), LeaderElection(), candidate)
    with pytest.raises(RuntimeError):
        elector.run()
    assert not elector.fence.may_write()


def test_429_of_the_server_does_not_delay_the_election() -> None:
    with fake_api_server() as server:
        server.refusals[LEASE] = [ApiRefusal(429, headers={"Retry-After": "3600"})]
        access = Access(name="here", server=server.url)
        client = election_client(access, LeaderElection())
        with pytest.raises(ApiError, match="requests a delay"):
            client.get(LEASE)
        client.close()


def test_fence_without_an_election_is_open() -> None:
    assert Fence.always_open().may_write()


def test_clock_of_the_fence_goes_on() -> None:
    assert boot_seconds() <= boot_seconds()


def test_each_identity_belongs_to_one_process() -> None:
    assert new_identity() != new_identity()
