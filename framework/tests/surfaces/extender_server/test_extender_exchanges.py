"""The extender server answers the requests of kube-scheduler's own client.

The bodies were sent by ``HTTPExtender`` (Kubernetes v1.36.2,
``pkg/scheduler/extender.go``), compiled from upstream's module, which took the answers
for what they are. Both ways of asking are there: with whole nodes, and with names.
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from quaymaster import Code, Node, Pod
from quaymaster.config import Kubernetes, default_config
from quaymaster.objects import from_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import explain_pod
from tests.kit.internals.extender_server import (
    Body,
    ExtenderServer,
    ExtenderService,
    Piece,
)

_FILE = Path(__file__).with_name("data") / "extender_exchanges.jsonl.gz"


def read() -> tuple[Sequence[Node | Pod], Sequence[Mapping[str, Any]]]:
    with gzip.open(_FILE, "rt") as lines:
        first, *exchanges = map(json.loads, lines)
    nodes = [from_wire(tree, Node) for tree in first["nodes"]]
    return [*nodes, *(from_wire(tree, Pod) for tree in first["running"])], exchanges


OBJECTS, EXCHANGES = read()
RECORDED = Kubernetes("1.36")


@pytest.fixture(scope="module")
def server() -> Iterator[ExtenderServer]:
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=RECORDED)
    service = ExtenderService(config, registry, OBJECTS)
    with ExtenderServer(("127.0.0.1", 0), service) as found:
        yield found


def name_of(exchange: Mapping[str, Any]) -> str:
    request = json.loads(exchange["request"])
    how = "names" if request["NodeNames"] is not None else "nodes"
    return f"{exchange['verb']} {how} {request['Pod']['metadata']['name']}"


@pytest.mark.parametrize("exchange", EXCHANGES, ids=name_of)
def test_answers_are_as_recorded(
    exchange: Mapping[str, Any], server: ExtenderServer
) -> None:
    body = Body.of(exchange["request"].encode())
    status, answer = server.answer(exchange["verb"], body)
    assert status == exchange["status"] == HTTPStatus.OK
    parts = [piece.text if isinstance(piece, Piece) else piece for piece in answer]
    assert json.loads(b"".join(parts)) == exchange["answer"]


@pytest.mark.parametrize(
    "exchange",
    [recorded for recorded in EXCHANGES if recorded["verb"] == "filter"],
    ids=name_of,
)
def test_answers_equal_the_decisions_of_the_scheduler(
    exchange: Mapping[str, Any],
) -> None:
    tree = json.loads(exchange["request"])["Pod"]
    for container in tree["spec"]["containers"]:
        # The recorded pods were never stored: devices need limits, too.
        resources = container.get("resources", {})
        resources.setdefault("limits", resources.get("requests"))
    pod = from_wire(tree, Pod)
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=RECORDED)
    explained = explain_pod(
        pod.key, [*OBJECTS, pod], config=config, registry=registry
    ).explanation
    assert explained is not None
    rejected = {rejection.node: rejection for rejection in explained.rejections}
    answer = exchange["answer"]
    assert not answer["Error"]
    reasons = {**answer["FailedNodes"], **answer["FailedAndUnresolvableNodes"]}
    assert reasons == {
        node: ", ".join(rejection.reasons) for node, rejection in rejected.items()
    }
    assert set(answer["FailedAndUnresolvableNodes"]) == {
        node
        for node, rejection in rejected.items()
        if rejection.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    }
