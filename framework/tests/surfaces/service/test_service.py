"""The service answers questions over HTTP on a warm cluster."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.service import ServiceLimits, WarmCluster, make_app
from quaymaster.testing import make_deployment, make_node, make_pod

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
TOKEN = {"authorization": "Bearer open sesame"}
CONTAINER = {"name": "main", "image": "nginx"}
TWO_NODES = [make_node(name=f"n{i}", capacity={"cpu": "4"}) for i in range(2)]


class Client:
    """Calls the application as a server does."""

    def __init__(
        self, *objects: ApiObject, token: str = "open sesame", **limits: Any
    ) -> None:
        cluster = WarmCluster(objects, config=CONFIG, registry=REGISTRY)
        limited = ServiceLimits(**limits)
        self._app = make_app(cluster, token=token, limits=limited)

    def ask(
        self,
        path: str,
        question: object = None,
        *,
        body: bytes | None = None,
        method: str = "POST",
        headers: Mapping[str, str] = TOKEN,
        is_whole: bool = True,
    ) -> tuple[int, Any]:
        """Send a question; return the status and the document of the answer."""
        sent = json.dumps(question).encode() if body is None else body
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }
        messages: list[Any] = []

        parts = [{"type": "http.request", "body": sent, "more_body": not is_whole}]

        async def receive() -> dict[str, object]:
            if not parts:
                await asyncio.Event().wait()  # no more content
            return parts.pop()

        async def send(message: Mapping[str, Any]) -> None:
            messages.append(message)

        asyncio.run(self._app(scope, receive, send))
        return messages[0]["status"], json.loads(messages[1]["body"])


def manifest(**spec: object) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "new"},
        "spec": {"containers": [CONTAINER], **spec},
    }


def fit_question(*pods: object) -> dict[str, Sequence[object]]:
    return {"pods": pods}


@pytest.fixture(scope="module")
def client() -> Client:
    busy = make_pod(name="busy", node="n0", requests={"cpu": "3"})
    return Client(*TWO_NODES, busy)


def test_pods_that_fit_get_their_nodes(client: Client) -> None:
    status, found = client.ask("/v1/fit", fit_question({"line": "cpu=3"}))
    assert (status, found["fits"]) == (200, True)
    assert found["pods"] == [{"pod": "default/more", "node": "n1"}]


def test_each_pod_counts_for_the_next(client: Client) -> None:
    _, found = client.ask("/v1/fit", fit_question({"line": "cpu=3", "count": 2}))
    assert (found["fits"], found["placed"], found["asked"]) == (False, 1, 2)
    assert found["pods"][1] == {
        "pod": "default/more-1",
        "node": "",
        "message": "0/2 nodes are available: 2 Insufficient cpu.",
        "reasons": ["Insufficient cpu"],
        "plugins": ["NodeResourcesFit"],
    }


def test_the_same_question_gets_the_same_answer(client: Client) -> None:
    question = fit_question({"line": "cpu=1", "count": 5}, {"pod": manifest()})
    first = client.ask("/v1/fit", question)
    for _ in range(3):
        assert client.ask("/v1/fit", question) == first


def test_pods_of_the_input_are_scheduled_before() -> None:
    web = make_deployment(
        name="web",
        replicas=8,
        pod=make_pod(labels={"app": "web"}, requests={"cpu": "1"}),
    )
    _, found = Client(*TWO_NODES, web).ask("/v1/fit", fit_question({"line": "cpu=1"}))
    assert not found["fits"]


def test_a_gated_pod_does_not_fit(client: Client) -> None:
    gated = manifest(schedulingGates=[{"name": "wait"}])
    _, found = client.ask("/v1/fit", fit_question({"pod": gated}))
    assert found["pods"][0]["plugins"] == ["SchedulingGates"]


def test_a_pod_of_another_scheduler_is_marked(client: Client) -> None:
    other = manifest(schedulerName="other")
    _, found = client.ask("/v1/fit", fit_question({"pod": other}))
    assert "no profile has the scheduler name 'other'" in found["pods"][0]["message"]


def test_no_pod_is_preempted() -> None:
    low = make_pod(name="low", node="n0", requests={"cpu": "4"}, priority=0)
    client = Client(TWO_NODES[0], low)
    high = manifest(
        priority=1000,
        containers=[{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}],
    )
    _, found = client.ask("/v1/fit", fit_question({"pod": high}))
    assert not found["fits"]
    assert client.ask("/healthz", method="GET")[1]["pods"] == 1


def test_explain_returns_scores_and_rejections(client: Client) -> None:
    status, found = client.ask("/v1/explain", {"line": "cpu=3"})
    assert (status, found["fits"], found["feasible"]) == (200, True, 1)
    assert found["scores"][0]["node"] == "n1"
    assert found["rejections"] == [
        {
            "node": "n0",
            "plugin": "NodeResourcesFit",
            "reasons": ["Insufficient cpu"],
            "details": ["wants cpu 3", "free cpu 1 of 4"],
            "postFilter": [],
        }
    ]


def test_simulate_reports_new_pods_and_does_not_change_the_cluster(
    client: Client,
) -> None:
    new = manifest(containers=[{**CONTAINER, "resources": {"requests": {"cpu": "4"}}}])
    question = {"objects": [new]}
    status, found = client.ask("/v1/simulate", question)
    assert status == 200
    assert [
        (placement["pod"], placement["node"]) for placement in found["placements"]
    ] == [("default/new", "n1")]
    assert client.ask("/v1/simulate", question)[1] == found


def test_simulate_reports_objects_that_it_skips(client: Client) -> None:
    unknown = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}}
    _, found = client.ask("/v1/simulate", {"objects": [unknown, manifest()]})
    assert found["summary"]["placed"] == 1
    assert found["warnings"] == [
        "skipped 1 object that scheduling does not know: Secret (v1)"
    ]


def test_an_object_with_the_name_of_another_replaces_it(client: Client) -> None:
    larger = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "64", "memory": "1Gi", "pods": "9"}},
    }
    new = manifest(containers=[{**CONTAINER, "resources": {"requests": {"cpu": "60"}}}])
    _, found = client.ask("/v1/simulate", {"objects": [larger, new]})
    assert found["summary"] == {"placed": 1, "unscheduled": 0, "nodes": 2}


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}])
def test_without_the_token_nothing_is_answered(
    client: Client, headers: Mapping[str, str]
) -> None:
    for path in ("/v1/fit", "/v1/explain", "/v1/simulate"):
        status, answer = client.ask(path, {}, headers=headers)
        assert (status, answer["title"]) == (401, "Unauthorized")


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({}, "Object missing required field `pods`"),
        ({"pods": []}, "pods: Expected `array` of length >= 1"),
        ({"pods": [{"line": "cpu=1", "count": 0}]}, "pods[0].count: Expected `int`"),
        ({"pods": [{}]}, "pods[0]: expected pod (a manifest) or line (such as cpu=2)"),
        ({"pods": [{"line": "cpu=x"}]}, "pods[0].line: pod 'cpu=x': cpu: expected a"),
        ({"pods": [{"line": "cpu=1", "count": 9}]}, "pods: expected at most 5 pods"),
        ({"pods": [{"pod": {"kind": "Node"}}]}, "pods[0].pod: apiVersion: expected"),
        (
            {"pods": [{"pod": {"apiVersion": "v1", "kind": "Secret"}}]},
            "pods[0].pod: expected one Pod, got Secret",
        ),
        (
            {"pods": [{"pod": manifest(containers=[])}]},
            "spec.containers: expected at least one",
        ),
        (
            {"pods": [{"pod": manifest(priorty=1)}]},
            "spec.priorty: unknown field",
        ),
    ],
)
def test_a_wrong_question_is_reported_with_its_place(
    question: object, problem: str
) -> None:
    client = Client(*TWO_NODES, pods=5)
    status, answer = client.ask("/v1/fit", question)
    assert (status, answer["status"]) == (422, 422)
    assert problem in answer["detail"], answer


def test_body_that_is_not_json_is_rejected(client: Client) -> None:
    status, answer = client.ask("/v1/fit", body=b"nope")
    assert (status, answer["title"]) == (400, "Malformed request")


def test_missing_body_is_rejected(client: Client) -> None:
    status, answer = client.ask("/v1/fit", body=b"")
    assert (status, answer["detail"]) == (400, "expected JSON, got no body")


@pytest.mark.parametrize("headers", [TOKEN, {**TOKEN, "content-length": "11"}])
def test_a_body_that_is_too_long_is_refused(headers: Mapping[str, str]) -> None:
    client = Client(*TWO_NODES, body_bytes=10)
    status, answer = client.ask("/v1/fit", body=b" " * 11, headers=headers)
    assert (status, answer["detail"]) == (413, "expected a body of at most 10 bytes")


def test_a_body_that_does_not_come_in_time_is_an_error() -> None:
    client = Client(*TWO_NODES, timeout_seconds=0.01)
    status, answer = client.ask("/v1/fit", body=b"{", is_whole=False)
    assert (status, answer["title"]) == (408, "Request timeout")


def test_a_path_with_an_extra_slash_is_not_found(client: Client) -> None:
    status, answer = client.ask("/v1/fit/", {})
    assert (status, answer["detail"].partition(" (")[0]) == (
        404,
        "unknown path /v1/fit/",
    )


def test_an_answer_that_takes_too_long_is_an_error() -> None:
    client = Client(*TWO_NODES, timeout_seconds=0.0)
    for path, question in (
        ("/v1/fit", fit_question({"line": "cpu=1"})),
        ("/v1/simulate", {"objects": [manifest()]}),
    ):
        status, answer = client.ask(path, question)
        assert (status, answer["title"]) == (503, "Timeout")


def test_more_simulations_than_allowed_are_refused() -> None:
    client = Client(*TWO_NODES, simulations=0)
    status, answer = client.ask("/v1/simulate", {"objects": [manifest()]})
    assert (status, answer["title"]) == (503, "Too many simulations")


def test_errors_for_other_paths_and_methods_list_the_valid_ones(client: Client) -> None:
    status, answer = client.ask("/v1/fits", {})
    assert status == 404
    assert "/v1/fit, /v1/explain, /v1/simulate" in answer["detail"]
    status, answer = client.ask("/v1/fit", method="GET")
    assert (status, answer["detail"]) == (405, "/v1/fit takes POST, got GET")


def test_the_document_describes_every_question(client: Client) -> None:
    status, found = client.ask("/openapi.json", method="GET", headers={})
    assert (status, found["openapi"]) == (200, "3.1.0")
    assert {"/v1/fit", "/v1/explain", "/v1/simulate"} <= set(found["paths"])
    assert found["security"] == [{"token": []}]


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("/v1/fit", fit_question({"line": "cpu=1"})),
        ("/v1/explain", {"line": "cpu=1"}),
        ("/v1/simulate", {"objects": [manifest()]}),
    ],
)
def test_the_document_has_the_fields_of_the_answer(
    client: Client, path: str, question: Mapping[str, object]
) -> None:
    _, document = client.ask("/openapi.json", method="GET", headers={})
    response = document["paths"][path]["post"]["responses"]["200"]
    schema = response["content"]["application/json"]["schema"]
    status, answer = client.ask(path, question)
    assert status == 200
    assert set(answer) == set(schema["properties"])


def test_health_reports_the_loaded_objects(client: Client) -> None:
    assert client.ask("/healthz", method="GET", headers={}) == (
        200,
        {"status": "ok", "nodes": 2, "pods": 1, "unscheduled": 0},
    )


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_of_the_token_has_no_case_and_the_token_any_character(
    scheme: str,
) -> None:
    client = Client(*TWO_NODES, token="tökén")
    headers = {"authorization": f"{scheme} tökén"}
    status, _ = client.ask("/v1/fit", fit_question({"line": "cpu=1"}), headers=headers)
    assert status == 200


def test_body_that_is_nested_too_deeply_is_malformed(client: Client) -> None:
    body = b'{"pods":[{"pod":' + b'{"a":' * 100_000
    status, answer = client.ask("/v1/fit", body=body)
    assert (status, answer["detail"]) == (400, "nested too deeply")
