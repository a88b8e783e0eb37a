"""``quaymaster plan`` prints and writes plans, with an exit code."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quaymaster.errors import QuaymasterError
from quaymaster.planning import NodeGroupError
from tests.kit.internals.cli import LINE_WIDTH, app

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: nginx, resources: {requests: {cpu: 1500m, memory: 1Gi}}}
"""
LONER = """
---
apiVersion: v1
kind: Pod
metadata: {{name: p{0}, labels: {{app: a{0}}}}}
spec:
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchExpressions: [{{key: app, operator: NotIn, values: [a{0}]}}]
  containers:
  - {{name: c, image: i}}
"""
SIZED = """
---
apiVersion: v1
kind: Pod
metadata: {{name: {0}}}
spec:
  containers:
  - {{name: c, image: i, resources: {{requests: {{cpu: "{1}"}}}}}}
"""
NODE = """
---
apiVersion: v1
kind: Node
metadata: {{name: n{0}}}
status: {{allocatable: {{cpu: "8", memory: 32Gi, pods: "110"}}}}
"""
SMALL = "name=small,cpu=2,memory=4Gi,price=0.10"
LARGE = "name=large,cpu=4,memory=8Gi,price=0.18"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(WEB)
    return "web.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments])


@pytest.mark.long
def test_the_cheapest_mix_of_groups_is_printed(web: str) -> None:
    result = run(web, "--node-group", SMALL, "--node-group", LARGE)
    assert result.exit_code == 0
    assert "plan: 3 more nodes at a cost of 0.46" in result.stdout
    assert "no plan costs less than 0.46 (proven to be the best" in result.stdout
    assert "--nodes 1:name=small,cpu=2,memory=4Gi" in result.stdout
    assert "--nodes 2:name=large,cpu=4,memory=8Gi" in result.stdout


@pytest.mark.long
def test_the_document_has_groups_bound_and_placements(web: str) -> None:
    result = run(web, "--node-group", "cpu=2,memory=4Gi", "-o", "json")
    document = json.loads(result.stdout)
    assert document["summary"]["nodes"] == 5
    assert document["summary"]["lowerBound"] == 5
    assert document["summary"]["proven"]
    assert document["groups"][0]["utilization"]["cpu"] == {
        "requested": 7500,
        "allocatable": 10000,
        "share": 0.75,
    }
    assert len(document["placements"]) == 5


@pytest.mark.long
def test_the_nodes_of_a_plan_are_written_and_suffice(web: str) -> None:
    written = run(web, "--node-group", SMALL, "--write-nodes", "nodes.yaml")
    assert written.exit_code == 0
    result = CliRunner().invoke(
        app, ["simulate", web, "nodes.yaml", "--require-all", "--strict"]
    )
    assert result.exit_code == 0
    assert "5 of 5 pods placed on 5 nodes" in result.stdout


def test_without_a_plan_the_exit_code_is_1_and_nothing_is_written(web: str) -> None:
    group = "cpu=1,memory=4Gi"
    result = run(web, "--node-group", group, "--write-nodes", "nodes.yaml")
    assert result.exit_code == 1
    assert "requests 1500m cpu, the largest node has 1" in result.stdout
    assert "no plan: no number of nodes helps 5 pods (proven)" in result.stdout
    assert not Path("nodes.yaml").exists()


@pytest.mark.long
def test_plan_for_the_other_pods_follows_those_that_no_group_can_take(web: str) -> None:
    Path(web).write_text(WEB + SIZED.format("huge", "8"))
    result = run(web, "--node-group", LARGE, "--write-nodes", "nodes.yaml")
    assert result.exit_code == 1
    assert "pod/default/huge   1      requests 8 cpu, the largest node" in result.stdout
    assert "for the other pods, if 1 pod may stay pending:" in result.stdout
    assert "plan: 3 more nodes at a cost of 0.54" in result.stdout
    assert Path("nodes.yaml").read_text().count("kind: Node") == 3
    document = json.loads(run(web, "--node-group", LARGE, "-o", "json").stdout)
    assert document["partial"]["summary"]["nodes"] == 3
    assert document["unplacedKinds"][0]["lacks"]["cpu"] == {
        "requested": 8000,
        "largest": 4000,
    }


