"""Answers and access of ``quaymaster ui``; for the browser see `tests/browser`."""

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from typing import Any

import attrs
import pytest

from quaymaster import Node, Pod
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.cli import InputOptions, make_studies, read_inputs
from tests.kit.internals.reporting import Workbench, make_app

REGISTRY = PluginRegistry.discover()
TOKEN = "the-token"
HOST = "127.0.0.1:8765"
COOKIE = f"quaymaster-8765={TOKEN}"
PROFILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
EXTENDERS = "extenders: [{urlPrefix: 'http://h'}]"
MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: other
spec:
  containers:
    - name: main
      image: main
"""


@attrs.frozen
class Served:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def data(self) -> Any:  # noqa: ANN401  # JSON of any form
        return json.loads(self.body)


class Site:
    """The application, called as a server calls it."""

    def __init__(self, *objects: Node | Pod) -> None:
        options = InputOptions(paths=(), max_pods=1000)
        inputs = read_inputs(options, needs_paths=False)
        bench = Workbench(
            objects,
            registry=REGISTRY,
            max_pods=1000,
            studies=make_studies(inputs, options),
        )
        self._app = make_app(bench, TOKEN)

    def get(self, path: str, **headers: str) -> Served:
        return self._call("GET", path, b"", {"host": HOST, "cookie": COOKIE, **headers})

    def post(self, path: str, body: object, **headers: str) -> Served:
        usual = {"host": HOST, "cookie": COOKIE, "content-type": "application/json"}
        return self._call("POST", path, json.dumps(body).encode(), {**usual, **headers})

    def _call(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> Served:
        path, _, query = target.partition("?")
        messages: list[Any] = []
        raw = [(k.encode(), v.encode()) for k, v in headers.items() if v]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": raw,
            "query_string": query.encode(),
            "http_version": "1.1",
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: MutableMapping[str, Any]) -> None:
            messages.append(message)

        asyncio.run(self._app(scope, receive, send))
        start, *rest = messages
        return Served(
            start["status"],
            {k.decode(): v.decode() for k, v in start["headers"]},
            b"".join(part.get("body", b"") for part in rest),
        )


def with_config(text: str) -> dict[str, Any]:
    return {"runs": [{"name": "A", "config": text}]}


def run_of(**others: Any) -> dict[str, Any]:
    return {**with_config(PROFILE), **others}


def study_of(study: str, *lines: str) -> dict[str, Any]:
    return run_of(study=study, lines=lines)


@pytest.fixture
def site() -> Site:
    pods = (make_pod(name=f"p{number}", requests={"cpu": "1"}) for number in range(3))
    return Site(make_node(name="n", capacity={"cpu": "2"}), *pods)


def test_the_token_of_the_address_becomes_a_cookie(site: Site) -> None:
    answer = site.get(f"/?token={TOKEN}", cookie="")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(COOKIE)
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/page.js", "/api/state"])
def test_requests_without_the_token_are_rejected(site: Site, path: str) -> None:
    assert site.get(path, cookie="").status == 401
    assert site.get(path, cookie="quaymaster-8765=wrong").status == 401


def test_requests_for_other_host_names_are_rejected(site: Site) -> None:
    """The name of another page may resolve to this machine."""
    assert site.get("/", host="evil.example:8765").status == 403
    assert site.get("/", host="").status == 403


def test_requests_of_other_sites_are_refused(site: Site) -> None:
    assert site.post("/api/run", run_of(), origin="http://evil.example").status == 403
    plain = {"content-type": "text/plain"}
    assert site.post("/api/run", run_of(), **plain).status == 415
    assert site.post("/api/run", run_of(), origin=f"http://{HOST}").status == 200


def test_every_answer_forbids_what_the_page_does_not_need(site: Site) -> None:
    for answer in (site.get("/"), site.get("/api/state", cookie="")):
        assert answer.headers["content-security-policy"].startswith(
            "default-src 'none'"
        )
        assert answer.headers["cache-control"] == "no-store"


def test_a_run_is_the_document_of_a_report(site: Site) -> None:
    [run] = site.post("/api/run", run_of()).data["runs"]
    assert run["summary"]["placed"] == 2
    assert site.get("/api/progress").data == {"done": 2, "total": 3}


def test_manifests_and_nodes_replace_the_input(site: Site) -> None:
    settings = run_of(manifests=MANIFEST, nodes=["2:cpu=4,memory=8Gi"])
    [run] = site.post("/api/run", settings).data["runs"]
    assert run["pods"]["name"] == ["other"]
    assert run["nodes"]["name"] == ["node-000", "node-001"]


def test_a_pod_of_the_last_run_is_explained(site: Site) -> None:
    site.post("/api/run", run_of())
    body = {"run": "A", "pod": "default/p0"}
    [attempt] = site.post("/api/explain", body).data
    assert (attempt["node"], attempt["feasible"]) == ("n", 1)


def test_changes_for_the_pending_pods_of_the_last_run_are_found(site: Site) -> None:
    site.post("/api/run", run_of())
    found = site.post("/api/suggest", {"run": "A"}).data
    assert [change["pods"] for change in found["changes"]] == [["default/p2"]]


def test_what_if_is_the_document_of_its_states(site: Site) -> None:
    shown = site.post(
        "/api/run", study_of("what-if", "add-nodes 1:cpu=4,memory=8Gi")
    ).data
    assert shown["steps"]
    assert [run["summary"]["placed"] for run in shown["runs"]] == [2, 3]
    assert shown["tables"][0]["title"] == "Changes"


@pytest.mark.long
def test_plan_is_the_document_of_its_nodes(site: Site) -> None:
    shown = site.post("/api/run", study_of("plan", "cpu=1,memory=4Gi,price=2")).data
    assert ["Nodes to add", "1 node"] in shown["tables"][0]["rows"]
    assert shown["runs"][0]["summary"]["placed"] == 3


def test_room_for_more_pods_comes_first_on_its_page(site: Site) -> None:
    shown = site.post("/api/run", study_of("capacity", "cpu=10m")).data
    first = shown["tables"][0]
    assert (first["title"], first["last"]) == ("How many more fit", False)


def test_studies_leave_the_last_run_as_it_is(site: Site) -> None:
    site.post("/api/run", run_of())
    site.post("/api/run", study_of("capacity"))
    body = {"run": "A", "pod": "default/p0"}
    assert site.post("/api/explain", body).status == 200


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/run", run_of(manifests="kind: ["), "input"),
        ("/api/run", run_of(nodes=["much"]), "much"),
        ("/api/run", run_of(seed="x"), "seed"),
        (
            "/api/run",
            {"runs": [{"name": "A", "config": "kind: Pod"}]},
            "configuration A",
        ),
        ("/api/run", with_config(PROFILE + EXTENDERS), "programs elsewhere"),
        ("/api/run", [], "no request"),
        ("/api/explain", {"run": "Z", "pod": "p"}, "run 'Z' no longer exists"),
        ("/api/explain", [1], "xpected"),
        ("/api/suggest", {"run": "Z"}, "run 'Z' no longer exists"),
        ("/api/run", run_of(study="dream"), "there is no study 'dream'"),
        ("/api/run", run_of(study="what-if"), "at least one change"),
        ("/api/run", study_of("what-if", "dance n"), "unknown change 'dance'"),
        ("/api/run", study_of("what-if", "apply /etc/passwd"), "unknown change"),
        ("/api/run", study_of("what-if", "drain nobody"), "nobody"),
        ("/api/run", study_of("plan"), "at least one group"),
        ("/api/run", study_of("plan", "cpu=much"), "cpu=much"),
        ("/api/run", study_of("capacity", "cpu=much"), "cpu=much"),
    ],
)
def test_wrong_input_is_reported(
    site: Site, path: str, body: object, said: str
) -> None:
    answer = site.post(path, body)
    assert answer.status == 400
    assert said in answer.data["error"]
    assert "/tmp" not in answer.data["error"]
