"""The authorities that a cluster trusts are read from its ConfigMap."""

import json

import pytest

from quaymaster.cluster import ApiError, NotFoundError
from tests.kit.internals.kubernetes import ClusterAuthorities

PATH = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


class Server:
    """Returns the ConfigMap of the test, or rejects the request."""

    def __init__(self, data: dict[str, str]) -> None:
        self.data = data
        self.error: ApiError | None = None
        self.asked: list[str] = []

    def read(self, path: str) -> bytes:
        self.asked.append(path)
        if self.error is not None:
            raise self.error
        return json.dumps({"kind": "ConfigMap", "data": self.data}).encode()


def test_authorities_are_those_of_the_cluster_now() -> None:
    server = Server({"client-ca-file": "one", "requestheader-client-ca-file": "other"})
    authorities = ClusterAuthorities(server.read)
    assert authorities.text() == ""
    authorities.refresh()
    assert (server.asked, authorities.text()) == ([PATH], "one")
    server.data["client-ca-file"] = "two"
    authorities.refresh()
    assert authorities.text() == "two"


@pytest.mark.parametrize("error", [None, NotFoundError("no such ConfigMap")])
def test_cluster_without_authorities_is_not_an_error(
    error: ApiError | None, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server({"client-ca-file": "one"})
    authorities = ClusterAuthorities(server.read)
    authorities.refresh()
    server.data, server.error = {}, error
    authorities.refresh()
    assert (authorities.text(), caplog.messages) == ("", [])


def test_rejection_is_reported_once_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server({"client-ca-file": "one"})
    authorities = ClusterAuthorities(server.read)
    named = "the ConfigMap kube-system/extension-apiserver-authentication: no right"
    server.error = ApiError("no right")
    for _ in range(2):
        authorities.refresh()
    message = f"clients can authenticate only with tokens: {named}"
    assert caplog.messages == [message]
    server.error = None
    authorities.refresh()
    caplog.clear()
    server.error = ApiError("no right")
    authorities.refresh()
    assert authorities.text() == "one"
    message = f"the authorities of client certificates are not updated: {named}"
    assert caplog.messages == [message]


def test_answer_that_is_not_a_configmap_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    authorities = ClusterAuthorities(lambda _: b"[]")
    authorities.refresh()
    assert "Expected `object`, got `array`" in caplog.text
