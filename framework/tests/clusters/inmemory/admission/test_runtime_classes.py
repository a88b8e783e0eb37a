"""RuntimeClasses add fields to new pods and reject some pods.

Cases follow upstream's ``plugin/pkg/admission/runtimeclass/admission_test.go`` and
``pkg/util/tolerations/tolerations_test.go`` (Kubernetes v1.36).
"""

from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.manifests import NoticeReason
from quaymaster.objects import Deployment, RuntimeClass, from_wire, to_wire
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node
from tests.kit.clusters import make_cluster

CONTAINERS = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
KEPT_ANYWAY = [
    {"key": f"node.kubernetes.io/{trouble}", "operator": "Exists"}
    | {"effect": "NoExecute", "tolerationSeconds": 300}
    for trouble in ("not-ready", "unreachable")
]


def make_class(**fields: object) -> RuntimeClass:
    tree = {"metadata": {"name": "vm"}, "handler": "kata", **fields}
    return from_wire(tree, RuntimeClass)


def make_pod_of(spec: dict[str, Any], **metadata: object) -> Pod:
    metadata = {"name": "pod", "namespace": "default", **metadata}
    return from_wire(
        {"metadata": metadata, "spec": {"containers": CONTAINERS, **spec}}, Pod
    )


def stored(pod: Pod, *classes: RuntimeClass) -> dict[str, Any]:
    cluster = make_cluster(pod, *classes)
    spec: dict[str, Any] = to_wire(cluster.get(Pod, pod.key))["spec"]
    return spec


def refusal(pod: Pod, *classes: RuntimeClass) -> str:
    with pytest.raises(AdmissionError) as caught:
        stored(pod, *classes)
    return str(caught.value)


def test_a_class_adds_overhead_node_selector_and_tolerations() -> None:
    found = make_class(
        overhead={"podFixed": {"cpu": "2", "memory": "120Mi"}},
        scheduling={
            "nodeSelector": {"vm": "yes"},
            "tolerations": [{"key": "vm", "operator": "Exists"}],
        },
    )
    pod = make_pod_of({"runtimeClassName": "vm", "nodeSelector": {"disk": "ssd"}})
    spec = stored(pod, found)
    assert spec["overhead"] == {"cpu": "2", "memory": "120Mi"}
    assert spec["nodeSelector"] == {"disk": "ssd", "vm": "yes"}
    assert list(spec["tolerations"]) == [
        *KEPT_ANYWAY,
        {"key": "vm", "operator": "Exists"},
    ]


def test_pods_of_an_unknown_class_are_rejected() -> None:
    assert refusal(make_pod_of({"runtimeClassName": "vm"})) == (
        'Pod default/pod: forbidden: pod rejected: RuntimeClass "vm" not found'
    )


@pytest.mark.parametrize(
    ("overhead", "message"),
    [
        pytest.param(
            None,
            "Pod Overhead set without corresponding RuntimeClass defined Overhead",
            id="a class without overhead",
        ),
        pytest.param(
            {"podFixed": {"cpu": "2"}},
            "Pod's Overhead doesn't match RuntimeClass's defined Overhead",
            id="a class with another one",
        ),
    ],
)
def test_overhead_must_be_that_of_the_class(
    overhead: dict[str, Any] | None, message: str
) -> None:
    fields = {} if overhead is None else {"overhead": overhead}
    pod = make_pod_of({"runtimeClassName": "vm", "overhead": {"cpu": "1"}})
    assert message in refusal(pod, make_class(**fields))
    same = make_class(overhead={"podFixed": {"cpu": "1000m"}})
    assert stored(pod, same)["overhead"] == {"cpu": "1"}


def test_pod_with_overhead_but_without_a_class_is_rejected() -> None:
    assert "Pod Overhead set without" in refusal(make_pod_of({"overhead": {"cpu": 1}}))


