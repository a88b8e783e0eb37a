"""``quaymaster record`` and ``quaymaster replay``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster, make_nodes
from quaymaster.recording import ClusterRecorder, RecordError, RecordWriter
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import make_pod
from tests.kit.gang_files import GATES, gang_yaml, rack_yaml, yaml_file
from tests.kit.internals.cli import app
from tests.kit.results import checked_result


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a record of two pods on two nodes, and of one that is too large."""
    registry = PluginRegistry.discover()
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(make_nodes(["2:cpu=4,memory=8Gi"]))
    file = tmp_path / "record.jsonl.gz"
    with RecordWriter(file) as writer:
        recorder = ClusterRecorder(cluster, writer.write)
        config = default_config(registry)
        with Simulation(cluster, config=config, registry=registry) as simulation:
            for name, cpu in (("a", "1"), ("b", "1"), ("large", "8")):
                cluster.create(make_pod(name=name, requests={"cpu": cpu}))
                simulation.run_until(simulation.now + 10)
        recorder.close()
    return str(file)


def test_replay_counts_decisions_that_agree(path: str) -> None:
    result = run("replay", path, "--require-same")
    assert result.exit_code == 0
    lines = [line.split()[:2] for line in result.output.splitlines()]
    assert ["2", "same"] in lines
    assert ["1", "tie"] in lines
    assert ["0", "differs"] in lines
    assert "3 decisions about 3 pods" in result.output


def test_simulation_is_recorded_and_replayed(tmp_path: Path) -> None:
    pods, file = tmp_path / "pods.yaml", tmp_path / "record.jsonl.gz"
    pods.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
        "spec: {containers: [{name: a, image: a}]}}"
    )
    nodes = ("--nodes", "1:cpu=2,memory=4Gi")
    arguments = ("simulate", *nodes, str(pods), "--record", str(file), "-o", "name")
    assert run(*arguments).output == "pod/a\n"
    result = run("replay", str(file), "--require-same", "-o", "json")
    assert json.loads(result.output)["summary"]["same"] == 1
    with pytest.raises(RecordError, match="expected a new file"):
        run(*arguments)


AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
flags: [--scan-interval=2s]
groups:
- name: big
  max: 1
  price: 1.5
  registration: 1s
  readiness: 1s
  resources: {cpu: 16, memory: 8Gi}
"""


@pytest.mark.long
def test_an_autoscaler_may_decide_about_nodes_of_a_record(path: str) -> None:
    file = Path(path).with_name("autoscaler.yaml")
    file.write_text(AUTOSCALER)
    options = ("--what-if", "--autoscaler", str(file))
    output = run("replay", path, *options).output
    rows = {line.partition("  ")[0]: line.split()[-2:] for line in output.splitlines()}
    assert rows["pods placed"] == ["3", "2"]
    assert rows["hours of nodes"] == ["0.02", "0.02"]
    assert rows["pods evicted by the autoscaler"] == ["0", "-"]
    document = json.loads(run("replay", path, *options, "-o", "json").output)
    checked_result("replay-what-if", document)
    assert [node["group"] for node in document["autoscaler"]["nodes"]] == ["big"]


def test_an_autoscaler_needs_decisions_of_our_own(path: str) -> None:
    result = run("replay", path, "--autoscaler", "autoscaler.yaml")
    assert result.exit_code == 2
    assert "--autoscaler needs --what-if" in result.output


def test_replay_shows_both_nodes_and_their_scores(path: str) -> None:
    result = run("replay", path, "--config", "bin-packing", "--require-same")
    assert result.exit_code == 1
    assert "pod default/b (default-scheduler) after 10s" in result.output
    assert "<- theirs" in result.output
    assert "<- ours" in result.output
    assert "what the record cannot show" in result.output


def test_replay_prints_documents(path: str) -> None:
    document = json.loads(run("replay", path, "-o", "json").output)
    assert document["summary"]["same"] == 2
    assert [decision["agreement"] for decision in document["decisions"]] == [
        "tie",
        "same",
        "same",
    ]
    assert document["decisions"][2]["theirs"]["message"].startswith("0/2 nodes are")


def test_what_if_prints_both_results(path: str) -> None:
    result = run("replay", path, "--what-if")
    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    assert ["pods", "placed", "2", "2"] in lines
    assert ["cpu", "requested", "20.8%", "20.8%"] in lines
    document = json.loads(run("replay", path, "--what-if", "-o", "json").output)
    assert document["ours"] == document["theirs"]
    assert run("replay", path, "--what-if", "--require-same").exit_code == 2


def test_file_that_is_not_a_record_is_an_error_of_one_line(tmp_path: Path) -> None:
    file = tmp_path / "pods.yaml"
    file.write_text("kind: Pod\n")
    with pytest.raises(RecordError) as caught:
        run("replay", str(file))
    said = "expected a record, as 'quaymaster record' writes it"
    assert str(caught.value) == f"{file}: {said}"


def test_length_of_a_record_is_a_duration(tmp_path: Path) -> None:
    result = run("record", "-o", str(tmp_path / "r"), "--duration", "soon")
    assert result.exit_code == 2
    assert "expected a length of time such as 90s, 10m or 1h30m" in result.output


def test_replay_warns_that_pods_of_groups_are_compared_alone(tmp_path: Path) -> None:
    gang, record = tmp_path / "gang.yaml", str(tmp_path / "record.jsonl.gz")
    gang.write_text(yaml_file(rack_yaml(1), gang_yaml("train", 2, pods=2)))
    run("simulate", str(gang), *GATES, "--record", record)
    result = run("replay", record, *GATES)
    assert "2 decisions about pods of PodGroups: each pod is compared" in result.stderr
