"""``compare`` finds the variants in its arguments and prints their differences."""

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.manifests import ManifestErrors
from tests.kit.internals.cli import app

PODS = "".join(
    f"""
apiVersion: v1
kind: Pod
metadata: {{name: p-{number}}}
spec:
  containers:
  - {{name: main, image: nginx, resources: {{requests: {{cpu: 1}}}}}}
---
"""
    for number in range(3)
)
PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated}
"""
NODE = """
apiVersion: v1
kind: Node
metadata:
  name: only
  labels: {node.kubernetes.io/instance-type: small}
status:
  allocatable: {cpu: 4, memory: 8Gi, pods: 110}
"""
NODES = ("--nodes", "3:cpu=4,memory=8Gi,zones=3")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods.yaml").write_text(PODS)
    Path("packing.yaml").write_text(PACKING)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


def row(result: Result, figure: str) -> list[str]:
    [line] = [
        line for line in result.stdout.splitlines() if line.split()[:1] == [figure]
    ]
    return line.split()[1:]


@pytest.mark.long
def test_profiles_and_files_are_variants_and_the_rest_is_input() -> None:
    result = run("default", "packing.yaml", "bin-packing", "pods.yaml", *NODES)
    assert result.exit_code == 0, result.output
    assert row(result, "FIGURE") == ["default", "packing.yaml", "bin-packing"]
    assert row(result, "nodes_used") == ["3", "1", "1"]


def test_two_variants_have_a_column_for_their_difference() -> None:
    result = run("default", "bin-packing", "pods.yaml", *NODES)
    assert row(result, "nodes_used") == ["3", "1", "-2"]
    assert row(result, "skew.zone") == ["0", "3", "+3"]
    assert "2 pods placed on other nodes by bin-packing" in result.stdout
    assert "the first decision that differs is number 2:" in result.stdout


@pytest.mark.parametrize(
    ("variants", "scores"),
    [
        (("spreading", "bin-packing"), ["-", "0"]),
        (("bin-packing", "spreading"), ["0", "-"]),
    ],
    ids=["with a plugin more in the second", "with a plugin more in the first"],
)
def test_scores_have_a_column_for_each_plugin_of_either_profile(
    variants: tuple[str, str], scores: list[str]
) -> None:
    result = run(*variants, "pods.yaml", *NODES)
    assert result.exit_code == 0, result.output
    column = row(result, "VARIANT").index("ImageLocality")
    cells = [
        line.split()[1:]
        for line in result.stdout.partition("VARIANT")[2].splitlines()[1:]
    ]
    assert [line[column] for line in cells[::2]] == scores
    assert {len(line) for line in cells} == {len(row(result, "VARIANT"))}


def test_one_variant_is_compared_with_the_configuration_that_would_run() -> None:
    result = run("bin-packing", "pods.yaml", *NODES)
    assert row(result, "FIGURE")[:2] == ["default", "bin-packing"]


@pytest.mark.long
def test_environments_run_the_configuration_of_the_command_line() -> None:
    result = run(sys.prefix, "--config", "packing.yaml", "pods.yaml", *NODES)
    assert result.exit_code == 0, result.output
    assert row(result, "FIGURE")[:2] == ["packing.yaml", sys.prefix]
    assert f"{sys.prefix} makes the same decisions as packing.yaml" in result.stdout


def test_without_configurations_inputs_are_variants() -> None:
    Path("one.yaml").write_text(PODS.partition("---")[0])
    result = run("pods.yaml", "one.yaml", *NODES, "--config", "packing.yaml")
    assert row(result, "placed") == ["3", "1", "-2"]
    assert row(result, "nodes_used") == ["1", "1", "0"]


@pytest.mark.long
def test_several_seeds_have_intervals() -> None:
    result = run("default", "bin-packing", "pods.yaml", *NODES, "--seeds", "3")
    assert row(result, "nodes_used") == ["3", "1", "-2", "*"]
    assert "means of 3 seeds" in result.stdout


def test_figures_without_a_value_anywhere_are_left_out() -> None:
    result = run("default", "bin-packing", "pods.yaml", *NODES)
    assert "utilization.cpu" in result.stdout
    assert "utilization.memory" not in result.stdout
    assert "price_per_hour" not in result.stdout


def test_prices_make_costs() -> None:
    Path("prices.yaml").write_text("small: 0.5\n")
    Path("node.yaml").write_text(NODE)
    result = run(
        *("default", "bin-packing", "pods.yaml", "node.yaml"),
        *("--prices", "prices.yaml"),
    )
    assert result.exit_code == 0, result.output
    assert row(result, "price_per_hour") == ["0.5", "0.5", "0"]


@pytest.mark.long
def test_csv_has_a_line_for_each_run_and_figure() -> None:
    result = run(
        *("default", "bin-packing", "pods.yaml", *NODES, "--seeds", "2", "-o", "csv")
    )
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    found = [
        (line["variant"], line["seed"], line["value"])
        for line in rows
        if line["figure"] == "nodes_used"
    ]
    assert found == [
        ("default", "0", "3"),
        ("default", "1", "3"),
        ("bin-packing", "0", "1"),
        ("bin-packing", "1", "1"),
    ]


def test_json_has_all_that_the_table_has() -> None:
    result = run("default", "bin-packing", "pods.yaml", *NODES, "-o", "json")
    document = json.loads(result.stdout)
    [difference] = document["differences"]
    assert difference["figures"]["nodes_used"] == {"mean": -2}
    first, other = (
        difference["firstDifference"]["first"],
        difference["firstDifference"]["other"],
    )
    assert first["pod"] == other["pod"]
    assert {score["node"] for score in first["scores"]} == {
        first["node"],
        other["node"],
    }


@pytest.mark.parametrize("paths", [(), ("pods.yaml",), ("default", "pods.yaml")])
def test_one_variant_is_an_error(paths: tuple[str, ...]) -> None:
    result = run(*paths, *NODES)
    assert result.exit_code == 2
    assert "expected two variants" in result.stderr


def test_mistakes_are_the_usual_errors() -> None:
    result = run("default", "no-such-file.yaml", "bin-packing")
    assert isinstance(result.exception, ManifestErrors)
    assert "no-such-file.yaml" in str(result.exception)


DUMP = f"""{NODE.replace("only", "a")}---
{NODE.replace("only", "b")}---
apiVersion: v1
kind: Pod
metadata: {{name: web, creationTimestamp: "2026-09-01T10:00:00Z"}}
spec:
  nodeName: a
  containers:
  - {{name: main, image: nginx, resources: {{requests: {{cpu: 1}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: db, creationTimestamp: "2026-09-01T10:00:01Z"}}
spec:
  nodeName: b
  containers:
  - {{name: main, image: nginx, resources: {{requests: {{cpu: 1}}}}}}
"""


def test_pods_that_have_a_node_are_warned_of() -> None:
    Path("dump.yaml").write_text(DUMP)
    result = run("default", "bin-packing", "dump.yaml")
    assert "the same decisions" not in result.stdout
    assert (
        "nothing was compared: no pod is pending, and 2 pods of the input keep their "
        "nodes\n"
    ) in result.stdout
    assert result.stderr == (
        "warning: 2 pods have a node in the input and stay there, so only the other "
        "pods are compared; --repack schedules all pods\n"
    )


@pytest.mark.long
def test_equal_decisions_about_a_few_pods_say_how_many_were_not_compared() -> None:
    pending = DUMP.rpartition("---\n")[2].replace("nodeName: b\n  ", "")
    Path("dump.yaml").write_text(f"{DUMP}---\n{pending.replace('db', 'new')}")
    result = run("default", "default", "bin-packing", "dump.yaml")
    assert (
        "bin-packing decides the pod without a node as default does; 2 pods of the "
        "input keep their nodes and were not compared\n"
    ) in result.stdout


def test_repack_schedules_pods_that_have_a_node() -> None:
    Path("dump.yaml").write_text(DUMP)
    result = run("default", "bin-packing", "dump.yaml", "--repack")
    assert row(result, "placed") == ["2", "2", "0"]
    assert row(result, "nodes_used") == ["2", "1", "-1"]
    assert result.stderr == ""


def test_topology_key_that_no_node_has_is_an_error() -> None:
    Path("dump.yaml").write_text(DUMP)
    result = run("default", "bin-packing", "dump.yaml", "--topology-key", "rack")
    assert result.exit_code == 2
    assert "--topology-key: no node has the label 'rack'" in result.stderr