def test_another_value_for_the_node_label_of_a_class_is_a_conflict() -> None:
    pod = make_pod_of({"runtimeClassName": "vm", "nodeSelector": {"vm": "no"}})
    found = make_class(scheduling={"nodeSelector": {"vm": "yes"}})
    assert (
        "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; "
        "pod.spec.nodeSelector[vm] = no"
    ) in refusal(pod, found)


@pytest.mark.parametrize(
    ("own", "more", "merged"),
    [
        pytest.param(
            [{"key": "a", "operator": "Equal", "value": "1"}],
            [{"key": "a", "operator": "Exists"}],
            [{"key": "a", "operator": "Exists"}],
            id="a wider one comes later",
        ),
        pytest.param(
            [{"key": "a", "operator": "Exists"}],
            [{"key": "a", "operator": "Equal", "value": "1", "effect": "NoSchedule"}],
            [{"key": "a", "operator": "Exists"}],
            id="a wider one is there",
        ),
        pytest.param(
            [{"key": "a", "operator": "Exists"}],
            [{"key": "a", "operator": "Exists"}],
            [{"key": "a", "operator": "Exists"}],
            id="the same twice",
        ),
        pytest.param(
            [{"key": "a", "operator": "Equal", "value": "1"}],
            [{"key": "a", "operator": "Equal", "value": "2"}],
            [
                {"key": "a", "operator": "Equal", "value": "1"},
                {"key": "a", "operator": "Equal", "value": "2"},
            ],
            id="two values",
        ),
        pytest.param(
            [
                {"key": "a", "operator": "Exists", "effect": "NoExecute"}
                | {"tolerationSeconds": 9}
            ],
            [
                {"key": "a", "operator": "Exists", "effect": "NoExecute"}
                | {"tolerationSeconds": 5}
            ],
            [
                {"key": "a", "operator": "Exists", "effect": "NoExecute"}
                | {"tolerationSeconds": 9}
            ],
            id="the longer one",
        ),
    ],
)
def test_tolerations_that_others_cover_are_dropped(
    own: list[Any], more: list[Any], merged: list[Any]
) -> None:
    pod = make_pod_of({"runtimeClassName": "vm", "tolerations": own})
    tolerations = stored(pod, make_class(scheduling={"tolerations": more}))
    found = [
        toleration
        for toleration in tolerations["tolerations"]
        if toleration not in KEPT_ANYWAY
    ]
    assert found == merged


@pytest.mark.parametrize(
    "metadata",
    [{"resourceVersion": "7"}, {"creationTimestamp": "2025-01-01T00:00:00Z"}],
)
def test_pods_of_a_dump_are_left_alone(metadata: dict[str, str]) -> None:
    pod = make_pod_of({"runtimeClassName": "gone", "overhead": {"cpu": "1"}})
    again = make_pod_of(
        {"runtimeClassName": "gone", "overhead": {"cpu": "1"}}, **metadata
    )
    assert stored(again)["overhead"] == {"cpu": "1"}
    assert "not found" in refusal(pod)


def test_a_workload_of_an_unknown_class_gets_its_pods_when_the_class_comes() -> None:
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": CONTAINERS, "runtimeClassName": "vm"},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    web = from_wire({"metadata": {"name": "web"}, "spec": spec}, Deployment)
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(), web])
    (notice,) = cluster.notices()
    assert notice.reason is NoticeReason.MISSING_PODS
    assert str(notice) == (
        "Deployment default/web: 2 pods were not created: "
        'pod rejected: RuntimeClass "vm" not found'
    )
    cluster.create(make_class())
    clock.run_due()
    assert len(cluster.list(Pod).items) == 2
    assert cluster.notices() == ()


def test_wrong_classes_are_refused() -> None:
    broken = make_class(
        handler="",
        overhead={"podFixed": {"cpu": "-1", "pods": "1"}},
        scheduling={"tolerations": [{"operator": "Exists", "value": "x"}]},
    )
    with pytest.raises(AdmissionError) as caught:
        make_cluster().create(broken)
    assert [problem.path for problem in caught.value.problems] == [
        "handler",
        "overhead.limits[cpu]",
        "overhead.limits[pods]",
        "scheduling.tolerations[0].operator",
    ]
