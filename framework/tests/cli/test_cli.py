"""The command, as a user types it."""

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app, main

ONE_NODE = "1:cpu=4,memory=8Gi"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers:
  - {name: main, image: nginx, resources: {requests: {cpu: %s}}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: nginx, resources: {requests: {cpu: "1"}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin)


def run_main(
    *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Run the installed entry point; return its exit code and standard error."""
    monkeypatch.setattr("sys.argv", ["quaymaster", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0), capsys.readouterr().err


def test_simulate_prints_where_each_pod_goes(folder: Path) -> None:
    (folder / "pod.yaml").write_text(POD % ("a", 1))
    result = run("simulate", "pod.yaml", "--nodes", ONE_NODE)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == ["POD", "NODE"]
    assert result.stdout.splitlines()[1].split() == ["default/a", "node-000"]
    assert "1 of 1 pods placed on 1 node, 0 unscheduled" in result.stdout


def test_simulate_json_has_the_documented_form(folder: Path) -> None:
    (folder / "pods.yaml").write_text(f"{POD % ('a', 1)}---{POD % ('b', 9)}")
    result = run("simulate", "pods.yaml", "--nodes", "2:cpu=4,memory=8Gi", "-o", "json")
    document = json.loads(result.stdout)
    [placement] = document["placements"]
    [unscheduled] = document["unscheduled"]
    assert placement["pod"] == "default/a"
    assert placement["scheduler"] == "default-scheduler"
    message = unscheduled.pop("message")
    assert message.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert unscheduled == {
        "pod": "default/b",
        "reason": "Unschedulable",
        "plugins": ["NodeResourcesFit"],
        "scheduler": "default-scheduler",
        "created": 0.0,
        "attempts": 1,
        "reasons": ["Insufficient cpu"],
        "facts": [],
    }
    assert document["reasons"] == [{"pods": 1, "reasons": ["Insufficient cpu"]}]
    assert document["preempted"] == []
    assert document["summary"] == {
        "pods": 2,
        "placed": 1,
        "unscheduled": 1,
        "kept": 0,
        "nodes": 2,
        "start": "2026-01-01T00:00:00Z",
        "makespan": 0.0,
    }


def test_simulate_yaml_says_the_same_as_json(folder: Path) -> None:
    (folder / "web.yaml").write_text(DEPLOYMENT)
    arguments = ("simulate", "web.yaml", "--nodes", "2:cpu=4,memory=8Gi")
    as_yaml = yaml.safe_load(run(*arguments, "-o", "yaml").stdout)
    assert as_yaml == json.loads(run(*arguments, "-o", "json").stdout)


def test_same_seed_gives_the_same_placements(folder: Path) -> None:
    (folder / "web.yaml").write_text(DEPLOYMENT)
    arguments = ("simulate", "web.yaml", "--nodes", "9:cpu=4,memory=8Gi", "--seed", "7")
    assert run(*arguments).stdout == run(*arguments).stdout


def test_mistake_names_the_file_of_an_object_without_a_name_of_its_own(
    folder: Path,
) -> None:
    pod = (POD % ("a", 1)).replace("name: a", "generateName: Web-", 1)
    (folder / "a.yaml").write_text(pod)
    (folder / "b.yaml").write_text(pod)
    for files, source in (
        (("a.yaml",), "a.yaml"),
        (("a.yaml", "b.yaml"), "a.yaml and 1 more"),
    ):
        result = run("simulate", *files, "--nodes", ONE_NODE)
        first, *_ = str(result.exception).splitlines()
        assert first.startswith(f"{source} (Pod default/Web-*): metadata.generateName")
        assert first.endswith("got 'Web-'")


def test_simulate_reads_standard_input() -> None:
    result = run("simulate", "-", "--nodes", ONE_NODE, stdin=POD % ("a", 1))
    assert "default/a" in result.stdout


def test_require_all_exits_with_1_if_a_pod_is_left_over(folder: Path) -> None:
    (folder / "pod.yaml").write_text(POD % ("a", 9))
    assert run("simulate", "pod.yaml", "--nodes", ONE_NODE).exit_code == 0
    result = run("simulate", "pod.yaml", "--nodes", ONE_NODE, "--require-all")
    assert result.exit_code == 1


def test_warnings_are_part_of_the_result(folder: Path) -> None:
    (folder / "pod.yaml").write_text(POD % ("a", 1))
    result = run(
        "simulate",
        "pod.yaml",
        "--nodes",
        ONE_NODE,
        "-o",
        "json",
        "--strict",
    )
    assert json.loads(result.stdout)["warnings"] == []
    assert result.exit_code == 0


def test_kinds_of_groups_get_a_warning_that_they_have_no_effect(folder: Path) -> None:
    group = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
    (folder / "all.yaml").write_text(f"{POD % ('a', 1)}---\n{group}")
    result = run("simulate", "all.yaml", "--nodes", ONE_NODE)
    assert result.stderr == (
        "skipped 1 object without effect while the feature gate GenericWorkload is off:"
        " PodGroup (scheduling.k8s.io/v1beta1)\n"
    )


def test_unknown_kinds_are_counted_in_one_line(folder: Path) -> None:
    role = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: %s}\n"
    (folder / "all.yaml").write_text(
        f"{POD % ('a', 1)}---\n{role % 'x'}---\n{role % 'y'}"
    )
    result = run("simulate", "all.yaml", "--nodes", ONE_NODE)
    assert result.stderr == (
        "skipped 2 objects that scheduling does not know: Widget (example.com/v1) x2\n"
    )
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "kind: Pod\n  bad: [", "in.yaml: line 2, column 6: ", id="malformed YAML"
        ),
        pytest.param(
            POD % ("a", "12xyz"),
            "in.yaml (Pod default/a): spec.containers[0].resources.requests.cpu: "
            "expected a quantity",
            id="a quantity that is none",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n---\n" * 2,
            "in.yaml: document 2: duplicate Node 'node-a', first in "
            "in.yaml: document 1",
            id="a duplicate node",
        ),
        pytest.param(
            (POD % ("a", 1)).replace("spec:", "spec:\n  priorityClassName: nosuch"),
            "in.yaml (Pod default/a): spec.priorityClassName: ",
            id="an object that the cluster refuses",
        ),
    ],
)
def test_bad_manifest_is_one_line_with_its_place(
    folder: Path,
    text: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "in.yaml").write_text(text)
    arguments = ("simulate", "in.yaml", "--nodes", ONE_NODE)
    code, stderr = run_main(*arguments, monkeypatch=monkeypatch, capsys=capsys)
    assert code == 2
    assert stderr.startswith(message)
    assert stderr.count("\n") == 1


def test_mistakes_come_in_the_order_of_the_file_and_after_the_warnings(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pods = [POD % (name, 1) for name in ("b_", "a_")]
    claim = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessMode: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
    (folder / "in.yaml").write_text("---".join([*pods, claim]))
    arguments = ("simulate", "in.yaml", "--validate=warn")
    code, stderr = run_main(*arguments, monkeypatch=monkeypatch, capsys=capsys)
    assert code == 2
    where = "in.yaml: document 3 (PersistentVolumeClaim default/c): spec"
    begins = [line.split(": expected")[0] for line in stderr.splitlines()]
    assert begins == [
        f"warning: {where}.accessMode: unknown field; did you mean 'accessModes'?",
        "in.yaml: document 1 (Pod default/b_): metadata.name",
        "in.yaml: document 2 (Pod default/a_): metadata.name",
        f"{where}.accessModes",
    ]


def test_empty_directory_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    code, stderr = run_main("simulate", "empty", monkeypatch=monkeypatch, capsys=capsys)
    assert code == 2
    assert stderr == "empty: no .yaml, .yml or .json files in this directory\n"


def test_all_mistakes_of_a_config_come_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "scheduler.yaml").write_text(
        """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {enabled: [{name: TaintTolerations}]}}
  pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategie: {}}}
