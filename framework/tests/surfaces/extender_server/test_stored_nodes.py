"""Clients cannot make the extender store nodes without end."""

import json
from collections.abc import Iterable

import pytest

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.extender_server import (
    Body,
    ExtenderService,
    NodesRequest,
    RequestReader,
    StoredNodes,
)
from tests.kit.internals.state import Snapshot

POD = {"metadata": {"name": "p", "namespace": "d"}, "spec": {}}


def request(names: Iterable[str], annotation: str = "") -> NodesRequest:
    nodes = [
        {"metadata": {"name": name, "annotations": {"a": annotation}}} for name in names
    ]
    items = {"metadata": {}, "items": nodes}
    text = json.dumps({"Pod": POD, "Nodes": items, "NodeNames": None})
    return RequestReader().read(Body.of(text.encode()))


def stored(*requests: NodesRequest, most_nodes: int = 100, most_bytes: int) -> set[str]:
    snapshot = Snapshot()
    snapshot.add_node(make_node(name="own"))
    nodes = StoredNodes(snapshot, {"own"}, most_nodes=most_nodes, most_bytes=most_bytes)
    for each in requests:
        nodes.store(each)
    return {info.name for info in snapshot.nodes}


def test_nodes_of_all_requests_are_stored() -> None:
    names = stored(request("ab"), request("c"), most_bytes=10_000)
    assert names == {"own", "a", "b", "c"}


def test_nodes_of_earlier_requests_are_removed_if_there_are_too_many() -> None:
    names = stored(request("abc"), request("de"), most_nodes=2, most_bytes=10_000)
    assert names == {"own", "d", "e"}


def test_nodes_of_earlier_requests_are_removed_if_they_are_too_large() -> None:
    large = [request([name], "x" * 1000) for name in "abc"]
    assert stored(*large, most_bytes=2500) == {"own", "c"}


def test_own_nodes_stay_after_a_request_described_them() -> None:
    requests = request(["own", "a"]), request("bcd")
    assert stored(*requests, most_nodes=1, most_bytes=10_000) == {"own", "b", "c", "d"}


@pytest.mark.long
def test_so_many_unknown_names_are_logged_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = PluginRegistry.discover()
    service = ExtenderService(default_config(registry), registry, [make_node(name="n")])
    for first in range(0, 12_000, 3_000):
        names = [f"{'x' * 1000}{number}" for number in range(first, first + 3_000)]
        names += [f"n{number}" for number in range(first, first + 3_000)]
        service.filter(NodesRequest(pod=make_pod(), names=names))
    service.close()
    assert 0 < len(caplog.records) < 5
    assert max(len(record.getMessage()) for record in caplog.records) < 1000
