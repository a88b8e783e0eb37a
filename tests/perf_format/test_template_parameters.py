"""The parameters that operations of Kubernetes 1.37 pass to templates and pods."""

import pytest

from quaymaster.objects import Quantity, Service
from tests.kit.internals.perf import PerfErrors
from tests.perf_format.bench import Bench

HEAD = "apiVersion: v1\nkind: {kind}\nmetadata: {{name: 'it-{{{{ .Index }}}}'}}\n"
POD = HEAD.format(kind="Pod") + (
    "spec:\n  containers:\n  - name: main\n    image: pause\n    resources:\n"
    '      requests: {cpu: {{ or .cpu "50m" }}}\n'
)
NODES = {"opcode": "createNodes", "count": 2}


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def requested(bench: Bench) -> list[Quantity]:
    return [pod.spec.containers[0].resources.requests["cpu"] for pod in bench.pods]


def test_pods_get_the_parameters_of_their_operation(bench: Bench) -> None:
    create = {"opcode": "createPods", "podTemplatePath": bench.template("Pod", POD)}
    bench.play(
        NODES,
        {**create, "count": 1, "templateParams": {"cpu": "300m"}, "namespace": "a"},
        {**create, "count": 1, "namespace": "b"},
        {
            **create,
            "countParam": "$pods",
            "templateParams": {"cpu": "$cpu"},
            "collectMetrics": True,
        },
        workloads=[{"name": "one", "params": {"pods": 1, "cpu": 1}}],
    )
    assert requested(bench) == [Quantity("300m"), Quantity("50m"), Quantity(1)]


@pytest.mark.parametrize(
    ("reference", "params", "expected"),
    [
        ("$cpu|700m", {}, "700m"),
        ("$cpu|700m", {"cpu": "200m"}, "200m"),
        ("$cpu|", {}, "50m"),
        ("$cpu|2", {}, "2"),
        ("100m", {}, "100m"),
    ],
)
def test_a_reference_may_have_a_default_in_yaml(
    bench: Bench, reference: str, params: dict[str, object], expected: str
) -> None:
    create = {
        "opcode": "createPods",
        "count": 1,
        "podTemplatePath": bench.template("Pod", POD),
        "templateParams": {"cpu": reference},
        "collectMetrics": True,
    }
    bench.play(NODES, create, workloads=[{"name": "one", "params": params}])
    assert requested(bench) == [Quantity(expected)]


def test_nodes_and_other_objects_get_parameters_too(bench: Bench) -> None:
    node = HEAD.format(kind="Node") + "status: {capacity: {cpu: '{{ .cpu }}'}}"
    service = HEAD.format(kind="Service") + "spec: {selector: {app: '{{ .app }}'}}"
    bench.play(
        {
            **NODES,
            "nodeTemplatePath": bench.template("Node", node),
            "templateParams": {"cpu": 3},
        },
        {
            "opcode": "createAny",
            "namespace": "default",
            "templatePath": bench.template("Service", service),
            "templateParams": {"app": "web"},
        },
    )
    assert bench.nodes[0].status.allocatable == {"cpu": Quantity(3)}
    (made,) = bench.all(Service)
    assert made.spec.selector == {"app": "web"}


def test_a_template_may_decide_by_index_what_an_object_has(bench: Bench) -> None:
    text = POD + "  {{ if ge .Index .first }}priority: {{ AddInt 5 .Index }}{{ end }}\n"
    create = {
        "opcode": "createPods",
        "count": 3,
        "podTemplatePath": bench.template("Pod", text.replace(".first", "2")),
        "collectMetrics": True,
    }
    bench.play(NODES, create)
    assert [pod.spec.priority or 0 for pod in bench.pods] == [0, 0, 7]


def test_a_mistake_that_only_parameters_make_is_told_with_its_file(
    bench: Bench,
) -> None:
    create = {
        "opcode": "createPods",
        "count": 1,
        "podTemplatePath": bench.template("Pod", POD),
        "templateParams": {"cpu": "much"},
    }
    with pytest.raises(PerfErrors, match=r"\.yaml: spec\.containers\[0\].*'much'"):
        bench.play(NODES, create)


def test_a_multiplier_makes_so_many_times_the_pods(bench: Bench) -> None:
    create = {
        "opcode": "createPods",
        "countParam": "$groups",
        "countMultiplierParam": "$size",
        "collectMetrics": True,
    }
    workload = {"name": "one", "params": {"groups": 2, "size": 3}}
    bench.play(NODES, create, workloads=[workload])
    assert len(bench.pods) == 6


@pytest.mark.parametrize(
    ("size", "signatures"),
    [(2, ["0", "0", "1", "1", "2"]), (1, ["0", "1", "2", "3", "4"]), (0, [None] * 5)],
)
def test_pods_of_a_batch_have_the_same_signature(
    bench: Bench, size: int, signatures: list[str | None]
) -> None:
    create = {
        "opcode": "createPods",
        "count": 5,
        "podTemplatePath": bench.template("Pod", metadata={"generateName": "pod-"}),
        "signatureBatchSizeParam": "$size",
        "collectMetrics": True,
    }
    bench.play(NODES, create, workloads=[{"name": "one", "params": {"size": size}}])
    labels = [pod.labels.get("signature") for pod in bench.pods]
    expected = [sign and f"signature-label-{sign}" for sign in signatures]
    assert sorted(labels, key=str) == sorted(expected, key=str)
