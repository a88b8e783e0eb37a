"""LimitRanges set defaults of new pods and reject pods and claims.

Cases follow upstream's ``plugin/pkg/admission/limitranger/admission_test.go``
(Kubernetes v1.36).
"""

from typing import Any

import pytest

from quaymaster import Pod
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import (
    Job,
    LimitRange,
    PersistentVolumeClaim,
    from_wire,
    to_wire,
)
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]


def make_range(*limits: Tree, name: str = "limits", namespace: str = "") -> LimitRange:
    metadata = {"name": name, "namespace": namespace}
    return from_wire({"metadata": metadata, "spec": {"limits": limits}}, LimitRange)


def container(name: str = "c", **resources: Tree) -> Tree:
    return {"name": name, "image": "i", "resources": resources}


def make_pod_of(*containers: Tree, namespace: str = "", **spec: object) -> Pod:
    metadata = {"name": "pod", "namespace": namespace}
    spec = {"containers": containers or [container()], **spec}
    return from_wire({"metadata": metadata, "spec": spec}, Pod)


def stored(pod: Pod, *ranges: LimitRange) -> Tree:
    cluster = make_cluster(pod, *ranges)
    (found,) = cluster.list(Pod).items
    spec: Tree = to_wire(found)["spec"]
    return spec


def refusal(obj: Pod | PersistentVolumeClaim, *ranges: LimitRange) -> str:
    with pytest.raises(AdmissionError) as caught:
        make_cluster(obj, *ranges)
    (problem,) = caught.value.problems
    return problem.message.removeprefix("forbidden: ")


def resources(spec: Tree) -> Tree:
    found: Tree = spec["containers"][0].get("resources", {})
    return found


@pytest.mark.parametrize(
    ("limit", "own", "expected"),
    [
        pytest.param(
            {"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}},
            {},
            {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
            id="both are given",
        ),
        pytest.param(
            {"default": {"cpu": "2"}},
            {},
            {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}},
            id="the request follows the limit",
        ),
        pytest.param(
            {"max": {"cpu": "3"}},
            {},
            {"limits": {"cpu": "3"}, "requests": {"cpu": "3"}},
            id="the limit follows the maximum",
        ),
        pytest.param(
            {"min": {"cpu": "1"}},
            {},
            {"requests": {"cpu": "1"}},
            id="the request follows the minimum",
        ),
        pytest.param(
            {"defaultRequest": {"cpu": "1"}},
            {"requests": {"cpu": "500m"}},
            {"requests": {"cpu": "500m"}},
            id="what is asked for stays",
        ),
        pytest.param(
            {"defaultRequest": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}},
            id="a limit is a request before that",
        ),
    ],
)
def test_containers_get_missing_requests_and_limits(
    limit: Tree, own: Tree, expected: Tree
) -> None:
    limits = make_range({"type": "Container", **limit})
    assert resources(stored(make_pod_of(container(**own)), limits)) == expected


def test_init_containers_get_defaults_too() -> None:
    limits = make_range({"type": "Container", "defaultRequest": {"cpu": "1"}})
    spec = stored(make_pod_of(initContainers=[container("init")]), limits)
    assert spec["initContainers"][0]["resources"] == {"requests": {"cpu": "1"}}


def test_limits_are_those_of_the_namespace() -> None:
    limits = make_range(
        {"type": "Container", "defaultRequest": {"cpu": "1"}}, namespace="team"
    )
    assert resources(stored(make_pod_of(), limits)) == {}
    pod = make_pod_of(namespace="team")
    assert resources(stored(pod, limits)) == {"requests": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("limit", "own", "message"),
    [
        (
            {"type": "Container", "min": {"cpu": "100m"}},
            {"requests": {"cpu": "50m"}},
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        (
            {"type": "Pod", "min": {"cpu": "100m"}},
            {},
            "minimum cpu usage per Pod is 100m.  No request is specified",
        ),
        (
            {"type": "Pod", "max": {"memory": "1Gi"}},
            {"requests": {"memory": "512Mi"}},
            "maximum memory usage per Pod is 1Gi.  No limit is specified",
        ),
        (
            {"type": "Container", "max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            {"limits": {"cpu": "3"}, "requests": {"cpu": "1"}},
            (
                "cpu max limit to request ratio per Container is 2, "
                "but provided ratio is 3.000000"
            ),
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}},
            (
                "cpu max limit to request ratio per Container is 2, "
                "but no limit is specified or limit is 0"
            ),
        ),
        (
            {"type": "Container", "max": {"cpu": "1", "memory": "1Gi"}},
            {"limits": {"cpu": "2", "memory": "2Gi"}},
            (
                "[maximum cpu usage per Container is 1, but limit is 2, "
                "maximum memory usage per Container is 1Gi, but limit is 2Gi]"
            ),
        ),
    ],
)
def test_pods_beyond_the_bounds_are_rejected(
    limit: Tree, own: Tree, message: str
) -> None:
    assert refusal(make_pod_of(container(**own)), make_range(limit)) == message


