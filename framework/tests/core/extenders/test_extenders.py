"""Extenders that filter nodes, over real connections on the loopback interface."""

import gzip
import json
import socket
from typing import Any

import pytest

from quaymaster import Node, Pod
from quaymaster.config import Extender, parse_config
from quaymaster.errors import QuaymasterError
from quaymaster.objects import from_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import explain_pod
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.fake_extender import (
    ExtenderAnswer,
    Request,
    extended_harness,
    extenders_config,
    fake_extender,
    filtering,
    keep,
    prioritizing,
)
from tests.kit.internals.extenders import Extenders


def test_filter_leaves_the_nodes_that_the_extender_returns() -> None:
    with fake_extender(filter=keep("n1")) as extender:
        run = extended_harness(filtering(extender))
        run.settle()
    assert run.node_of("pod") == "n1"


def test_filter_is_sent_the_pod_and_the_feasible_nodes_in_full() -> None:
    pod = make_pod(node_selector={"disk": "ssd"}, labels={"app": "web"})
    nodes = [make_node(name="n0"), make_node(name="n1", labels={"disk": "ssd"})]
    with fake_extender(filter=keep("n1")) as extender:
        run = SchedulerHarness(
            [*nodes, pod], config=extenders_config(filtering(extender))
        )
        run.settle()
    [request] = extender.requests_for("filter")
    assert request["Pod"]["metadata"]["labels"] == {"app": "web"}
    assert request["Pod"]["kind"] == "Pod"
    assert [node["metadata"]["name"] for node in request["Nodes"]["items"]] == ["n1"]
    assert request["Nodes"]["items"][0]["metadata"]["labels"]["disk"] == "ssd"
    assert request["NodeNames"] is None


def test_extender_with_a_node_cache_is_sent_names_only() -> None:
    with fake_extender(filter=lambda _: {"nodenames": ["n2"]}) as extender:
        run = extended_harness(filtering(extender, nodeCacheCapable=True))
        run.settle()
    [request] = extender.requests_for("filter")
    assert request["Nodes"] is None
    assert request["NodeNames"] == ["n0", "n1", "n2"]
    assert run.node_of("pod") == "n2"


def test_compressed_answers_are_decompressed() -> None:
    answer = json.dumps({"nodenames": ["n2"]}).encode()
    members = gzip.compress(answer[:5]) + gzip.compress(answer[5:])
    with fake_extender(filter=lambda _: members) as extender:
        run = extended_harness(filtering(extender, nodeCacheCapable=True))
        run.settle()
    assert run.node_of("pod") == "n2"


def test_each_extender_sees_what_the_one_before_left() -> None:
    with (
        fake_extender(filter=keep("n0", "n1")) as first,
        fake_extender(filter=keep("n1")) as second,
    ):
        run = extended_harness(filtering(first), filtering(second))
        run.settle()
    [request] = second.requests_for("filter")
    names = [node["metadata"]["name"] for node in request["Nodes"]["items"]]
    assert names == ["n0", "n1"]
    assert run.node_of("pod") == "n1"


def test_ignorable_extenders_are_called_last() -> None:
    with (
        fake_extender(filter=keep("n0", "n1")) as first,
        fake_extender(filter=keep("n0")) as second,
    ):
        run = extended_harness(filtering(first, ignorable=True), filtering(second))
        run.settle()
    [request] = first.requests_for("filter")
    assert [node["metadata"]["name"] for node in request["Nodes"]["items"]] == ["n0"]


def test_reasons_of_extenders_are_counted_in_the_message() -> None:
    answer = keep(
        FailedNodes={"n0": "no licence", "n1": "no licence", "n2": "hidden"},
        FailedAndUnresolvableNodes={"n2": "wrong hardware"},
    )
    with fake_extender(filter=answer) as extender:
        run = extended_harness(filtering(extender))
        run.settle()
    message = run.message("pod")
    assert message.startswith(
        "0/3 nodes are available: 1 wrong hardware, 2 no licence. "
    )
    assert message.endswith(
        "preemption: 0/3 nodes are available: 1 Preemption is not helpful for "
        "scheduling, 2 No preemption victims found for incoming pod."
    )


