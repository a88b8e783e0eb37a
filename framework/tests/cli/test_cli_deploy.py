"""``quaymaster deploy render`` prints manifests and rejects wrong options."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from click.testing import CliRunner, Result
from packaging.requirements import Requirement

from tests.kit.documents import YAML_HEADER
from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution

Tree: TypeAlias = dict[str, Any]

KINDS = [
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "ConfigMap",
    "Deployment",
    "PodDisruptionBudget",
    "Service",
    "NetworkPolicy",
]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def rendered(*arguments: str) -> Mapping[str, Tree]:
    """Return the objects by kind; of two roles the first one."""
    result = run("deploy", "render", *arguments)
    assert result.exit_code == 0, result.output
    found: dict[str, Tree] = {}
    for tree in yaml.safe_load_all(result.stdout):
        found.setdefault(tree["kind"], tree)
    assert list(found) == KINDS
    return found


def config_of(objects: Mapping[str, Tree]) -> Tree:
    tree: Tree = yaml.safe_load(objects["ConfigMap"]["data"]["config.yaml"])
    return tree


@pytest.mark.long
def test_the_same_is_printed_each_time() -> None:
    assert run("deploy", "render").stdout == run("deploy", "render").stdout


def test_lines_are_no_longer_than_a_screen_is_wide() -> None:
    assert max(map(len, run("deploy", "render").stdout.splitlines())) <= 120


def test_a_rule_names_the_component_that_needs_it() -> None:
    lines = run("deploy", "render").stdout.splitlines()
    at = lines.index("    verbs: [delete]")
    assert lines[at - 3 : at] == [
        "  # pods: DefaultPreemption",
        "  - apiGroups: ['']",
        "    resources: [pods]",
    ]


@pytest.mark.long
def test_roles_are_bound_to_the_service_account_of_the_pods() -> None:
    objects = rendered("--name", "left", "-n", "apart", "--scheduler-name", "left")
    subject = {"kind": "ServiceAccount", "name": "left", "namespace": "apart"}
    for kind in ("Role", "ClusterRole"):
        binding = objects[f"{kind}Binding"]
        assert binding["subjects"] == [subject]
        assert binding["roleRef"]["name"] == objects[kind]["metadata"]["name"]
    spec = objects["Deployment"]["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == objects["ServiceAccount"]["metadata"]["name"]
    assert not objects["ServiceAccount"]["automountServiceAccountToken"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Service", "PodDisruptionBudget", "NetworkPolicy"])
def test_services_budgets_and_policies_select_the_pods(kind: str) -> None:
    objects = rendered()
    spec = objects[kind]["spec"]
    found = spec.get("selector") or spec["podSelector"]
    selected = found.get("matchLabels", found)
    labels = objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert selected.items() <= labels.items()


@pytest.mark.long
def test_pods_run_unprivileged_and_write_nothing() -> None:
    spec = rendered()["Deployment"]["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.long
def test_second_scheduler_has_its_own_lease() -> None:
    objects = rendered("--scheduler-name", "lanes", "--name", "lanes", "-n", "apart")
    config = config_of(objects)
    assert config["profiles"] == [{"schedulerName": "lanes"}]
    lease = {"resourceName": "lanes", "resourceNamespace": "apart"}
    assert config["leaderElection"] == lease
    assert objects["Role"]["metadata"]["namespace"] == "apart"
    assert objects["Role"]["rules"][0]["resourceNames"] == ["lanes"]


def test_there_is_a_role_for_each_namespace_of_which_something_is_read(
    tmp_path: Path,
) -> None:
    run(
        "deploy",
        "render",
        "--scheduler-name",
        "s",
        "-n",
        "apart",
        "--dir",
        str(tmp_path),
    )
    for file, namespace in (
        ("role.yaml", "apart"),
        ("rolebinding.yaml", "apart"),
        ("role-in-kube-system.yaml", "kube-system"),
        ("rolebinding-in-kube-system.yaml", "kube-system"),
    ):
        tree = yaml.safe_load((tmp_path / file).read_text())
        assert tree["metadata"]["namespace"] == namespace


@pytest.mark.long
def test_only_scheduler_takes_turns_with_kube_scheduler() -> None:
    result = run("deploy", "render", "-n", "apart")
    assert "both compete for the lease kube-system/kube-scheduler" in (result.stderr)
    objects = rendered("-n", "apart")
    assert objects["Role"]["metadata"]["namespace"] == "kube-system"
    assert objects["Role"]["rules"][0]["resourceNames"] == ["kube-scheduler"]


@pytest.mark.long
def test_lease_of_the_configuration_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(YAML_HEADER + "leaderElection: {resourceName: mine}\n")
    config = config_of(rendered("--config", str(file)))
    assert config["leaderElection"]["resourceName"] == "mine"


@pytest.mark.long
def test_policy_lets_out_to_extenders(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    extender = "{urlPrefix: 'http://extender:8888/scheduler', filterVerb: filter}"
    file.write_text(f"{YAML_HEADER}extenders: [{extender}]\n")
    policy = rendered("--config", str(file), "--api-port", "6443")["NetworkPolicy"]
    (rule,) = policy["spec"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [53, 53, 6443, 8888]


def test_each_object_has_a_file(tmp_path: Path) -> None:
    assert run("deploy", "render", "--dir", str(tmp_path / "out")).stdout == ""
    names = sorted(path.stem for path in (tmp_path / "out").iterdir())
    assert names == sorted(kind.lower() for kind in KINDS)


def test_simulate_reads_the_rendered_manifests(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(run("deploy", "render", "--replicas", "3").stdout)
    result = run("simulate", str(file), "--nodes", "3:cpu=4,memory=8Gi")
    assert "3 of 3 pods placed on 3 nodes" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--name", "No Name"], "expected a name such as my-scheduler, got 'No Name'"),
        (["--memory", "much"], "'--memory'"),
        (["--replicas", "0"], "'--replicas'"),
    ],
    ids=["name", "quantity", "replicas"],
)
def test_wrong_option_is_refused(arguments: list[str], said: str) -> None:
    result = run("deploy", "render", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("lines", "arguments", "said"),
    [
        (
            "leaderElection: {leaderElect: false}\n",
            (),
            "leaderElection.leaderElect is false: expected 1 replica",
        ),
        (
            "profiles: [{schedulerName: a}, {schedulerName: b}]\n",
            ("--scheduler-name", "c"),
            "has 2 profiles, each with a name: expected one",
        ),
    ],
    ids=["replicas without an election", "a name for two profiles"],
)
def test_option_that_contradicts_the_configuration_is_rejected(
    tmp_path: Path, lines: str, arguments: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(YAML_HEADER + lines)
    result = run("deploy", "render", "--config", str(file), *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_image_has_the_distributions_of_the_plugins(
    tmp_path: Path, make_distribution: MakeDistribution
) -> None:
    make_distribution(
        "acme-berths",
        {"Berths": "acme_berths:Berths"},
        version="2.5",
        module="acme_berths",
        code=BERTHS,
    )
    file = tmp_path / "config.yaml"
    enabled = "{plugins: {multiPoint: {enabled: [{name: Berths}]}}}"
    file.write_text(f"{YAML_HEADER}profiles: [{enabled}]\n")
    text = run("deploy", "render", "--config", str(file), "--dockerfile").stdout
    (line,) = [
        candidate
        for candidate in text.splitlines()
        if candidate.startswith("    'quaymaster[")
    ]
    found = [Requirement(word.strip("'")) for word in line.split()]
    assert [requirement.name for requirement in found] == ["quaymaster", "acme-berths"]
    assert found[0].extras == {"default", "kubernetes"}
    assert str(found[1].specifier) == "==2.5"
    assert "USER 65532:65532" in text


BERTHS = """
from quaymaster import hookimpl

class Berths:
    reads = ()

    def __init__(self, args, handle): ...

    @hookimpl
    def filter(self, pod): ...
"""


def test_dockerfile_is_written_into_a_folder(tmp_path: Path) -> None:
    arguments = ("deploy", "render", "--dockerfile")
    assert run(*arguments, "--dir", str(tmp_path / "image")).stdout == ""
    assert (tmp_path / "image" / "Dockerfile").read_text() == run(*arguments).stdout
