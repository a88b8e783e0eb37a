"""The cluster checks tolerations as ``ValidateTolerations`` of Kubernetes 1.37."""

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import (
    ObjectMeta,
    PodSpec,
    RuntimeClass,
    RuntimeClassScheduling,
    Toleration,
)
from quaymaster.testing import make_pod
from tests.kit.clusters import make_cluster
from tests.kit.workloads import make_daemon_set, make_template

ON = Kubernetes(feature_gates={"TaintTolerationComparisonOperators": True})
FASTER = Toleration(key="sla", operator="Gt", value="750")
NUMBER = "expected a decimal integer of 64 bits without leading zeros"
OFF = (
    "expected Equal or Exists (the feature gate TaintTolerationComparisonOperators is "
    "off), got 'Gt'"
)


def problems_with(*tolerations: Toleration, kubernetes: Kubernetes) -> list[str]:
    with pytest.raises(AdmissionError) as caught:
        make_cluster(make_pod(tolerations=tolerations), kubernetes=kubernetes)
    return [f"{problem.path}: {problem.message}" for problem in caught.value.problems]


def test_comparisons_are_taken_while_the_gate_is_on() -> None:
    slower = replace(FASTER, operator="Lt", value="-5")
    cluster = make_cluster(make_pod(tolerations=[FASTER, slower]), kubernetes=ON)
    (pod,) = cluster.list(Pod).items
    assert pod.spec.tolerations[:2] == (FASTER, slower)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_comparisons_are_refused_while_the_gate_is_off(version: str) -> None:
    problems = problems_with(FASTER, kubernetes=Kubernetes(version))
    assert problems == [f"spec.tolerations[0].operator: {OFF}"]


@pytest.mark.parametrize("value", ["", "0700", "1.5", "high", str(2**63)])
def test_value_of_a_comparison_is_a_number(value: str) -> None:
    problems = problems_with(replace(FASTER, value=value), kubernetes=ON)
    assert problems == [f"spec.tolerations[0].value: {NUMBER}, got {value!r}"]


def test_comparison_needs_a_key() -> None:
    assert problems_with(replace(FASTER, key=""), kubernetes=ON) == [
        "spec.tolerations[0].operator: expected Exists, since there is no key, got 'Gt'"
    ]


def test_templates_and_runtime_classes_follow_the_gate() -> None:
    template = make_template(PodSpec(tolerations=(FASTER,)))
    runtime_class = RuntimeClass(
        metadata=ObjectMeta(name="fast"),
        handler="fast",
        scheduling=RuntimeClassScheduling(tolerations=(FASTER,)),
    )
    make_cluster(make_daemon_set(template), runtime_class, kubernetes=ON)
    with pytest.raises(AdmissionError) as caught:
        make_cluster(make_daemon_set(template), runtime_class)
    assert [problem.path for problem in caught.value.problems] == [
        "spec.template.spec.tolerations[0].operator",
        "scheduling.tolerations[0].operator",
    ]


def test_pod_that_a_cluster_has_admitted_keeps_its_comparisons() -> None:
    """As ``allowTaintTolerationComparisonOperators`` (``pkg/api/pod/util.go``)."""
    pod = make_pod(name="old", node="n0", tolerations=[FASTER])
    cluster = make_cluster(pod, nodes=1)
    stored = cluster.get(Pod, "default/old")
    more = (*stored.spec.tolerations, Toleration(key="disk", operator="Exists"))
    spec = replace(stored.spec, tolerations=more)
    assert cluster.update(replace(stored, spec=spec)).spec.tolerations == more
