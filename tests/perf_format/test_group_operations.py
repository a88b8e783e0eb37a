"""The effects of operations with groups of pods."""

from collections import Counter
from pathlib import Path

import pytest

from quaymaster.objects import PodGroup
from tests.kit.internals.perf import WorkloadError
from tests.perf_format.bench import Bench

GATES = {"GenericWorkload": True}
NODES = {"opcode": "createNodes", "count": 2}
GROUP = """
apiVersion: scheduling.k8s.io/{version}
kind: PodGroup
metadata: {{name: 'gang-{{{{ .Index }}}}'}}
spec:
  priority: {{{{ .priority | Int }}}}
  schedulingPolicy: {{gang: {{minCount: {{{{ .size }}}}}}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: 'pod-{{ .Index }}'}
spec:
  priority: {{ .priority | Int }}
  schedulingGroup: {podGroupName: 'gang-{{ DivideInt .Index .size }}'}
  containers:
  - {name: main, image: pause, resources: {requests: {cpu: '{{ .cpu }}'}}}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def groups(
    bench: Bench, size: int, *, count: int = 2, version: str = "v1beta1"
) -> dict[str, object]:
    return {
        "opcode": "createPodGroups",
        "namespace": "gangs",
        "count": count,
        "templatePath": bench.template("PodGroup", GROUP.format(version=version)),
        "templateParams": {"size": size, "priority": 1000},
    }


def pods(
    bench: Bench, size: int, *, count: int, cpu: str = "1", waits: bool = True
) -> dict[str, object]:
    return {
        "opcode": "createPods",
        "namespace": "gangs",
        "count": count,
        "podTemplatePath": bench.template("Pod", POD),
        "templateParams": {"size": size, "priority": 1000, "cpu": cpu},
        "collectMetrics": waits,
        "skipWaitToCompletion": not waits,
    }


def test_create_pod_groups_keeps_a_priority_without_a_class(bench: Bench) -> None:
    bench.play(groups(bench, 3), featureGates=GATES)
    first, second = bench.all(PodGroup)
    assert (first.key, second.key) == ("gangs/gang-0", "gangs/gang-1")
    assert first.spec.priority == 1000
    assert first.min_count == 3


def test_create_pod_groups_takes_templates_of_the_older_version(bench: Bench) -> None:
    bench.play(groups(bench, 3, version="v1alpha3"), featureGates=GATES)
    assert len(bench.all(PodGroup)) == 2


def test_pods_of_groups_are_bound_and_measured(bench: Bench) -> None:
    bench.play(NODES, groups(bench, 3), pods(bench, 3, count=6), featureGates=GATES)
    by_group = Counter(pod.group_key for pod in bench.pods if pod.node_name)
    assert by_group == {"gangs/gang-0": 3, "gangs/gang-1": 3}
    (measurement,) = bench.measurements
    assert measurement.scheduled == measurement.pods == 6
    assert measurement.attempts["scheduled"] == 6
    for group in bench.all(PodGroup):
        assert [condition.status for condition in group.status.conditions] == ["True"]


def test_gang_that_does_not_fit_leaves_the_workload_incomplete(bench: Bench) -> None:
    with pytest.raises(WorkloadError, match="namespace gangs: 0 of 3 pods have a node"):
        bench.play(
            NODES,
            groups(bench, 3, count=1),
            pods(bench, 3, count=3, cpu="3"),
            featureGates=GATES,
        )


def test_barrier_waits_until_a_gang_has_been_tried(bench: Bench) -> None:
    bench.play(
        NODES,
        groups(bench, 3, count=1),
        pods(bench, 3, count=3, cpu="3", waits=False),
        {"opcode": "barrier", "stageRequirement": "Attempted"},
        {"opcode": "startCollectingMetrics", "namespaces": ["gangs"]},
        {"opcode": "stopCollectingMetrics"},
        featureGates=GATES,
    )
    assert all(pod.status.conditions for pod in bench.pods)
