"""The replay of a recorded simulation with the same configuration agrees."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, AdmissionError
from quaymaster.recording import (
    Agreement,
    RecordError,
    record_simulation,
    replay,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import (
    make_affinity_term,
    make_deployment,
    make_job,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_spread_constraint,
)
from tests.kit.profiles import fewer

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


@st.composite
def nodes(draw: st.DrawFn) -> list[ApiObject]:
    taints = st.sampled_from([[], [], ["a=b:NoSchedule"], ["a=b:PreferNoSchedule"]])
    return [
        make_node(
            name=f"n{number}",
            labels={ZONE: draw(st.sampled_from(["east", "west"])), HOST: f"n{number}"},
            taints=draw(taints),
            capacity={
                "cpu": draw(st.sampled_from(["1", "2", "4"])),
                "memory": "4Gi",
                "pods": str(draw(st.integers(2, 6))),
            },
        )
        for number in range(draw(st.integers(1, 6)))
    ]


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    rarely = st.integers(0, 3).map(lambda number: number == 0)
    same = {"app": name}
    seconds = draw(st.sampled_from(["", "5", "40"]))
    return make_pod(
        name=name,
        labels=same,
        annotations={RUN_SECONDS_ANNOTATION: seconds} if seconds else {},
        requests={"cpu": draw(st.sampled_from(["100m", "500m", "1", "1500m"]))},
        priority=draw(st.sampled_from([0, 0, 5, 10])),
        tolerations=["a=b:NoSchedule"] if draw(rarely) else [],
        spread=[make_spread_constraint(selector=same)] if draw(rarely) else [],
        pod_anti_affinity=[make_affinity_term(selector=same)] if draw(rarely) else [],
        host_ports=[80] if draw(rarely) else [],
        scheduling_gates=["wait"] if draw(st.integers(0, 9)) == 0 else [],
    )


@st.composite
def clusters(draw: st.DrawFn) -> list[ApiObject]:
    """Draw nodes and different pods, often more than fit."""
    found = draw(nodes())
    # Unimportant pods that run, which others may preempt.
    for node in list(found):
        if draw(st.booleans()):
            name = f"old-{node.name}"
            requests = {"cpu": "800m"}
            found.append(
                make_pod(name=name, node=node.name, requests=requests, priority=-1)
            )
    for number in range(draw(st.integers(1, 5))):
        pod, name = draw(pods(f"app{number}")), f"w{number}"
        count = draw(st.integers(1, 4))
        match draw(st.sampled_from(["pod", "deployment", "job", "claim"])):
            case "pod":
                found.append(pod)
            case "deployment":
                found.append(make_deployment(name=name, replicas=count, pod=pod))
            case "job":
                found.append(
                    make_job(name=name, completions=count, parallelism=2, pod=pod)
                )
            case _:
                found.append(make_persistent_volume_claim(name=name))
                found.append(
                    make_pod(name=name, requests={"cpu": "500m"}, claims=[name])
                )
    return found


# Each example is a whole simulation, and its replay.
@fewer(2)
@given(objects=clusters(), seed=st.integers(0, 3))
def test_replay_of_a_simulation_makes_the_same_decisions(
    objects: list[ApiObject], seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "record.jsonl.gz"
        try:
            result = record_simulation(
                objects, file, config=CONFIG, registry=REGISTRY, seed=seed
            )
        except AdmissionError:
            event("refused")
            return
        replayed = replay(file, config=CONFIG, registry=REGISTRY)
    counts = replayed.counts()
    event(f"some wait: {bool(result.unscheduled)}")
    event(f"some preempt: {bool(result.preempted)}")
    assert counts[Agreement.SAME] + counts[Agreement.TIE] == len(replayed.decisions)
    placed = [decision for decision in replayed.decisions if decision.theirs.node]
    assert len(placed) == len(result.placements)


def objects_of_two_nodes() -> list[ApiObject]:
    pods = make_deployment(replicas=3, pod=make_pod(requests={"cpu": "1"}))
    capacity = {"cpu": "1", "memory": "4Gi", "pods": "9"}
    return [*(make_node(name=name, capacity=capacity) for name in "ab"), pods]


def test_decisions_are_those_of_a_simulation_without_a_record(tmp_path: Path) -> None:
    objects = objects_of_two_nodes()
    plain = simulate(objects, config=CONFIG, registry=REGISTRY, seed=3)
    recorded = record_simulation(
        objects, tmp_path / "r.jsonl", config=CONFIG, registry=REGISTRY, seed=3
    )
    assert recorded == plain


def test_existing_record_is_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text("mine\n")
    with pytest.raises(RecordError, match="expected a new file"):
        record_simulation(
            objects_of_two_nodes(), file, config=CONFIG, registry=REGISTRY
        )
    assert file.read_text() == "mine\n"


def test_simulation_that_breaks_leaves_no_record(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record_simulation(
            objects_of_two_nodes(),
            file,
            config=CONFIG,
            registry=REGISTRY,
            on_progress=stop,
        )
    assert not file.exists()
