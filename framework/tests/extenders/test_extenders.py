"""Extenders take part in decisions, over real connections on the loopback interface."""

import base64
import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

from quaymaster import Node, Pod
from quaymaster.config import Extender, ExtenderTLS, parse_config
from quaymaster.errors import QuaymasterError
from quaymaster.objects import from_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import explain_pod
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.extenders import Extenders

Request: TypeAlias = dict[str, Any]
Answer: TypeAlias = Callable[[Request], object]


@attrs.define
class FakeExtender:
    """A server whose answers a test decides.

    Attributes:
        answers: Verb -> a function of the request that makes the answer: plain data,
            bytes that are sent as they are, or the number of a bare HTTP status.
        url: Its address.
        requests: The verbs and requests so far.
        released: Lets answers go on that wait for it; set in the end.
    """

    answers: Mapping[str, Answer]
    url: str = ""
    requests: list[tuple[str, Request]] = attrs.field(factory=list)
    released: threading.Event = attrs.field(factory=threading.Event)

    def asked(self, verb: str) -> list[Request]:
        return [request for one, request in self.requests if one == verb]

    def hang(self, _request: Request) -> object:
        self.released.wait(60)
        return {}

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers["Content-Length"])
        request = json.loads(handler.rfile.read(size))
        verb = handler.path.rsplit("/", 1)[-1]
        self.requests.append((verb, request))
        answer = self.answers[verb](request)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        handler.send_response(answer if isinstance(answer, int) else 200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


@contextlib.contextmanager
def fake_extender(
    tls: ssl.SSLContext | None = None, **answers: Answer
) -> Iterator[FakeExtender]:
    extender = FakeExtender(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with contextlib.suppress(ConnectionError):  # if nobody waits any more
                extender.handle(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        scheme = "https" if tls else "http"
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        extender.url = f"{scheme}://127.0.0.1:{server.server_address[1]}/scheduler"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield extender
        finally:
            extender.released.set()
            server.shutdown()
            thread.join()


def config_with(*extenders: Mapping[str, Any], **settings: Any) -> dict[str, Any]:
    return {
        **HEADER,
        "extenders": list(extenders),
        **settings,
    }


def filtering(extender: FakeExtender, **settings: Any) -> dict[str, Any]:
    return {"urlPrefix": extender.url, "filterVerb": "filter", **settings}


def prioritizing(extender: FakeExtender, **settings: Any) -> dict[str, Any]:
    weight = {"weight": 1, **settings}
    return {"urlPrefix": extender.url, "prioritizeVerb": "prioritize", **weight}


def harness(
    *extenders: Mapping[str, Any],
    pod: Pod | None = None,
    nodes: int = 3,
    **settings: Any,
) -> SchedulerHarness:
    """A cluster of some nodes called n0, n1, ... with one pod, called pod."""
    made = [make_node(name=f"n{index}") for index in range(nodes)]
    objects = [*made, pod or make_pod(requests={"cpu": "1"})]
    return SchedulerHarness(objects, config=config_with(*extenders, **settings))


def keep(*names: str, **failures: Mapping[str, str]) -> Answer:
    """Answer like an extender that was sent whole nodes, and lets some pass."""

    def answer(request: Request) -> object:
        items = request["Nodes"]["items"]
        kept = [node for node in items if node["metadata"]["name"] in names]
        return {"Nodes": {"items": kept}, **failures}

    return answer


def test_filter_leaves_the_nodes_that_the_extender_returns() -> None:
    with fake_extender(filter=keep("n1")) as extender:
        run = harness(filtering(extender))
        run.settle()
    assert run.node_of("pod") == "n1"


def test_filter_is_sent_the_pod_and_the_feasible_nodes_in_full() -> None:
    pod = make_pod(node_selector={"disk": "ssd"}, labels={"app": "web"})
    nodes = [make_node(name="n0"), make_node(name="n1", labels={"disk": "ssd"})]
    with fake_extender(filter=keep("n1")) as extender:
        run = SchedulerHarness([*nodes, pod], config=config_with(filtering(extender)))
        run.settle()
    [request] = extender.asked("filter")
    assert request["Pod"]["metadata"]["labels"] == {"app": "web"}
    assert request["Pod"]["kind"] == "Pod"
    assert [node["metadata"]["name"] for node in request["Nodes"]["items"]] == ["n1"]
    assert request["Nodes"]["items"][0]["metadata"]["labels"]["disk"] == "ssd"
    assert request["NodeNames"] is None


def test_extender_with_a_node_cache_is_sent_names_only() -> None:
    with fake_extender(filter=lambda _: {"nodenames": ["n2"]}) as extender:
        run = harness(filtering(extender, nodeCacheCapable=True))
        run.settle()
    [request] = extender.asked("filter")
    assert request["Nodes"] is None
    assert request["NodeNames"] == ["n0", "n1", "n2"]
    assert run.node_of("pod") == "n2"


def test_each_extender_sees_what_the_one_before_left() -> None:
    with (
        fake_extender(filter=keep("n0", "n1")) as first,
        fake_extender(filter=keep("n1")) as second,
    ):
        run = harness(filtering(first), filtering(second))
        run.settle()
    [request] = second.asked("filter")
    names = [node["metadata"]["name"] for node in request["Nodes"]["items"]]
    assert names == ["n0", "n1"]
    assert run.node_of("pod") == "n1"


def test_ignorable_extenders_are_asked_last() -> None:
    with (
        fake_extender(filter=keep("n0", "n1")) as first,
        fake_extender(filter=keep("n0")) as second,
    ):
        run = harness(filtering(first, ignorable=True), filtering(second))
        run.settle()
    [request] = first.asked("filter")
    assert [node["metadata"]["name"] for node in request["Nodes"]["items"]] == ["n0"]


def test_reasons_of_extenders_are_counted_in_the_message() -> None:
    answer = keep(
        FailedNodes={"n0": "no licence", "n1": "no licence", "n2": "hidden"},
        FailedAndUnresolvableNodes={"n2": "wrong hardware"},
    )
    with fake_extender(filter=answer) as extender:
        run = harness(filtering(extender))
        run.settle()
    message = run.message("pod")
    assert message.startswith(
        "0/3 nodes are available: 1 wrong hardware, 2 no licence. "
    )
    assert message.endswith(
        "preemption: 0/3 nodes are available: 1 Preemption is not helpful for "
        "scheduling, 2 No preemption victims found for incoming pod."
    )


def test_a_name_that_was_not_asked_about_fails_the_attempt() -> None:
    with fake_extender(filter=lambda _: {"NodeNames": ["n9"]}) as extender:
        run = harness(filtering(extender, nodeCacheCapable=True))
        run.schedule_one()
    assert run.message("pod") == (
        f'extender "{extender.url}" claims a filtered node "n9" which is not found in '
        "the input node list"
    )


def test_a_node_in_full_that_was_not_asked_about_is_feasible() -> None:
    made_up = {"Nodes": {"items": [{"metadata": {"name": "n9"}}]}}
    with fake_extender(filter=lambda _: made_up) as extender:
        run = harness(filtering(extender))
        run.schedule_one()
    # Nothing is wrong with it for the scheduler; the cluster knows no such node.
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
            config_with(filtering(extender, **settings)), registry, source="test"
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
        run = harness(filtering(first), both)
        run.settle()
    for verb in ("filter", "prioritize"):
        [request] = second.asked(verb)
        labels = [node["metadata"]["labels"] for node in request["Nodes"]["items"]]
        assert labels == [{"seen": "yes"}] * (3 if verb == "filter" else 2)


def test_nodes_may_be_dropped_without_a_reason() -> None:
    with fake_extender(filter=lambda _: {}) as extender:
        run = harness(filtering(extender))
        run.settle()
    assert run.message("pod").startswith("0/3 nodes are available:")
    assert run.node_of("pod") == ""


def test_a_rejected_pod_names_the_extender_and_any_event_wakes_it() -> None:
    left: list[str] = []

    def answer(request: Request) -> object:
        return keep(*left)(request)

    with fake_extender(filter=answer) as extender:
        run = harness(filtering(extender))
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
                "cannot read what extender '{url}' answered: "
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
                "cannot read what extender '{url}' answered: Nodes.items[]: "
                "status.allocatable.cpu: expected a quantity (a number with an "
                "optional suffix, such as 500m, 2, 1.5Gi or 1e3), got 'much'"
            ),
        ),
        (
            lambda _: {"FailedNodes": {"n0": 3}},
            (
                "cannot read what extender '{url}' answered: FailedNodes.n0: expected "
                "a string, got int"
            ),
        ),
        (
            lambda _: b"",
            (
                "cannot read what extender '{url}' answered: expected JSON: Input data "
                "was truncated"
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
    ],
)
def test_a_failing_filter_fails_the_attempt(answer: Answer, text: str) -> None:
    with fake_extender(filter=answer) as extender:
        run = harness(filtering(extender))
        run.schedule_one()
    assert run.message("pod") == text.format(url=extender.url)
    assert run.node_of("pod") == ""


def test_a_failing_ignorable_filter_is_skipped() -> None:
    with fake_extender(filter=lambda _: 500) as extender:
        run = harness(filtering(extender, ignorable=True))
        run.settle()
    assert run.node_of("pod") != ""


def test_an_extender_that_does_not_answer_in_time_fails_the_attempt() -> None:
    with fake_extender() as extender:
        extender.answers = {"filter": extender.hang}
        run = harness(filtering(extender, httpTimeout="50ms"))
        run.schedule_one()
    assert run.message("pod") == (
        f'Post "{extender.url}/filter": context deadline exceeded '
        "(Client.Timeout exceeded while awaiting headers)"
    )


def test_an_extender_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    run = harness({"urlPrefix": f"{url}/", "filterVerb": "filter"})
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
def test_an_extender_hears_of_pods_with_its_resources(pod: Pod, is_asked: bool) -> None:
    resource = {"name": "example.com/gpu", "ignoredByScheduler": True}
    with fake_extender(filter=keep("n0")) as extender:
        run = harness(filtering(extender, managedResources=[resource]), pod=pod)
        run.settle()
    assert bool(extender.requests) is is_asked
    assert run.node_of("pod") != ""


def test_a_resource_is_left_to_the_extender_only_if_it_says_so() -> None:
    pod = make_pod(requests={"example.com/gpu": "1"})
    with fake_extender(filter=keep("n0")) as extender:
        resource = {"name": "example.com/gpu"}
        run = harness(filtering(extender, managedResources=[resource]), pod=pod)
        run.settle()
    assert "3 Insufficient example.com/gpu" in run.message("pod")
    assert not extender.requests


def test_scores_are_added_to_those_of_the_plugins() -> None:
    scores = [{"Host": "n1", "Score": 7}, {"host": "n0", "score": 2}, {"Host": "n9"}]
    with fake_extender(prioritize=lambda _: scores) as extender:
        document = config_with(prioritizing(extender, weight=3))
        registry = PluginRegistry.discover()
        explained = explain_pod(
            "pod",
            [*(make_node(name=f"n{index}") for index in range(3)), make_pod()],
            config=parse_config(document, registry, source="test"),
            registry=registry,
        )
    assert explained.node == "n1"
    assert explained.explanation is not None
    parts = {
        one.node: one.plugins[extender.url] for one in explained.explanation.scores
    }
    assert [parts[name].weighted for name in ("n0", "n1", "n2")] == [60, 210, 0]
    for one in explained.explanation.scores:
        assert one.total == sum(part.weighted for part in one.plugins.values())


@pytest.mark.parametrize(
    "answer",
    [lambda _: 500, lambda _: {"n0": 1}, lambda _: [{"Host": "n0", "Score": 2**62}]],
    ids=["status", "no list", "too much"],
)
def test_a_failing_prioritize_gives_no_scores_and_fails_nothing(answer: Answer) -> None:
    with fake_extender(prioritize=answer) as extender:
        run = harness(prioritizing(extender, weight=5))
        run.settle()
    assert extender.requests
    assert run.node_of("pod") != ""


def test_a_single_feasible_node_is_not_scored() -> None:
    with fake_extender(prioritize=lambda _: []) as extender:
        run = harness(prioritizing(extender), nodes=1)
        run.settle()
    assert run.node_of("pod") == "n0"
    assert not extender.requests


def test_the_extender_binds_instead_of_the_plugins() -> None:
    with fake_extender() as extender:
        run = harness({"urlPrefix": extender.url, "bindVerb": "bind"})

        def bind(request: Request) -> object:
            run.cluster.bind(run.pod("pod"), request["Node"])
            return {}

        extender.answers = {"bind": bind}
        run.settle()
    [request] = extender.asked("bind")
    assert request == {
        "PodName": "pod",
        "PodNamespace": "default",
        "PodUID": run.pod("pod").uid,
        "Node": run.node_of("pod"),
    }
    assert run.node_of("pod") != ""


def test_a_failed_bind_of_an_extender_is_retried() -> None:
    with fake_extender(bind=lambda _: {"Error": "not today"}) as extender:
        run = harness({"urlPrefix": extender.url, "bindVerb": "bind"})
        run.schedule_one()
        assert run.node_of("pod") == ""
        assert run.message("pod") == "not today"
        run.advance(5)
    assert len(extender.asked("bind")) > 1


def test_after_a_failed_ignorable_binder_the_plugins_bind() -> None:
    with fake_extender(bind=lambda _: 500) as extender:
        run = harness(
            {"urlPrefix": extender.url, "bindVerb": "bind", "ignorable": True}
        )
        run.settle()
    assert run.node_of("pod") != ""


def test_a_bind_whose_answer_was_lost_is_looked_up() -> None:
    with fake_extender() as extender:
        run = harness({"urlPrefix": extender.url, "bindVerb": "bind"})

        def bind(request: Request) -> object:
            run.cluster.bind(run.pod("pod"), request["Node"])
            return b"{"

        extender.answers = {"bind": bind}
        run.settle()
    assert len(extender.asked("bind")) == 1
    assert run.attempts == ["default/pod"]


def test_a_nominated_node_must_pass_the_extenders_too() -> None:
    pod = make_pod(nominated_node="n0")
    with fake_extender(filter=keep("n1")) as extender:
        run = harness(filtering(extender), pod=pod)
        run.settle()
    first, second = extender.asked("filter")
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
def test_a_useless_url_is_found_when_the_scheduler_starts(settings: Extender) -> None:
    with pytest.raises(QuaymasterError, match="extenders: urlPrefix: expected a URL"):
        Extenders([settings])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate for harbour.example that vouches for itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    arguments = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=harbour.example "
        "-addext subjectAltName=DNS:harbour.example -keyout key.pem -out cert.pem"
    )
    subprocess.run(
        [openssl, *arguments.split()], cwd=folder, check=True, capture_output=True
    )
    return folder


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    """What a server needs that also wants to know who its clients are."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    context.load_verify_locations(certificate / "cert.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_https_checks_the_server_and_shows_a_client_certificate(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    server_tls.verify_mode = ssl.CERT_REQUIRED
    settings = {
        "serverName": "harbour.example",
        "caData": encoded(certificate / "cert.pem"),
        "certData": encoded(certificate / "cert.pem"),
        "keyFile": str(certificate / "key.pem"),
    }
    with fake_extender(server_tls, filter=keep("n1")) as extender:
        run = harness(filtering(extender, enableHTTPS=True, tlsConfig=settings))
        run.settle()
    assert run.node_of("pod") == "n1"


def test_https_without_roots_checks_nothing(server_tls: ssl.SSLContext) -> None:
    with fake_extender(server_tls, filter=keep("n1")) as extender:
        run = harness(filtering(extender, enableHTTPS=True))
        run.settle()
    assert run.node_of("pod") == "n1"


def test_https_with_the_wrong_name_fails_the_attempt(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    settings = {"caFile": str(certificate / "cert.pem"), "serverName": "other.example"}
    with fake_extender(server_tls, filter=keep("n1")) as extender:
        run = harness(filtering(extender, tlsConfig=settings))
        run.schedule_one()
    assert "certificate verify failed" in run.message("pod")
    assert run.message("pod").startswith(f'Post "{extender.url}/filter": ')


def test_a_missing_certificate_is_found_when_the_scheduler_starts() -> None:
    settings = ExtenderTLS(ca_file="nowhere.pem")
    extender = Extender(url_prefix="https://a.example", tls_config=settings)
    with pytest.raises(QuaymasterError, match=r"tlsConfig: cannot be used: .*No such"):
        Extenders([extender])


def full_cluster(
    answer: Answer, **settings: object
) -> contextlib.AbstractContextManager[SchedulerHarness]:
    """A pod that only fits where it preempts, and an extender that is asked where."""

    @contextlib.contextmanager
    def running() -> Iterator[SchedulerHarness]:
        full = {"cpu": "4"}
        names = ("n0", "n1")
        objects = [
            *(make_node(name=name) for name in names),
            *(make_pod(name=f"on-{name}", node=name, requests=full) for name in names),
            make_pod(requests=full, priority=10),
        ]
        with fake_extender(preempt=answer) as extender:
            config = {"urlPrefix": extender.url, "preemptVerb": "preempt", **settings}
            yield SchedulerHarness(objects, config=config_with(config))

    return running()


def test_preemption_goes_where_the_extender_lets_it() -> None:
    def answer(request: Request) -> object:
        victims = request["NodeNameToVictims"]
        assert sorted(victims) == ["n0", "n1"]
        [pod] = victims["n1"]["Pods"]
        meta = {"Pods": [{"UID": pod["metadata"]["uid"]}], "NumPDBViolations": 0}
        return {"NodeNameToMetaVictims": {"n1": meta}}

    with full_cluster(answer) as run:
        run.settle()
        assert run.node_of("pod") == "n1"


def test_preemption_sends_uids_to_an_extender_with_a_cache() -> None:
    def answer(request: Request) -> object:
        victims = request["NodeNameToMetaVictims"]
        assert [list(pod) for pod in victims["n0"]["Pods"]] == [["UID"]]
        return {"NodeNameToMetaVictims": {"n0": victims["n0"]}}

    with full_cluster(answer, nodeCacheCapable=True) as run:
        run.settle()
        assert run.node_of("pod") == "n0"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda _: {}, "preemption: no candidate node for preemption"),
        (
            lambda _: {"NodeNameToMetaVictims": {"n0": {"Pods": []}}},
            'preemption: expected at least one victim pod on node "n0"',
        ),
        (
            lambda _: {"NodeNameToMetaVictims": {"n0": {"Pods": [{"UID": "x"}]}}},
            "claims to preempt pod (UID: x) on node: n0, but the pod is not found",
        ),
        (
            lambda _: {"NodeNameToMetaVictims": {"n9": {}}},
            'preemption: nodeinfo not found for node name "n9"',
        ),
        (lambda _: 500, "preemption: failed preempt with extender at URL"),
    ],
    ids=["none left", "no victims", "unknown pod", "unknown node", "status"],
)
def test_an_extender_can_keep_preemption_from_happening(
    answer: Answer, text: str
) -> None:
    with full_cluster(answer) as run:
        run.schedule_one()
        assert text in run.message("pod")
        assert run.pod("on-n0").metadata.deletion_timestamp is None
        assert run.pod("on-n1").metadata.deletion_timestamp is None


def test_a_failing_ignorable_extender_does_not_keep_preemption_from_happening() -> None:
    with full_cluster(lambda _: 500, ignorable=True) as run:
        run.settle()
        assert run.node_of("pod") != ""