@pytest.mark.long
def test_option_for_daemons_is_printed_with_the_nodes(web: str) -> None:
    Path(web).write_text(WEB + AGENT)
    result = run(web, "--node-group", LARGE)
    assert result.stdout.endswith("--daemon-sets-first\n")
    in_order = run(web, "--node-group", LARGE, "--daemon-sets-in-order")
    assert "--daemon-sets-first" not in in_order.stdout


@pytest.mark.long
def test_prices_come_from_a_file_by_instance_type(web: str) -> None:
    Path("prices.yaml").write_text("m5: 0.3\n")
    group = "cpu=2,memory=4Gi,instance-type=m5"
    result = run(web, "--node-group", group, "--prices", "prices.yaml")
    assert "plan: 5 more nodes at a cost of 1.5" in result.stdout


@pytest.mark.parametrize(
    "limit", ["cpu", "cpu=80", "cpu=0%", "cpu=101%", "=80%", "cpu=1e3%"]
)
def test_a_limit_that_is_not_a_percentage_is_rejected(web: str, limit: str) -> None:
    result = run(web, "--node-group", SMALL, "--max-utilization", limit)
    assert result.exit_code == 2
    assert "expected RESOURCE=PERCENT%, such as cpu=80%" in result.output


def test_a_limit_of_what_no_node_has_is_refused(web: str) -> None:
    result = run(web, "--node-group", SMALL, "--max-utilization", "cpuu=80%")
    assert isinstance(result.exception, NodeGroupError)
    assert str(result.exception) == (
        "max utilization: expected what nodes have "
        "(cpu, ephemeral-storage, memory, pods), got 'cpuu'"
    )


def test_a_group_that_lacks_the_price_of_the_others_is_named(web: str) -> None:
    Path("prices.yaml").write_text("m5: 0.3\n")
    free = "name=free,cpu=2,memory=4Gi,instance-type=m6"
    groups = ("--node-group", SMALL, "--node-group", free)
    result = run(web, *groups, "--prices", "prices.yaml")
    assert isinstance(result.exception, NodeGroupError)
    assert str(result.exception) == (
        f"node group '{free}': price: expected one, as other groups have one; got none"
    )


def test_two_limits_of_one_resource_are_refused(web: str) -> None:
    limits = ("--max-utilization", "cpu=80%", "--max-utilization", "cpu=90%")
    result = run(web, "--node-group", SMALL, *limits)
    assert result.exit_code == 2
    assert "expected one limit of cpu, got another: cpu=90%" in result.output


AGENT = """
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
      - {name: agent, image: agent, resources: {requests: {cpu: 200m}}}
"""


def test_resource_that_no_number_of_nodes_provides_is_named(web: str) -> None:
    Path(web).write_text(WEB + AGENT)
    result = run(web, "--node-group", SMALL, "--max-utilization", "cpu=5%")
    assert result.exit_code == 1
    assert result.stdout == (
        "no plan: no number of nodes helps: even the most have too little: "
        "cpu, of which at most 5% may be requested (proven)\n"
    )


def test_pods_that_nothing_helps_are_listed_by_name(web: str) -> None:
    result = run(web, "--node-group", "cpu=1,memory=4Gi", "-o", "json")
    names = [pod["pod"] for pod in json.loads(result.stdout)["unplaced"]]
    assert names == sorted(names)
    assert (len(names), result.exit_code) == (5, 1)


@pytest.mark.long
def test_an_unproven_plan_shows_its_largest_possible_error(web: str) -> None:
    Path(web).write_text("".join(map(LONER.format, range(6))))
    groups = ("--node-group", SMALL, "--node-group", LARGE)
    few = run(web, *groups, "--max-trials", "1")
    assert "(the best plan may be better: the gap is " in few.stdout
    assert few.stdout.count("more with --max-trials)") == 1
    many = run(web, *groups)
    assert "no plan bought at once costs less than 0.6, and none bought" in many.stdout
    assert "(proven to be the best that is bought at once, " in many.stdout


def test_limit_of_time_must_be_a_duration(web: str) -> None:
    result = run(web, "--node-group", SMALL, "--time-limit", "0s")
    assert result.exit_code == 2
    assert "expected a duration such as 60s or 5m, got '0s'" in result.output


def test_options_to_paste_are_not_folded(
    web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LINE_WIDTH, lambda _stream: 40)
    group = "name=small,cpu=2,memory=8Gi,label:team=a,label:pool=b"
    shown = run(web, "--node-group", group, "--no-compare-packing")
    assert f"--nodes 5:{group}" in shown.stdout.splitlines()


