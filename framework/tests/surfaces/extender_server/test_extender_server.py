"""A profile's plugins are served as an extender to any scheduler."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from quaymaster import ApiObject, NodeInfo, Pod, Status, hookimpl
from quaymaster.config import parse_config
from quaymaster.objects import to_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.cli import app
from tests.kit.internals.extender_server import (
    ExtenderServer,
    ExtenderService,
    UnknownNodes,
)

PROFILE = {
    "schedulerName": "python",
    "plugins": {
        "filter": {"disabled": [{"name": "*"}], "enabled": [{"name": "Harbour"}]},
        "score": {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": "Harbour", "weight": 3}],
        },
    },
}


class Harbour:
    """Rejects nodes by their label and scores them by their number."""

    def __init__(self, args: object, handle: object) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        berth = node.labels.get("berth", "")
        if berth == "taken":
            return Status.unschedulable("node(s) had their berth taken")
        if berth == "none":
            return Status.unresolvable("node(s) had no berth")
        if berth == "broken":
            raise RuntimeError("the crane fell over")
        return None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return int(node.labels.get("rank", "0"))


def document(**settings: object) -> dict[str, object]:
    return {
        **HEADER,
        "profiles": [PROFILE],
        **settings,
    }


@contextmanager
def serving(
    objects: Sequence[ApiObject] = (),
    *,
    unknown_nodes: UnknownNodes = UnknownNodes.REJECT,
    **settings: object,
) -> Iterator[ExtenderServer]:
    registry = PluginRegistry.discover().with_plugin(Harbour, "Harbour")
    config = parse_config(document(**settings), registry, source="test")
    service = ExtenderService(config, registry, objects, unknown_nodes=unknown_nodes)
    with ExtenderServer(("127.0.0.1", 0), service) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def post(port: int, path: str, body: object) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def args(
    *nodes: ApiObject, names: Sequence[str] | None = None, pod: Pod | None = None
) -> dict[str, object]:
    """Return the request of kube-scheduler with whole nodes or with names."""
    items = [to_wire(node) for node in nodes]
    return {
        "Pod": to_wire(pod or make_pod()),
        "Nodes": None if names is not None else {"metadata": {}, "items": items},
        "NodeNames": names,
    }


FREE = make_node(name="free", labels={"rank": "74"})
BEST = make_node(name="best", labels={"rank": "100"})
TAKEN = make_node(name="taken", labels={"berth": "taken", "rank": "30"})
NONE = make_node(name="none", labels={"berth": "none"})
BROKEN = make_node(name="broken", labels={"berth": "broken"})
DEEP = b'{"a":' * 50_000 + b"1" + b"}" * 50_000


def test_filter_answers_with_whole_nodes_as_they_came() -> None:
    request = json.loads(json.dumps(args(FREE, TAKEN, NONE)))
    nodes = request["Nodes"]
    nodes["items"][0]["status"]["unknownHere"] = {"kept": True}
    with serving() as server:
        status, answer = post(server.server_port, "/scheduler/filter", request)
    assert status == 200
    assert answer["Nodes"]["items"] == nodes["items"][:1]
    assert answer["NodeNames"] is None
    assert answer["FailedNodes"] == {"taken": "node(s) had their berth taken"}
    assert answer["FailedAndUnresolvableNodes"] == {"none": "node(s) had no berth"}
    assert answer["Error"] == ""


def test_filter_answers_with_names_for_nodes_of_the_input() -> None:
    with serving([FREE, TAKEN, NONE]) as server:
        request = args(names=["taken", "free"])
        _, answer = post(server.server_port, "/filter", request)
    assert answer["Nodes"] is None
    assert answer["NodeNames"] == ["free"]
    assert list(answer["FailedNodes"]) == ["taken"]


def test_full_nodes_are_cached_and_updated() -> None:
    with serving([TAKEN]) as server:
        renewed = make_node(name="taken")
        post(server.server_port, "/filter", args(renewed, FREE))
        request = args(names=["taken", "free"])
        _, answer = post(server.server_port, "/filter", request)
    assert answer["NodeNames"] == ["taken", "free"]


def test_prioritize_scores_from_0_to_10() -> None:
    with serving() as server:
        request = args(BEST, TAKEN, FREE)
        status, answer = post(server.server_port, "/prioritize", request)
    assert status == 200
    assert answer == [
        {"Host": "best", "Score": 10},
        {"Host": "taken", "Score": 3},
        {"Host": "free", "Score": 7},
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (args(BROKEN), "the crane fell over"),
        ({}, "Pod: expected a pod, got none"),
        ({"Pod": {}, "NodeNames": [1]}, r"NodeNames[]: expected a string, got int"),
        ({"Pod": {"spec": 3}}, "spec: expected"),
        (b"no", "expected JSON"),
        (DEEP, "the request: nested too deeply"),
        (b'{"Pod":%b,"Nodes":{"items":[]}}' % DEEP, "the request: nested too deeply"),
        (b'{"Pod":%b,"NodeNames":[]}' % DEEP, "the request: nested too deeply"),
        (b'{"Pod":{},"Nodes":{"items":[%b]}}' % DEEP, "the request: nested too deeply"),
        (
            b'{"Pod":{},"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n",'
            b'"labels":%b}}]},"NodeNames":null}' % DEEP,
            "the request: nested too deeply",
        ),
    ],
    ids=[
        "plugin",
        "no pod",
        "wrong name",
        "wrong pod",
        "no JSON",
        "deep",
        "deep pod",
        "deep pod and names",
        "deep node",
        "deep labels",
    ],
)
def test_a_failed_filter_sets_the_error_field(
    body: object, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    with serving() as server:
        status, answer = post(server.server_port, "/filter", body)
        assert post(server.server_port, "/filter", args(FREE))[1]["Error"] == ""
    assert status == 200
    assert problem in answer["Error"]
    errors = [
        record
        for record in caplog.records
        if record.getMessage().startswith("filter of ")
    ]
    assert [record.exc_info for record in errors] == [None]


def test_a_failed_prioritize_is_not_a_success() -> None:
    with serving() as server:
        status, answer = post(server.server_port, "/prioritize", b"[]")
    assert status == 500
    assert answer == {"Error": "the request: expected an object, got list"}


def test_a_failed_answer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    proud = make_node(name="proud", labels={"rank": "101"})
    with serving() as server:
        post(server.server_port, "/prioritize", args(proud, pod=make_pod(name="p")))
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("prioritize of pod default/p failed: ")
    assert "returns an invalid score 101" in record.getMessage()


@pytest.mark.parametrize("unknown", list(UnknownNodes))
def test_unknown_nodes_do_not_fail_the_request(
    unknown: UnknownNodes, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["newcomer", "free", "taken", "other"]
    with serving([FREE, TAKEN], unknown_nodes=unknown) as server:
        _, answer = post(server.server_port, "/filter", args(names=names))
        post(server.server_port, "/filter", args(names=names))
        _, scores = post(server.server_port, "/prioritize", args(names=names[:2]))
    rejects = unknown is UnknownNodes.REJECT
    assert answer["NodeNames"] == (["free"] if rejects else [*names[:2], "other"])
    assert list(answer["FailedNodes"]) == ["taken"]
    reason = "node(s) unknown to the extender"
    assert answer["FailedAndUnresolvableNodes"] == (
        {"newcomer": reason, "other": reason} if rejects else {}
    )
    assert scores == [{"Host": "newcomer", "Score": 0}, {"Host": "free", "Score": 7}]
    verdict = "rejected" if rejects else "passed"
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [f"unknown nodes {verdict}: newcomer, other"]


def test_other_verbs_do_not_exist() -> None:
    with serving() as server:
        status, answer = post(server.server_port, "/scheduler/bind", {})
    assert status == 404
    assert answer == {
        "Error": "expected .../filter or .../prioritize, got /scheduler/bind"
    }


def test_a_pod_without_a_profile_is_an_error_when_there_are_several() -> None:
    profiles = [PROFILE, {**PROFILE, "schedulerName": "other"}]
    with serving(profiles=profiles) as server:
        _, answer = post(server.server_port, "/filter", args(FREE))
        named = args(FREE, pod=make_pod(scheduler_name="other"))
        assert post(server.server_port, "/filter", named)[1]["Error"] == ""
    assert answer["Error"] == (
        "there is no profile for scheduler 'default-scheduler' (only python, other)"
    )


@pytest.mark.parametrize("by_name", [False, True], ids=["whole nodes", "names"])
def test_our_scheduler_can_use_our_extender(by_name: bool) -> None:
    nodes = [FREE, BEST, TAKEN, NONE]
    with serving(nodes) as server:
        extender = {
            "urlPrefix": server.url,
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 100,
            "nodeCacheCapable": by_name,
        }
        config = document(profiles=None, extenders=[extender])
        pods = [
            make_pod(name="any"),
            make_pod(name="fussy", node_selector={"rank": "30"}),
        ]
        run = SchedulerHarness([*nodes, *pods], config=config)
        run.settle()
    assert run.node_of("any") == "best"
    assert run.node_of("fussy") == ""
    assert run.message("fussy").startswith(
        "0/4 nodes are available: 1 node(s) had their berth taken, "
        "3 node(s) didn't match Pod's node affinity/selector."
    )


@pytest.mark.parametrize("address", ["8888", "host:", ":1", "host:70000"])
def test_a_wrong_address_is_bad_input(address: str) -> None:
    arguments = ["extender", "--config", "default", "--bind", address]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "expected a host and a port such as 127.0.0.1:8888" in result.stderr


def test_a_taken_port_is_bad_input() -> None:
    with serving() as server:
        address = server.url.removeprefix("http://")
        arguments = ["extender", "--config", "default", "--bind", address]
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "cannot listen on" in result.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--tls-cert-file", "c"], "need each other"),
        (["--tls-private-key-file", "k"], "need each other"),
        (["--client-ca-file", "c"], "--client-ca-file needs --tls-cert-file"),
        (
            ["--tls-cert-file", "/no/c", "--tls-private-key-file", "/no/k"],
            "/no/c, /no/k: No such file or directory",
        ),
        (["--max-request-bytes", "0"], "0 is not in the range x>=1"),
        (["--unknown-nodes", "drop"], "'drop' is not one of 'reject', 'pass'"),
    ],
    ids=["no key", "no certificate", "no TLS", "no file", "no bytes", "no choice"],
)
def test_options_that_make_no_sense_are_bad_input(
    options: Sequence[str], problem: str
) -> None:
    result = CliRunner().invoke(app, ["extender", "--config", "default", *options])
    assert result.exit_code == 2
    assert problem in result.stderr


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_interrupted(
    tmp_path: Path, number: signal.Signals
) -> None:
    manifest = tmp_path / "nodes.json"
    manifest.write_text(
        json.dumps(to_wire(make_node(name="n", taints=["a=b:NoSchedule"])))
    )
    quaymaster = shutil.which("quaymaster", path=str(Path(sys.executable).parent))
    assert quaymaster is not None
    command = [quaymaster, "extender", str(manifest), "--config", "default"]
    with subprocess.Popen(
        [*command, "--bind", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline().strip()
            port = int(line.rsplit(":", 1)[-1])
            _, answer = post(port, "/filter", args(names=["n"]))
        finally:
            process.send_signal(number)
        assert process.wait(30) == 0
    assert line.startswith("serving filter and prioritize on http://127.0.0.1:")
    assert answer["FailedAndUnresolvableNodes"] == {
        "n": "node(s) had untolerated taint(s)"
    }


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_plain_http_for_other_machines_is_bad_input(address: str) -> None:
    arguments = ["extender", "--config", "default", "--bind", address]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "or --plain-http to serve without TLS" in " ".join(result.stderr.split())
