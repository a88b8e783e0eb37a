"""Tests that are generated from decisions are small, anonymous, and pass."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.manifests import load
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import PodNotFoundError, WhichAttempt
from quaymaster.testing import (
    MadeTest,
    UnreproducibleError,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_priority_class,
    make_service,
    make_stateful_set,
    make_test,
)
from tests.kit.internals.cli import app

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
NODES = [
    make_node(name=f"n{index}", capacity={"cpu": "2", "memory": "8Gi"})
    for index in range(3)
]
GPU = make_node(name="gpu", taints=["gpu=yes:NoSchedule"])
BUSY = [
    make_pod(name=f"busy-{index}", node=f"n{index // 2}", requests={"cpu": "1"})
    for index in range(6)
]


def made(pod: str, *objects: ApiObject, max_trials: int = 500) -> MadeTest:
    return make_test(
        pod,
        objects,
        config=CONFIG,
        registry=REGISTRY,
        max_trials=max_trials,
    )


def played(test: MadeTest) -> Mapping[str, object]:
    """Run a generated test and return its names; a failure raises."""
    names: dict[str, object] = {}
    exec(compile(test.text, "test_made.py", "exec"), names)
    [function] = [value for name, value in names.items() if name.startswith("test_")]
    assert callable(function)
    function()
    return names


def joined(test: MadeTest) -> str:
    """Return the file with its split texts joined."""
    return test.text.replace('"\n        "', "")


def waiting(name: str = "late") -> ApiObject:
    return make_pod(name=name, namespace="shop", requests={"cpu": "1"})


@pytest.mark.long
def test_a_pending_pod_keeps_one_node_for_each_reason() -> None:
    test = made("shop/late", *NODES, GPU, *BUSY, waiting(), make_service(name="s"))
    assert (test.outcome, test.nodes, test.is_smallest) == ("unschedulable", 2, True)
    played(test)
    text = joined(test)
    assert "1 Insufficient cpu, 1 node(s) had untolerated taint(s)." in text


@pytest.mark.long
def test_a_full_node_stays_a_full_node_and_does_not_become_a_small_one() -> None:
    """A pod without room differs from a pod that is too large for any node."""
    test = made("shop/late", *NODES, *BUSY, waiting())
    played(test)
    assert test.pods >= 2
    assert "No preemption victims found" in joined(test)


@pytest.mark.long
def test_nothing_keeps_its_name() -> None:
    test = made("shop/late", *NODES, GPU, *BUSY, waiting())
    assert not {"late", "shop", "n0", "busy-0", "yes"} & set(test.text.split())
    assert test.pod.partition("/")[0] != "shop"


@pytest.mark.long
def test_a_placed_pod_keeps_the_node_that_lost() -> None:
    small = make_node(name="small", capacity={"cpu": "4", "memory": "8Gi"})
    large = make_node(name="large", capacity={"cpu": "16", "memory": "32Gi"})
    test = made("shop/late", small, large, waiting())
    assert (test.outcome, test.nodes, test.pods) == ("scheduled", 2, 1)
    played(test)


@pytest.mark.long
def test_a_pod_of_a_stateful_set_stays_a_pod_of_the_cluster() -> None:
    """Its set would create another pod of the same name."""
    database = make_stateful_set(name="db", pod=make_pod(requests={"cpu": "1"}))
    test = made("sts/db", *NODES[:2], database)
    assert (test.outcome, test.pods) == ("scheduled", 1)
    assert "StatefulSet" not in test.text
    played(test)


@pytest.mark.long
@pytest.mark.parametrize("attempt", [1, WhichAttempt.FIRST], ids=["number", "word"])
def test_the_attempt_that_preempts_keeps_its_victim(
    attempt: WhichAttempt | int,
) -> None:
    high = make_priority_class(name="high", value=1000)
    vip = make_pod(name="vip", requests={"cpu": "2"}, priority=1000)
    test = make_test(
        "vip",
        [*NODES, *BUSY, high, vip],
        config=CONFIG,
        registry=REGISTRY,
        attempt=attempt,
        max_trials=300,
    )
    assert (test.outcome, test.pods) == ("unschedulable", 2)
    assert "nodeName: x" in test.text
    assert "assert attempt.nominated_node ==" in test.text
    played(test)


@pytest.mark.long
def test_a_tie_is_decided_alike_by_another_seed() -> None:
    nodes = [make_node(name=name) for name in ("a", "b")]
    pods = [make_pod(name=f"p{index}") for index in range(8)]
    for pod in pods[::4]:
        test = made(pod.name, *nodes, *pods)
        assert "Another node is as good, so the seed decides." in joined(test)
        played(test)


@pytest.mark.long
def test_the_last_attempt_finds_the_node_that_was_freed() -> None:
    high = make_priority_class(name="high", value=1000)
    vip = make_pod(name="vip", requests={"cpu": "2"}, priority=1000)
    test = made("vip", *NODES, *BUSY, high, vip)
    assert test.outcome == "scheduled"
    assert "nominatedNodeName" in test.text
    played(test)


def test_a_missing_attempt_is_an_error() -> None:
    with pytest.raises(PodNotFoundError, match="attempt 7 does not exist"):
        make_test(
            "shop/late",
            [*NODES, waiting()],
            config=CONFIG,
            registry=REGISTRY,
            attempt=7,
        )


@pytest.mark.long
def test_a_volume_of_another_zone_stays_the_reason() -> None:
    """Only its claim, the volume and its node affinity remain."""
    claim = make_persistent_volume_claim(name="data", namespace="shop", volume="pv")
    zone = "topology.kubernetes.io/zone"
    volume = make_persistent_volume(name="pv", claim=claim, node_labels={zone: "a"})
    pod = make_pod(name="db", namespace="shop", claims=["data"])
    elsewhere = make_node(name="b", labels={zone: "b"})
    test = made("shop/db", elsewhere, volume, claim, pod, make_service(name="s"))
    assert (test.outcome, test.objects) == ("unschedulable", 4)
    assert "node(s) didn't match PersistentVolume's node affinity" in joined(test)
    played(test)


@pytest.mark.long
def test_the_trials_are_bounded() -> None:
    test = made("shop/late", *NODES, GPU, *BUSY, waiting(), max_trials=5)
    assert (test.trials, test.is_smallest) == (5, False)
    played(test)


@pytest.mark.long
def test_the_same_input_gives_the_same_test() -> None:
    objects = [*NODES, GPU, *BUSY, waiting()]
    first, second = (made("shop/late", *objects, max_trials=60) for _ in range(2))
    assert first == second


@pytest.mark.long
def test_a_pod_that_was_never_tried_has_no_decision() -> None:
    bound = make_pod(name="bound", node="n0")
    with pytest.raises(UnreproducibleError, match="--unbind schedules it anew"):
        made("bound", *NODES, bound)
    with pytest.raises(PodNotFoundError):
        made("nobody", *NODES)
    test = make_test(
        "bound", [*NODES, bound], config=CONFIG, registry=REGISTRY, unbind=True
    )
    assert test.outcome == "scheduled"


BOUTIQUE = str(Path(__file__).parents[4] / "docs" / "examples" / "online-boutique")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["snapshot", *arguments])


@pytest.mark.long
def test_the_file_of_the_command_passes(tmp_path: Path) -> None:
    file = tmp_path / "test_cart.py"
    arguments = ("--nodes", "2:cpu=1,memory=1Gi", "--nodes", "1:cpu=8,memory=64Mi")
    said = run(BOUTIQUE, *arguments, "--pod", "deploy/frontend", "--to-test", str(file))
    assert said.exit_code == 0, said.output
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        capture_output=True,
        check=False,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout


def test_a_snapshot_of_files_is_input(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    said = run(BOUTIQUE, "--nodes", "2:cpu=4,memory=8Gi", "-o", str(file))
    assert said.exit_code == 0
    assert "2 nodes, 0 pods" in said.output
    named = load([BOUTIQUE]).objects
    assert len(load([str(file)]).objects) == len(named) + 2
    run(BOUTIQUE, "-o", str(file), "--anonymise")
    names = {obj.name for obj in load([str(file)]).objects}
    assert not names & {obj.name for obj in named}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected -o FILE, or --pod POD --to-test FILE.py"),
        (("--pod", "x"), "--pod and --to-test go together"),
        (("--pod", "x", "--to-test", "f", "-o", "g"), "do not go together"),
        (("x.yaml", "-l", "a=b", "-o", "-"), "-l is for live clusters"),
    ],
)
def test_options_that_exclude_each_other_are_rejected(
    arguments: tuple[str, ...], message: str
) -> None:
    said = run(*arguments)
    assert (said.exit_code, message in said.output) == (2, True), said.output
