"""The doctor's findings about a cluster, whose answers the tests give."""

import socket
from collections.abc import Mapping
from email.message import Message
from email.utils import formatdate
from typing import Any, TypeAlias

import msgspec
import pytest

from quaymaster import Handle, Pod, hookimpl
from quaymaster.config import Kubernetes, SchedulerConfig, parse_config
from quaymaster.objects import Time
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.internals.cli import finding_document
from tests.kit.internals.deploy import (
    Finding,
    Patient,
    State,
    examine,
    port_free,
    rights_of,
)
from tests.kit.internals.kubernetes import Answer, ApiError
from tests.kit.kinds import PodGroup
from tests.kit.results import checked_result

Tree: TypeAlias = dict[str, Any]

NOW = 1_800_000_000.0
PLAYED = Kubernetes("1.36")
VERSION = {"gitVersion": "v1.36.2"}
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
EVENTS = "/apis/events.k8s.io/v1/events"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
KINDS = {
    "/api/v1": ["nodes", "pods"],
    "/apis/scheduling.x-k8s.io/v1alpha1": ["podgroups"],
}


class Groups:
    kinds = (PodGroup,)
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None: ...

    @hookimpl
    def filter(self, pod: Pod) -> None: ...


class Server:
    """Answers as a healthy API server, except for what a test sets.

    Args:
        answers: Path -> the answer instead; a number is an error code.
        refused: The verbs and resources that are not allowed.
        skew: How many seconds its clock is ahead.
    """

    def __init__(
        self,
        answers: Mapping[str, Tree | int] | None = None,
        refused: tuple[str, ...] = (),
        skew: float = 0.0,
    ) -> None:
        self.answers: dict[str, Tree | int] = {
            "/version": VERSION,
            LEASE: 404,
            EVENTS: 403,
            **{path: kinds(*names) for path, names in KINDS.items()},
            **(answers or {}),
        }
        self.refused = refused
        self.headers = Message()
        self.headers["Date"] = formatdate(NOW + skew, usegmt=True)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: bytes = b"",
    ) -> Answer:
        found = self.answers.get(path, 404) if method == "GET" else self.review(body)
        if isinstance(found, int):
            raise ApiError("the server", f"{method} {path}: {found}", code=found)
        return Answer(200, msgspec.json.encode(found), self.headers)

    def review(self, body: bytes) -> Tree:
        tree = msgspec.json.decode(body)
        if tree["kind"] == "SelfSubjectReview":
            return {"status": {"userInfo": {"username": "pilot"}}}
        attributes = tree["spec"]["resourceAttributes"]
        resource = "/".join(
            filter(None, (attributes["resource"], attributes["subresource"]))
        )
        is_refused = f"{attributes['verb']} {resource}" in self.refused
        return {"status": {"allowed": not is_refused}}


class Silent:
    """Does not answer."""

    def request(self, *_: object, **__: object) -> Answer:
        raise ApiError("the server", "connection refused")


def kinds(*names: str) -> Tree:
    return {"resources": [{"name": name} for name in names]}


def config_of(
    registry: PluginRegistry, kubernetes: Kubernetes, **settings: object
) -> SchedulerConfig:
    names = ("PrioritySort", "DefaultBinder", "Groups")
    enabled = {"disabled": [{"name": "*"}], "enabled": [{"name": n} for n in names]}
    profile = {"plugins": {"multiPoint": enabled}}
    document = {**HEADER, "profiles": [profile], **settings}
    return parse_config(document, registry, kubernetes=kubernetes)


def found(
    server: Server | Silent,
    kubernetes: Kubernetes = PLAYED,
    /,
    **settings: object,
) -> dict[str, list[Finding]]:
    """Return the doctor's findings by the names of its checks."""
    registry = PluginRegistry.discover().with_plugin(Groups)
    config = config_of(registry, kubernetes, **settings)
    patient = Patient(
        client=server,
        config=config,
        kinds=[PodGroup],
        needs=rights_of(config, registry),
        now=lambda: NOW,
    )
    by_check: dict[str, list[Finding]] = {}
    for finding in examine(patient):
        by_check.setdefault(finding.check, []).append(finding)
    return by_check


def lease(holder: str, age: float) -> Tree:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "renewTime": moment(NOW - age),
        },
    }


def moment(seconds: float) -> str:
    return str(Time(seconds))


def event(instance: str, age: float) -> Tree:
    return {"reportingInstance": instance, "eventTime": moment(NOW - age)}


def test_all_is_well() -> None:
    findings = found(Server())
    assert {finding.state for ones in findings.values() for finding in ones} == {
        State.OK
    }
    assert {check: ones[0].text for check, ones in findings.items()} == {
        "server": "answers as pilot",
        "version": "v1.36.2",
        "clock": "within 5 s of the server's",
        "kinds": "all 1 are served",
        "rights": "19 rights, all given",
        "lease": "kube-system/kube-scheduler does not exist yet; the first leader "
        "creates it",
        "rivals": "no other scheduler of default-scheduler was seen",
    }