"""
    )
    code, stderr = run_main(
        "config",
        "validate",
        "scheduler.yaml",
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    first, second = stderr.splitlines()
    assert code == 2
    assert first.startswith("scheduler.yaml: profiles[0].plugins.filter.enabled[0]")
    assert first.endswith("did you mean 'TaintToleration'?")
    assert second.startswith("scheduler.yaml: profiles[0].pluginConfig[0].args.")


def test_explain_shows_every_node_and_score(folder: Path) -> None:
    (folder / "pod.yaml").write_text(POD % ("a", 1))
    nodes = (
        "--nodes",
        "2:cpu=4,memory=8Gi,name=big",
        "--nodes",
        "1:cpu=500m,memory=8Gi,name=small",
    )
    result = run("explain", "a", "pod.yaml", *nodes, "-o", "json")
    document = json.loads(result.stdout)
    assert document["outcome"] == "scheduled"
    assert [rejection["reasons"] for rejection in document["rejections"]] == [
        ["Insufficient cpu"]
    ]
    best = document["scores"][0]
    assert document["node"] in {score["node"] for score in document["scores"]}
    assert best["total"] == sum(score["weighted"] for score in best["plugins"].values())


def test_explain_finds_the_pods_of_a_workload(folder: Path) -> None:
    (folder / "web.yaml").write_text(DEPLOYMENT)
    result = run("explain", "deployment/web", "web.yaml", "--nodes", ONE_NODE)
    assert result.stdout.startswith("default/web-")
    assert "<- winner" in result.stdout


def test_explain_of_an_unknown_pod_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pod.yaml").write_text(POD % ("a", 1))
    code, stderr = run_main(
        "explain", "b", "pod.yaml", monkeypatch=monkeypatch, capsys=capsys
    )
    assert (code, stderr) == (2, "pod 'b': no such pod\n")


def test_explain_of_a_missing_pod_lists_skipped_objects(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    containers = [{"name": "main", "image": "x"}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick"},
        "spec": {
            "schedule": "@daily",
            "jobTemplate": {"spec": {"template": template}},
        },
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(job))
    arguments = ("explain", "cj/tick", "job.yaml")
    code, stderr = run_main(*arguments, monkeypatch=monkeypatch, capsys=capsys)
    warning, error = stderr.splitlines()
    assert warning.endswith("--run-cronjobs makes one Job of each")
    assert (code, error) == (2, "pod 'cj/tick': the CronJob has no pods")


def test_plugins_list_names_distribution_and_points() -> None:
    listed = json.loads(run("plugins", "list", "-o", "json").stdout)
    [fit] = [plugin for plugin in listed if plugin["name"] == "NodeResourcesFit"]
    assert fit["distribution"] == "quaymaster-node-resources-fit"
    assert fit["extensionPoints"] == [
        "preFilter",
        "filter",
        "placementScore",
        "preScore",
        "score",
    ]
    assert fit["args"] == "NodeResourcesFitArgs"
    assert fit["events"] == "list"


def test_shown_config_is_a_valid_config(folder: Path) -> None:
    (folder / "shown.yaml").write_text(run("config", "show", "default").stdout)
    assert run("config", "validate", "shown.yaml").stdout == "shown.yaml: valid\n"


def test_shown_config_names_a_schema_that_it_follows_for_editors() -> None:
    first, *rest = run("config", "show", "default").stdout.splitlines()
    head, _, uri = first.partition("=")
    assert head == "# yaml-language-server: $schema"
    schema = json.loads(Path(unquote(urlsplit(uri).path)).read_text())
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["title"] == yaml.safe_load("\n".join(rest))["kind"]
    assert "NodeResourcesFit" in json.dumps(schema)


def test_config_shown_as_json_has_no_header() -> None:
    assert json.loads(run("config", "show", "default", "-o", "json").stdout)


def test_config_schema_includes_the_installed_plugins_args() -> None:
    schema = run("config", "schema").stdout
    assert json.loads(schema)["$schema"].endswith("2020-12/schema")
    assert "scoringStrategy" in schema


def test_version_names_the_supported_kube_scheduler_versions() -> None:
    assert "kube-scheduler 1.36.2" in run("version").stdout
