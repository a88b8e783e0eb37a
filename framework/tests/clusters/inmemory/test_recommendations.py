"""VerticalPodAutoscalers change what new pods request.

As the admission controller of vertical-pod-autoscaler v1.7 (kubernetes/autoscaler).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import AdmissionError
from quaymaster.manifests import load
from quaymaster.objects import Deployment
from quaymaster.testing import make_limit_range
from tests.kit.clusters import make_cluster, pass_time, pods_of
from tests.kit.workloads import scale

RECOMMENDATION = {"target": {"cpu": "400m", "memory": "200Mi"}}


def make_scaler(
    *,
    name: str = "web",
    kind: str = "Deployment",
    mode: str = "Recreate",
    policy: Mapping[str, object] | None = None,
    recommendation: Mapping[str, object] = RECOMMENDATION,
) -> ApiObject:
    entry = {"containerName": "main", **recommendation}
    policies = [] if policy is None else [{"containerName": "*", **policy}]
    return read(
        {
            "apiVersion": "autoscaling.k8s.io/v1",
            "kind": "VerticalPodAutoscaler",
            "metadata": {"name": name},
            "spec": {
                "targetRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
                "updatePolicy": {"updateMode": mode},
                "resourcePolicy": {"containerPolicies": policies},
            },
            "status": {"recommendation": {"containerRecommendations": [entry]}},
        }
    )


def read(document: Mapping[str, Any]) -> ApiObject:
    (obj,) = load([msgspec.json.encode(document)]).objects
    return obj


def make_workload(
    requests: Mapping[str, str], limits: Mapping[str, str] | None = None
) -> ApiObject:
    resources = {"requests": requests, "limits": limits or {}}
    container = {"name": "main", "image": "i", "resources": resources}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [container]},
    }
    selector = {"matchLabels": {"app": "web"}}
    return read(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"selector": selector, "template": template},
        }
    )


def resources_of(pods: Sequence[Pod]) -> tuple[dict[str, str], dict[str, str]]:
    ((requests, limits),) = {
        (
            tuple(sorted((k, str(v)) for k, v in own.requests.items())),
            tuple(sorted((k, str(v)) for k, v in own.limits.items())),
        )
        for pod in pods
        for own in [pod.spec.containers[0].resources]
    }
    return dict(requests), dict(limits)


@pytest.mark.parametrize("mode", ["Auto", "Recreate", "Initial", "InPlaceOrRecreate"])
def test_new_pods_request_the_target(mode: str) -> None:
    cluster = make_cluster(make_workload({"cpu": "100m"}), make_scaler(mode=mode))
    requests, limits = resources_of(pods_of(cluster))
    assert requests == {"cpu": "400m", "memory": "200Mi"}
    assert limits == {}


def test_an_autoscaler_that_is_off_changes_nothing() -> None:
    cluster = make_cluster(make_workload({"cpu": "100m"}), make_scaler(mode="Off"))
    assert resources_of(pods_of(cluster)) == ({"cpu": "100m"}, {})


@pytest.mark.parametrize(
    ("policy", "requests", "limits"),
    [
        pytest.param(
            {},
            {"cpu": "400m", "memory": "200Mi"},
            {"cpu": "800m", "memory": "300Mi"},
            id="limits in proportion",
        ),
        pytest.param(
            {"controlledValues": "RequestsOnly"},
            {"cpu": "200m", "memory": "150Mi"},
            {"cpu": "200m", "memory": "150Mi"},
            id="requests up to the limits",
        ),
        pytest.param(
            {"controlledResources": ["memory"]},
            {"cpu": "100m", "memory": "200Mi"},
            {"cpu": "200m", "memory": "300Mi"},
            id="memory alone",
        ),
        pytest.param(
            {"maxAllowed": {"cpu": "300m"}, "minAllowed": {"memory": "400Mi"}},
            {"cpu": "300m", "memory": "400Mi"},
            {"cpu": "600m", "memory": "600Mi"},
            id="within bounds",
        ),
        pytest.param(
            {"mode": "Off"},
            {"cpu": "100m", "memory": "100Mi"},
            {"cpu": "200m", "memory": "150Mi"},
            id="off",
        ),
    ],
)
def test_policies_bound_the_recommendation(
    policy: Mapping[str, object], requests: object, limits: object
) -> None:
    workload = make_workload(
        {"cpu": "100m", "memory": "100Mi"}, {"cpu": "200m", "memory": "150Mi"}
    )
    cluster = make_cluster(workload, make_scaler(policy=policy))
    assert resources_of(pods_of(cluster)) == (requests, limits)


def test_limits_without_requests_follow_the_target() -> None:
    # A limit without a request is a request as well.
    workload = make_workload({}, {"cpu": "100m"})
    cluster = make_cluster(workload, make_scaler())
    _, limits = resources_of(pods_of(cluster))
    assert limits == {"cpu": "400m"}


def test_the_bounds_of_the_namespace_apply() -> None:
    limit_range = make_limit_range(max={"cpu": "600m"})
    workload = make_workload({"cpu": "100m"}, {"cpu": "200m"})
    cluster = make_cluster(workload, make_scaler(), limit_range)
    requests, limits = resources_of(pods_of(cluster))
    assert requests["cpu"] == "300m"
    assert limits["cpu"] == "600m"


def test_pods_of_other_workloads_stay_as_they_are() -> None:
    cluster = make_cluster(make_workload({"cpu": "100m"}), make_scaler(kind="Job"))
    assert resources_of(pods_of(cluster)) == ({"cpu": "100m"}, {})


def test_the_first_of_two_autoscalers_counts() -> None:
    other = {"target": {"cpu": "1"}}
    cluster = make_cluster(
        make_workload({"cpu": "100m"}),
        make_scaler(name="b", recommendation=other),
        make_scaler(name="a"),
    )
    requests, _ = resources_of(pods_of(cluster))
    assert requests["cpu"] == "400m"


def test_running_pods_keep_their_requests() -> None:
    cluster = make_cluster(make_workload({"cpu": "100m"}))
    cluster.create(make_scaler())
    pass_time(cluster, 60.0)
    assert resources_of(pods_of(cluster)) == ({"cpu": "100m"}, {})
    scale(cluster, Deployment, 2)
    pass_time(cluster, 0.0)
    newest = pods_of(cluster)[-1]
    assert str(newest.spec.containers[0].resources.requests["cpu"]) == "400m"
    assert newest.annotations["vpaUpdates"] == "Pod resources updated by web"


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        ({"mode": "on"}, "mode"),
        ({"controlledResources": ["gpu"]}, "controlledResources"),
        ({"minAllowed": {"cpu": 2}, "maxAllowed": {"cpu": 1}}, "maxAllowed"),
    ],
)
def test_invalid_policies_are_rejected(policy: Mapping[str, object], path: str) -> None:
    with pytest.raises(AdmissionError, match=rf"containerPolicies\[0\]\.{path}"):
        make_cluster(make_scaler(policy=policy))