def test_missing_right_is_named_with_the_component_that_needs_it() -> None:
    (finding,) = found(Server(refused=("patch pods/status",)))["rights"]
    assert finding.state is State.MISSING
    assert finding.text.startswith("patch pods/status: needed by the scheduler (why")
    assert finding.need is not None
    assert (finding.need.right.verb, finding.need.right.resource) == (
        "patch",
        "pods/status",
    )


def test_findings_have_the_documented_type() -> None:
    findings = found(Server(refused=("patch pods/status",)))
    documents = [
        finding_document(each) for group in findings.values() for each in group
    ]
    [missing] = [
        finding
        for finding in checked_result("doctor", documents)
        if finding.state is State.MISSING
    ]
    assert missing.right.resource == "pods/status"
    assert missing.needed_by


@pytest.mark.parametrize(
    ("played", "version", "state"),
    [
        ("1.36", "v1.36.0", State.OK),
        ("1.36", "v1.37.1-gke.12", State.OK),
        ("1.36", "v1.35.4", State.WARNING),
        ("1.36", "v1.38.0", State.WARNING),
        ("1.36", "nightly", State.WARNING),
        ("1.37", "v1.37.1", State.OK),
        ("1.37", "v1.38.0", State.OK),
        ("1.37", "v1.36.2", State.WARNING),
    ],
)
def test_server_may_be_one_minor_release_ahead(
    played: str, version: str, state: State
) -> None:
    server = Server({"/version": {"gitVersion": version}})
    (finding,) = found(server, Kubernetes(played))["version"]
    assert finding.state is state
    assert version in finding.text


@pytest.mark.parametrize(("played", "server"), [("1.36", "1.37"), ("1.37", "1.36")])
def test_finding_suggests_the_servers_own_version(played: str, server: str) -> None:
    answers = Server({"/version": {"gitVersion": f"v{server}.1"}})
    (finding,) = found(answers, Kubernetes(played))["version"]
    assert (
        f"decisions are those of {played}; --kubernetes {server} makes" in finding.text
    )


@pytest.mark.parametrize(
    ("skew", "said"), [(90.0, "90 s behind"), (-20.0, "20 s ahead of")]
)
def test_clock_skew_is_reported(skew: float, said: str) -> None:
    (finding,) = found(Server(skew=skew))["clock"]
    assert finding.state is State.WARNING
    assert finding.text.startswith(said)


def test_kind_that_is_not_served_is_missing() -> None:
    (finding,) = found(Server({"/apis/scheduling.x-k8s.io/v1alpha1": 404}))["kinds"]
    assert finding.state is State.MISSING
    assert finding.text == (
        "PodGroup (scheduling.x-k8s.io/v1alpha1) is not served: is its "
        "CustomResourceDefinition there?"
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lease("a_1", 3), "is held by a_1, renewed 3 s ago"),
        (lease("a_1", 60), "was held by a_1, renewed 60 s ago"),
        (lease("", 3), "has no holder"),
    ],
    ids=["held", "expired", "given back"],
)
def test_lease_finding_names_the_leader(answer: Tree, said: str) -> None:
    (finding,) = found(Server({LEASE: answer}))["lease"]
    assert finding.state is State.OK
    assert finding.text == f"kube-system/kube-scheduler {said}"


def test_no_election_is_a_warning() -> None:
    (finding,) = found(Server(), leaderElection={"leaderElect": False})["lease"]
    assert finding.state is State.WARNING


def test_kube_scheduler_at_work_is_a_rival_unless_its_lease_is_shared() -> None:
    server = Server({LEASE: lease("master-1_2", 1)})
    (finding,) = found(server, leaderElection={"resourceName": "mine"})["rivals"]
    assert finding.state is State.WARNING
    assert "kube-scheduler (master-1_2) schedules the same pods" in finding.text
    assert found(server)["rivals"][0].state is State.OK


def test_events_of_another_host_reveal_a_rival() -> None:
    items = [
        event("default-scheduler-leader", 10),
        event("default-scheduler-other", 20),
        event("default-scheduler-gone", 4000),
    ]
    server = Server({LEASE: lease("leader_1", 1), EVENTS: {"items": items}})
    (finding,) = found(server)["rivals"]
    assert finding.text == "other has recently scheduled pods of 'default-scheduler'"


def test_server_that_does_not_answer_gets_no_further_requests() -> None:
    findings = found(Silent())
    assert list(findings) == ["server"]
    assert findings["server"][0].state is State.MISSING


@pytest.mark.parametrize(
    ("ignorable", "state"), [(True, State.WARNING), (False, State.MISSING)]
)
def test_unreachable_extender_is_reported(ignorable: bool, state: State) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    extender = {"urlPrefix": f"http://127.0.0.1:{port}", "ignorable": ignorable}
    findings = found(Server(), extenders=[{**extender, "filterVerb": "filter"}])
    assert findings["extenders"][0].state is state


def test_extender_that_listens_is_fine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        extender = {"urlPrefix": f"http://127.0.0.1:{port}", "filterVerb": "filter"}
        findings = found(Server(), extenders=[extender])
    assert findings["extenders"][0].state is State.OK


def test_port_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        (taken,) = port_free("127.0.0.1", port)
    (free,) = port_free("127.0.0.1", port)
    assert (taken.state, free.state) == (State.WARNING, State.OK)
    assert not list(port_free("127.0.0.1", 0))