def test_a_returned_name_that_was_not_sent_fails_the_attempt() -> None:
    with fake_extender(filter=lambda _: {"NodeNames": ["n9"]}) as extender:
        run = extended_harness(filtering(extender, nodeCacheCapable=True))
        run.schedule_one()
    assert run.message("pod") == (
        f'extender "{extender.url}" claims a filtered node "n9" which is not found in '
        "the input node list"
    )


def test_a_returned_full_node_that_was_not_sent_is_feasible() -> None:
    made_up = {"Nodes": {"items": [{"metadata": {"name": "n9"}}]}}
    with fake_extender(filter=lambda _: made_up) as extender:
        run = extended_harness(filtering(extender))
        run.schedule_one()
    # The scheduler accepts it; the cluster has no such node.
    assert run.message("pod").endswith("Node n9: there is none")


def test_nodes_in_full_are_scored_as_empty_and_without_images() -> None:
    image = {"names": ["registry.example.com/app:v1"], "sizeBytes": 900 << 20}
    status = {"images": [image], "allocatable": {"cpu": "4", "pods": "9"}}
    tree = {"metadata": {"name": "n1"}, "status": status}
    nodes = [make_node(name="n0", allocatable={"cpu": "4", "pods": "9"})]
    nodes.append(from_wire(tree, Node))
    full = make_pod(name="full", node="n0", requests={"cpu": "3"})
    pod = make_pod(name="pod", images=["registry.example.com/app:v1"])
    registry = PluginRegistry.discover()

    def totals(**settings: Any) -> dict[str, int]:
        config = parse_config(
            extenders_config(filtering(extender, **settings)), registry, source="test"
        )
        found = explain_pod(
            pod.key, [*nodes, full, pod], config=config, registry=registry
        ).explanation
        assert found is not None
        return {scores.node: scores.total for scores in found.scores}

    with fake_extender(filter=keep("n0", "n1")) as extender:
        assert len(set(totals().values())) == 1
        extender.answers = {"filter": lambda _: {"NodeNames": ["n0", "n1"]}}
        by_name = totals(nodeCacheCapable=True)
    assert by_name["n1"] > by_name["n0"]


def test_later_extenders_are_sent_what_earlier_ones_sent_back() -> None:
    def relabel(request: Request) -> object:
        items = request["Nodes"]["items"]
        for node in items:
            node["metadata"]["labels"] = {"seen": "yes"}
        return {"Nodes": {"items": items}}

    with (
        fake_extender(filter=relabel) as first,
        fake_extender(filter=keep("n0", "n1"), prioritize=lambda _: []) as second,
    ):
        both = {**filtering(second), **prioritizing(second)}
        run = extended_harness(filtering(first), both)
        run.settle()
    for verb in ("filter", "prioritize"):
        [request] = second.requests_for(verb)
        labels = [node["metadata"]["labels"] for node in request["Nodes"]["items"]]
        assert labels == [{"seen": "yes"}] * (3 if verb == "filter" else 2)


def test_nodes_may_be_dropped_without_a_reason() -> None:
    with fake_extender(filter=lambda _: {}) as extender:
        run = extended_harness(filtering(extender))
        run.settle()
    assert run.message("pod").startswith("0/3 nodes are available:")
    assert run.node_of("pod") == ""


def test_a_rejected_pod_names_the_extender_and_any_event_wakes_it() -> None:
    left: list[str] = []

    def answer(request: Request) -> object:
        return keep(*left)(request)

    with fake_extender(filter=answer) as extender:
        run = extended_harness(filtering(extender))
        run.schedule_one()
        pending = run.why_pending("pod")
        assert pending is not None
        assert "Extender" in pending.rejected_by
        left.append("n0")
        run.cluster.create(make_pod(name="other", node="n1"))
        run.advance(10)
    assert run.node_of("pod") == "n0"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda _: {"Error": "out of order"}, "out of order"),
        (lambda _: {"error": "any case will do"}, "any case will do"),
        (lambda _: 503, "failed filter with extender at URL {url}/filter, code 503"),
        (
            lambda _: {"Nodes": {"items": [{"metadata": {}}]}},
            (
                "cannot read the response of extender '{url}': "
                "Nodes.items[].metadata.name: expected a name, got none"
            ),
        ),
        (
            lambda _: {
                "Nodes": {
                    "items": [
                        {
                            "metadata": {"name": "n0"},
                            "status": {"allocatable": {"cpu": "much"}},
                        }
                    ]
                }
            },
            (
                "cannot read the response of extender '{url}': Nodes.items[]: "
                "status.allocatable.cpu: expected a quantity (a number with an "
                "optional suffix, such as 500m, 2, 1.5Gi or 1e3), got 'much'"
            ),
        ),
        (
            lambda _: {"FailedNodes": {"n0": 3}},
            (
                "cannot read the response of extender '{url}': "
                "FailedNodes.n0: expected "
                "a string, got int"
            ),
        ),
        (
            lambda _: b"",
            (
                "cannot read the response of extender '{url}': "
                "expected JSON: Input data "
                "was truncated"
            ),
        ),
        (
            lambda _: b'{"NodeNames":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
            (
                "cannot read the response of extender '{url}': the answer: nested too "
                "deeply"
            ),
        ),
    ],
    ids=[
        "error",
        "lower case",
        "status",
        "no name",
        "wrong node",
        "wrong type",
        "no JSON",
        "nested too deeply",
    ],
)
def test_a_failing_filter_fails_the_attempt(answer: ExtenderAnswer, text: str) -> None:
    with fake_extender(filter=answer) as extender:
        run = extended_harness(filtering(extender))
        run.schedule_one()
    assert run.message("pod") == text.format(url=extender.url)
    assert run.node_of("pod") == ""