@pytest.mark.long
def test_rounds_are_printed_with_the_price_of_the_last_pods(web: str) -> None:
    sizes = {**{f"a-{n}": "1" for n in range(8)}, "b-0": "8", "b-1": "8"}
    texts = [SIZED.format(name, cpu) for name, cpu in sizes.items()]
    Path(web).write_text("".join(texts))
    groups = ("name=s,cpu=2,memory=8Gi,price=2", "name=l,cpu=8,memory=32Gi,price=8")
    options = ("--node-group", groups[0], "--node-group", groups[1])
    shown = run(web, *options)
    assert "in rounds: each adds nodes for the pods that are still" in shown.stdout
    assert " of 10 pods for " in shown.stdout
    assert "--add-nodes 1:name=l,cpu=8,memory=32Gi" in shown.stdout
    assert "24 (one of the same cost may have fewer nodes, " in shown.stdout
    document = json.loads(run(web, *options, "-o", "json").stdout)
    assert document["rounds"][0] == {"nodes": {}, "pending": 10, "cost": 0.0}
    assert document["rounds"][-1]["pending"] == 0
    at_once = json.loads(run(web, *options, "--at-once", "-o", "json").stdout)
    assert at_once["rounds"] == []


@pytest.mark.long
def test_plan_with_packing_is_named_if_it_costs_less(web: str) -> None:
    sizes = {f"a-{n}": "1" for n in range(20)} | {"b-0": "7", "b-1": "7"}
    texts = [SIZED.format(name, cpu) for name, cpu in sizes.items()]
    nodes = [NODE.format(n) for n in range(3)]
    Path(web).write_text("".join([*nodes, *texts]))
    group = ("--node-group", "name=l,cpu=8,memory=32Gi,price=8", "--at-once")
    shown = run(web, *group)
    packed = json.loads(
        run(web, *group, "--config", "bin-packing", "-o", "json").stdout
    )
    nodes_and_cost = packed["summary"]["nodes"], packed["summary"]["cost"]
    line = f"with bin-packing: {nodes_and_cost[0]} more nodes at a cost of "
    assert f"{line}{nodes_and_cost[1]} (--config bin-packing)" in shown.stdout
    document = json.loads(run(web, *group, "-o", "json").stdout)["withPacking"]
    assert (document["nodes"], document["cost"]) == nodes_and_cost
    assert "bin-packing" not in run(web, *group, "--no-compare-packing").stdout


def test_no_group_is_refused(web: str) -> None:
    result = run(web)
    assert result.exit_code == 2
    assert "expected a group of nodes" in result.output


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("3:cpu=4", "3:cpu: expected cpu, memory, pods"),
        ("cpu=x", "cpu: expected a quantity"),
        ("cores=4", "cores: expected cpu, memory, pods"),
        ("cpu=4,price=-1", "price: expected"),
        ("cpu=4,min=5,max=2", "max: expected at least min, which is 5, got 2"),
        ("cpu=4,max=many", "max: expected"),
        ("cpu=4,min=-1", "min: expected a number of nodes, at most 999999, got '-1'"),
        ("cpu=4,max=-2", "max: expected a number of nodes, at most 999999, got '-2'"),
        ("cpu=4,taint:a=b:Never", "taint:a=b:Never"),
    ],
)
def test_an_invalid_group_is_named_with_its_mistake(
    web: str, spec: str, problem: str
) -> None:
    result = run(web, "--node-group", spec)
    assert isinstance(result.exception, NodeGroupError)
    assert str(result.exception).startswith(f"node group '{spec}': ")
    assert problem in str(result.exception)
    assert not result.stdout


def test_a_missing_file_of_groups_is_named(web: str) -> None:
    result = run(web, "--node-groups", "none.yaml")
    assert isinstance(result.exception, QuaymasterError)
    assert str(result.exception) == "none.yaml: No such file or directory"


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "problem"),
    [("none/nodes.yaml", "no such file or directory"), (".", "is a directory")],
)
def test_nodes_that_cannot_be_written_are_an_error_with_their_file(
    web: str, file: str, problem: str
) -> None:
    result = run(web, "--node-group", SMALL, "--write-nodes", file)
    assert isinstance(result.exception, QuaymasterError)
    assert str(result.exception) == f"{file}: {problem}"
    assert not result.stdout
