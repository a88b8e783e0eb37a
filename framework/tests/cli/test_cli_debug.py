"""``quaymaster debug dump``, against a scheduler's pages."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from click.testing import CliRunner

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod
from tests.kit.clusters import make_cluster
from tests.kit.internals.cli import app
from tests.kit.internals.operation import (
    Gate,
    PageServer,
    ServingOptions,
    User,
    Verdict,
    attempts_page,
    dump_page,
    facts_now,
)
from tests.kit.internals.serving import SelfSignedTLS

HELD = {
    "queues": {"active": [], "unschedulable": []},
    "inFlight": [],
    "bindsInFlight": 0,
    "waiting": [],
    "nominated": {"n": ["default/vip"]},
    "assumed": [],
    "nodes": [{"name": "n", "pods": 3}],
    "wrong": [],
    "differsFromServer": [],
}


T = TypeVar("T")


class AtOnce:
    """Runs calls to the engine at once."""

    def ask(self, question: Callable[[], T], /) -> T:
        return question()


def scheduled() -> Simulation:
    """Return a simulation of a pod that fits nowhere and of one that fits."""
    registry = PluginRegistry.discover()
    cluster = make_cluster(
        make_node(name="a", capacity={"cpu": "2", "pods": "9"}),
        make_node(name="b", taints=["x=y:NoSchedule"]),
        make_pod(name="big", requests={"cpu": "3"}),
        make_pod(name="small"),
    )
    run = Simulation(cluster, config=default_config(registry), registry=registry)
    run.settle()
    return run


class Register:
    """Accepts one token, which has all rights."""

    def user_of(self, token: str) -> User | None:
        return User("admin") if token == "t0ken" else None

    def may(self, user: User, verb: str, path: str) -> Verdict:
        is_known = path in ("/debug/dump", "/debug/attempts")
        return Verdict((user.name, verb) == ("admin", "get") and is_known)


@pytest.fixture
def url() -> Iterator[str]:
    options = ServingOptions(tls=SelfSignedTLS("127.0.0.1"))
    with scheduled() as simulation:
        scheduler = simulation.scheduler
        pages = {
            "/debug/dump": dump_page(lambda: HELD),
            "/debug/attempts": attempts_page(
                AtOnce(), scheduler.past_attempts, facts_now(scheduler)
            ),
        }
        server = PageServer(("127.0.0.1", 0), pages, Gate(Register()), options)
        server.start()
        yield server.url
        server.stop()


def run(
    folder: Path, *arguments: str, token: str = "t0ken", verb: str = "dump"
) -> tuple[int, str]:
    kubeconfig = folder / "kubeconfig"
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://harbour.example"}}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
    kubeconfig.write_text(json.dumps(tree))
    given = ["debug", verb, "--kubeconfig", str(kubeconfig), *arguments]
    result = CliRunner().invoke(app, given)
    if result.exception and not isinstance(result.exception, SystemExit):
        return 2, str(result.exception)
    return result.exit_code, result.output


@pytest.mark.long
def test_dump_is_printed_in_lines(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--server", url)
    assert code == 0
    assert "nominated: 1\n  default/vip to n\n" in output
    assert "nodes: 1, with 3 pods\n" in output


@pytest.mark.long
def test_dump_is_printed_as_json(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--server", url, "-o", "json")
    assert code == 0
    assert json.loads(output) == HELD


@pytest.mark.long
def test_dump_needs_the_right(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--server", url, token="other")
    assert code == 2
    assert "GET /debug/dump: 401 Unauthorized" in output


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("http://127.0.0.1:1", "expected a URL such as https://127.0.0.1:10259"),
        ("https://harbour.example", "needs --certificate-authority"),
    ],
)
def test_credentials_are_not_sent_to_unverified_servers(
    server: str, expected: str, tmp_path: Path
) -> None:
    code, output = run(tmp_path, "--server", server)
    assert code == 2
    assert expected in output


@pytest.mark.long
def test_past_attempts_of_a_pod_are_printed_with_their_nodes(
    url: str, tmp_path: Path
) -> None:
    code, output = run(tmp_path, "big", "--server", url, verb="attempts")
    assert code == 0
    assert "default/big: attempt 1 at " in output
    assert ": unschedulable\n  0/2 nodes are available: 1 Insufficient cpu" in output
    assert "  1 node rejected by NodeResourcesFit: Insufficient cpu: a\n" in output


@pytest.mark.long
def test_reasons_for_one_node_are_printed(url: str, tmp_path: Path) -> None:
    code, output = run(
        tmp_path, "default/small", "--node", "b", "--server", url, verb="attempts"
    )
    assert code == 0
    assert "scheduled on a (1 of 2 evaluated nodes feasible)\n" in output
    assert "  b: it was rejected by TaintToleration: node(s) had untolerated" in output


@pytest.mark.long
def test_the_last_attempts_of_all_pods_are_printed_as_json(
    url: str, tmp_path: Path
) -> None:
    code, output = run(tmp_path, "--server", url, "-o", "json", verb="attempts")
    assert code == 0
    pods = {
        attempt["pod"]: attempt["outcome"] for attempt in json.loads(output)["attempts"]
    }
    assert pods == {"default/big": "unschedulable", "default/small": "scheduled"}


@pytest.mark.long
def test_facts_of_now_follow_the_attempts_if_they_are_requested(
    url: str, tmp_path: Path
) -> None:
    code, output = run(tmp_path, "big", "--facts", "--server", url, verb="attempts")
    assert code == 0
    lines = output.splitlines()
    where = lines.index("facts of now, from the first node with each reason:")
    assert "  Insufficient cpu (a): wants cpu 3; free cpu 2 of 2" in lines[where:]
    taint = "node(s) had untolerated taint(s) (b): does not tolerate x=y:NoSchedule"
    assert f"  {taint}" in lines[where:]
    _, without = run(tmp_path, "big", "--server", url, verb="attempts")
    assert "facts" not in without


@pytest.mark.long
def test_pod_that_is_not_pending_has_no_facts(url: str, tmp_path: Path) -> None:
    given = ("small", "--facts", "--server", url, "-o", "json")
    _, output = run(tmp_path, *given, verb="attempts")
    assert json.loads(output)["facts"] == []


@pytest.mark.long
def test_a_pod_without_kept_attempts_is_reported(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "nobody", "--server", url, verb="attempts")
    assert (code, output) == (0, "no attempt of default/nobody is recorded\n")


@pytest.mark.long
def test_a_node_without_a_pod_is_refused(url: str, tmp_path: Path) -> None:
    code, output = run(tmp_path, "--node", "a", "--server", url, verb="attempts")
    assert code == 2
    assert "--node needs a POD" in output