def test_the_bounds_of_a_pod_are_for_all_its_containers_together() -> None:
    limits = make_range({"type": "Pod", "max": {"cpu": "2"}})
    two = [container(name, limits={"cpu": "1"}) for name in ("a", "b")]
    assert stored(make_pod_of(*two), limits)
    sidecar = {**container("s", limits={"cpu": "1"}), "restartPolicy": "Always"}
    assert (
        refusal(make_pod_of(*two, initContainers=[sidecar]), limits)
        == "maximum cpu usage per Pod is 2, but limit is 3"
    )


def test_pod_level_resources_replace_those_of_the_containers() -> None:
    limits = make_range({"type": "Pod", "max": {"cpu": "2"}})
    whole = {"limits": {"cpu": "3"}}
    assert (
        refusal(make_pod_of(resources=whole), limits)
        == "maximum cpu usage per Pod is 2, but limit is 3"
    )


def test_defaults_that_clash_with_a_request_are_found_by_the_usual_check() -> None:
    limits = make_range(
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}
    )
    pod = make_pod_of(container(requests={"cpu": "2"}))
    with pytest.raises(AdmissionError, match=r"resources.*cpu"):
        stored(pod, limits)


def test_claims_beyond_the_bounds_are_rejected() -> None:
    tree = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }
    claim = from_wire(tree, PersistentVolumeClaim)
    kind = "PersistentVolumeClaim"
    large = make_range({"type": kind, "min": {"storage": "10Gi"}})
    small = make_range({"type": kind, "max": {"storage": "1Gi"}})
    assert refusal(claim, large) == (
        f"minimum storage usage per {kind} is 10Gi, but request is 5Gi"
    )
    assert refusal(claim, small) == (
        f"maximum storage usage per {kind} is 1Gi, but request is 5Gi"
    )
    tree["status"] = {"phase": "Bound"}
    make_cluster(from_wire(tree, PersistentVolumeClaim), small)


def test_a_workload_whose_pods_are_rejected_reports_why() -> None:
    template = {"spec": {"containers": [container()], "restartPolicy": "Never"}}
    spec = {"template": template, "parallelism": 2, "completions": 2}
    job = from_wire({"metadata": {"name": "sum"}, "spec": spec}, Job)
    cluster = make_cluster(job, make_range({"type": "Pod", "min": {"cpu": "1"}}))
    (notice,) = cluster.notices()
    assert str(notice) == (
        "Job default/sum: 2 pods were not created: "
        "minimum cpu usage per Pod is 1.  No request is specified"
    )


def test_a_pod_on_a_node_is_left_alone() -> None:
    limits = make_range({"type": "Container", "defaultRequest": {"cpu": "1"}})
    assert resources(stored(make_pod_of(nodeName="n"), limits)) == {}


@pytest.mark.parametrize(
    ("limits", "path"),
    [
        ([{"type": "Node"}], "spec.limits[0].type"),
        ([{"type": "Pod"}, {"type": "Pod"}], "spec.limits[1].type"),
        ([{"type": "Pod", "default": {"cpu": "1"}}], "spec.limits[0].default"),
        ([{"type": "PersistentVolumeClaim"}], "spec.limits[0].limits"),
        ([{"type": "a/b/c"}], "spec.limits[0].type"),
        (
            [{"type": "Container", "maxLimitRequestRatio": {"gpu": "1"}}],
            "spec.limits[0].maxLimitRequestRatio[gpu]",
        ),
        (
            [{"type": "Pod", "max": {"storage": "1Gi"}}],
            "spec.limits[0].max[storage]",
        ),
        (
            [{"type": "PersistentVolumeClaim", "min": {"storage": 1, "size": 1}}],
            "spec.limits[0].min[size]",
        ),
        (
            [{"type": "Container", "min": {"cpu": 2}, "defaultRequest": {"cpu": 1}}],
            "spec.limits[0].defaultRequest[cpu]",
        ),
        (
            [
                {
                    "type": "Container",
                    "default": {"cpu": 3},
                    "defaultRequest": {"cpu": 1},
                    "max": {"cpu": 2},
                }
            ],
            "spec.limits[0].default[cpu]",
        ),
        (
            [
                {
                    "type": "Container",
                    "default": {"nvidia.com/gpu": 2},
                    "defaultRequest": {"nvidia.com/gpu": 1},
                }
            ],
            "spec.limits[0].defaultRequest[nvidia.com/gpu]",
        ),
        (
            [
                {
                    "type": "Pod",
                    "min": {"cpu": "500m"},
                    "max": {"cpu": 1},
                    "maxLimitRequestRatio": {"cpu": "2001m"},
                }
            ],
            "spec.limits[0].maxLimitRequestRatio[cpu]",
        ),
        (
            [{"type": "Pod", "min": {"cpu": "2"}, "max": {"cpu": "1"}}],
            "spec.limits[0].min[cpu]",
        ),
        (
            [{"type": "Pod", "maxLimitRequestRatio": {"cpu": "500m"}}],
            "spec.limits[0].maxLimitRequestRatio[cpu]",
        ),
    ],
)
def test_wrong_limits_are_refused(limits: list[Tree], path: str) -> None:
    with pytest.raises(AdmissionError) as caught:
        make_cluster().create(make_range(*limits))
    assert [problem.path for problem in caught.value.problems] == [path]