def test_a_failing_ignorable_filter_is_skipped() -> None:
    with fake_extender(filter=lambda _: 500) as extender:
        run = extended_harness(filtering(extender, ignorable=True))
        run.settle()
    assert run.node_of("pod") != ""


def test_an_extender_that_does_not_answer_in_time_fails_the_attempt() -> None:
    with fake_extender() as extender:
        extender.answers = {"filter": extender.hang}
        run = extended_harness(filtering(extender, httpTimeout="50ms"))
        run.schedule_one()
    assert run.message("pod") == (
        f'Post "{extender.url}/filter": context deadline exceeded '
        "(Client.Timeout exceeded while awaiting headers)"
    )


def test_an_unreachable_extender_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    run = extended_harness({"urlPrefix": f"{url}/", "filterVerb": "filter"})
    run.schedule_one()
    assert run.message("pod") == (
        f'Post "{url}/filter": dial tcp 127.0.0.1:{port}: connect: connection refused'
    )


@pytest.mark.parametrize(
    ("pod", "is_asked"),
    [
        (make_pod(requests={"cpu": "1"}), False),
        (make_pod(requests={"example.com/gpu": "1"}), True),
        (make_pod(limits={"example.com/gpu": "1"}), True),
    ],
    ids=["neither", "requests", "limits"],
)
def test_an_extender_gets_only_pods_with_its_resources(
    pod: Pod, is_asked: bool
) -> None:
    resource = {"name": "example.com/gpu", "ignoredByScheduler": True}
    with fake_extender(filter=keep("n0")) as extender:
        run = extended_harness(
            filtering(extender, managedResources=[resource]), pod=pod
        )
        run.settle()
    assert bool(extender.requests) is is_asked
    assert run.node_of("pod") != ""


def test_a_resource_is_left_to_the_extender_only_if_it_declares_it() -> None:
    pod = make_pod(requests={"example.com/gpu": "1"})
    with fake_extender(filter=keep("n0")) as extender:
        resource = {"name": "example.com/gpu"}
        run = extended_harness(
            filtering(extender, managedResources=[resource]), pod=pod
        )
        run.settle()
    assert "3 Insufficient example.com/gpu" in run.message("pod")
    assert not extender.requests


def test_a_nominated_node_must_pass_the_extenders_too() -> None:
    pod = make_pod(nominated_node="n0")
    with fake_extender(filter=keep("n1")) as extender:
        run = extended_harness(filtering(extender), pod=pod)
        run.settle()
    first, second = extender.requests_for("filter")
    assert [node["metadata"]["name"] for node in first["Nodes"]["items"]] == ["n0"]
    assert len(second["Nodes"]["items"]) == 3
    assert run.node_of("pod") == "n1"


@pytest.mark.parametrize(
    "settings",
    [
        Extender(url_prefix="scheduler.example"),
        Extender(url_prefix="http://example:port"),
    ],
    ids=["no scheme", "no port"],
)
def test_an_invalid_url_is_an_error_when_the_scheduler_starts(
    settings: Extender,
) -> None:
    with pytest.raises(QuaymasterError, match="extenders: urlPrefix: expected a URL"):
        Extenders([settings])
