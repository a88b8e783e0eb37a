"""ResourceQuotas count objects and reject those beyond the limits.

Cases follow upstream's ``plugin/pkg/admission/resourcequota/admission_test.go`` and
``pkg/quota/v1/evaluator/core`` (Kubernetes v1.36).
"""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.cluster import ForbiddenError
from quaymaster.config import Kubernetes, default_config
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, AdmissionError, InMemoryCluster
from quaymaster.manifests import NoticeReason, has_missing_pods
from quaymaster.objects import (
    Deployment,
    Job,
    PersistentVolumeClaim,
    PriorityClass,
    Quantity,
    ReplicaSet,
    ResourceQuota,
    Service,
    StatefulSet,
    from_wire,
)
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import make_node
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]
LABELS = {"app": "web"}
REGISTRY = PluginRegistry.discover()


def make_quota(hard: Tree, *, name: str = "q", **fields: object) -> ResourceQuota:
    spec = {"hard": hard, **fields}
    return from_wire({"metadata": {"name": name}, "spec": spec}, ResourceQuota)


def container(name: str = "c", **resources: Any) -> Tree:
    return {"name": name, "image": "i", "resources": resources}


def make_pod_of(name: str, *containers: Tree, **spec: Any) -> Pod:
    spec = {"containers": containers or [container()], **spec}
    tree = {"metadata": {"name": name}, "spec": spec}
    return from_wire(tree, Pod)


def deployment_of(replicas: int, **resources: Any) -> Deployment:
    template = {
        "metadata": {"labels": LABELS},
        "spec": {"containers": [container(**resources)]},
    }
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "template": template,
    }
    return from_wire({"metadata": {"name": "web"}, "spec": spec}, Deployment)


def used(cluster: InMemoryCluster, name: str = "q") -> dict[str, str]:
    amounts = cluster.get(ResourceQuota, f"default/{name}").status.used
    return {resource: str(amount) for resource, amount in amounts.items()}


def refusal(cluster: InMemoryCluster, obj: ApiObject) -> str:
    with pytest.raises(ForbiddenError) as caught:
        cluster.create(obj)
    return str(caught.value)


def test_pods_beyond_a_quota_are_not_created_and_reported() -> None:
    cluster = make_cluster(
        make_quota({"pods": 2, "requests.cpu": "1500m"}),
        deployment_of(5, requests={"cpu": "500m"}),
    )
    assert len(cluster.list(Pod).items) == 2
    assert used(cluster) == {"pods": "2", "requests.cpu": "1"}
    (notice,) = cluster.notices()
    assert notice.reason is NoticeReason.MISSING_PODS
    assert str(notice) == (
        "Deployment default/web: 3 pods were not created: "
        "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
    )
    events = [event.note for event in cluster.events() if event.type == "Warning"]
    assert events[0].startswith('Error creating: pods "web-')
    assert events[0].endswith(
        " is forbidden: exceeded quota: q, "
        "requested: pods=1, used: pods=2, limited: pods=2"
    )


def test_all_limits_that_are_exceeded_are_named_in_upstreams_words() -> None:
    cluster = make_cluster(
        make_quota({"requests.memory": "1Gi", "limits.cpu": "2", "pods": "9"}),
        make_pod_of("a", container(limits={"cpu": "1500m", "memory": "768Mi"})),
    )
    pod = make_pod_of("b", container(limits={"cpu": "1", "memory": "512Mi"}))
    assert refusal(cluster, pod) == (
        'pods "b" is forbidden: exceeded quota: q, '
        "requested: limits.cpu=1,requests.memory=512Mi, "
        "used: limits.cpu=1500m,requests.memory=768Mi, "
        "limited: limits.cpu=2,requests.memory=1Gi"
    )


def test_pods_must_set_the_resources_that_a_quota_of_cpu_or_memory_limits() -> None:
    cluster = make_cluster(make_quota({"limits.cpu": "2", "requests.memory": "1Gi"}))
    pod = make_pod_of(
        "a",
        container("one", requests={"memory": "1Mi"}),
        container("two", limits={"cpu": "1"}),
        initContainers=[container("init")],
    )
    assert refusal(cluster, pod) == (
        'pods "a" is forbidden: failed quota: q: must specify '
        "limits.cpu for: init,one; requests.memory for: init,two"
    )
    whole = make_pod_of("b", resources={"requests": {"memory": "1Mi"}})
    assert cluster.create(whole).name == "b"


def test_other_resources_need_not_be_requested() -> None:
    cluster = make_cluster(
        make_quota({"requests.nvidia.com/gpu": "1", "requests.ephemeral-storage": 1})
    )
    cluster.create(make_pod_of("none"))
    gpu = container(limits={"nvidia.com/gpu": "1"})
    cluster.create(make_pod_of("one", gpu))
    assert "requests.nvidia.com/gpu=1" in refusal(cluster, make_pod_of("two", gpu))


def test_pods_of_a_file_beyond_the_quota_are_left_out_with_a_notice() -> None:
    pods = [make_pod_of(name) for name in ("a", "b", "c", "d")]
    cluster = make_cluster(*pods, make_quota({"pods": "1"}))
    assert [pod.name for pod in cluster.list(Pod).items] == ["a"]
    (notice,) = cluster.notices()
    assert notice.reason is NoticeReason.MISSING_PODS
    assert str(notice) == (
        "3 Pods were not created: exceeded quota: q, requested: pods=1, "
        "used: pods=1, limited: pods=1: default/b, default/c, default/d"
    )


def test_pods_of_a_dump_are_counted_and_never_rejected() -> None:
    running = [make_pod_of(name, nodeName="n") for name in ("a", "b", "c")]
    cluster = make_cluster(make_pod_of("new"), *running, make_quota({"pods": "2"}))
    assert used(cluster) == {"pods": "3"}
    assert [pod.name for pod in cluster.list(Pod).items] == ["a", "b", "c"]


def test_loaded_status_of_a_quota_is_recounted() -> None:
    quota = make_quota({"pods": "5", "configmaps": "9"})
    counts = {"pods": Quantity(4), "configmaps": Quantity(7)}
    cluster = make_cluster(
        replace(quota, status=replace(quota.status, used=counts)), make_pod_of("a")
    )
    assert used(cluster) == {"pods": "1", "configmaps": "7"}


def test_ended_pods_count_only_as_stored_objects() -> None:
    ended = make_pod_of("a", container(requests={"cpu": "1"}), nodeName="n")
    cluster = make_cluster(
        replace(ended, status=replace(ended.status, phase="Succeeded")),
        make_quota({"pods": "1", "count/pods": "2", "cpu": "1"}),
    )
    assert used(cluster) == {"pods": "0", "count/pods": "1", "cpu": "0"}


def test_a_job_continues_when_its_pods_have_made_room() -> None:
    template = {
        "metadata": {"annotations": {RUN_SECONDS_ANNOTATION: "60"}},
        "spec": {"containers": [container()], "restartPolicy": "Never"},
    }
    spec = {"template": template, "parallelism": 5, "completions": 5}
    job = from_wire({"metadata": {"name": "sum"}, "spec": spec}, Job)
    result = simulate(
        [make_node(), job, make_quota({"pods": "2"})],
        config=default_config(REGISTRY),
        registry=REGISTRY,
    )
    assert [placement.bound for placement in result.placements] == [0, 0, 60, 60, 120]
    assert result.notices == ()


def test_an_indexed_job_counts_all_the_pods_that_it_lacks() -> None:
    template = {"spec": {"containers": [container()], "restartPolicy": "Never"}}
    spec = {"template": template, "parallelism": 5, "completions": 5}
    spec["completionMode"] = "Indexed"
    job = from_wire({"metadata": {"name": "sum"}, "spec": spec}, Job)
    (notice,) = make_cluster(job, make_quota({"pods": "2"})).notices()
    assert str(notice).startswith("Job default/sum: 3 pods were not created: ")


def test_a_larger_quota_lets_the_others_in() -> None:
    cluster = make_cluster(make_quota({"pods": "1"}), deployment_of(3))
    quota = cluster.get(ResourceQuota, "default/q")
    cluster.update(replace(quota, spec=make_quota({"pods": "9"}).spec))
    cluster.clock.run_due()
    assert len(cluster.list(Pod).items) == 3
    assert cluster.notices() == ()


def test_a_deleted_quota_limits_nothing() -> None:
    cluster = make_cluster(make_quota({"pods": "0"}), deployment_of(2))
    cluster.delete(ResourceQuota, "default/q")
    cluster.clock.run_due()
    assert len(cluster.list(Pod).items) == 2


def test_a_deleted_workload_misses_nothing() -> None:
    cluster = make_cluster(make_quota({"pods": "0"}), deployment_of(2))
    cluster.delete(Deployment, "default/web")
    cluster.clock.run_due()
    assert cluster.notices() == ()


def make_claim(name: str, size: str, **spec: object) -> PersistentVolumeClaim:
    storage = {"requests": {"storage": size}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": storage, **spec}
    tree = {"metadata": {"name": name}, "spec": spec}
    return from_wire(tree, PersistentVolumeClaim)


def test_claims_are_counted_by_number_size_and_class() -> None:
    cluster = make_cluster(
        make_quota(
            {
                "persistentvolumeclaims": "9",
                "count/persistentvolumeclaims": "9",
                "requests.storage": "100Gi",
                "fast.storageclass.storage.k8s.io/requests.storage": "20Gi",
                "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "9",
            }
        ),
        make_claim("a", "15Gi", storageClassName="fast"),
        make_claim("b", "30Gi", storageClassName="slow"),
    )
    assert used(cluster) == {
        "persistentvolumeclaims": "2",
        "count/persistentvolumeclaims": "2",
        "requests.storage": "45Gi",
        "fast.storageclass.storage.k8s.io/requests.storage": "15Gi",
        "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
    }
    message = refusal(cluster, make_claim("c", "10Gi", storageClassName="fast"))
    assert message == (
        'persistentvolumeclaims "c" is forbidden: exceeded quota: q, '
        "requested: fast.storageclass.storage.k8s.io/requests.storage=10Gi, "
        "used: fast.storageclass.storage.k8s.io/requests.storage=15Gi, "
        "limited: fast.storageclass.storage.k8s.io/requests.storage=20Gi"
    )


def test_a_set_whose_claims_find_no_room_gets_no_pod_for_them() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container()]}}
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": LABELS},
        "serviceName": "db",
        "template": template,
        "volumeClaimTemplates": [claim],
        "podManagementPolicy": "Parallel",
    }
    owner = from_wire({"metadata": {"name": "db"}, "spec": spec}, StatefulSet)
    cluster = make_cluster(owner, make_quota({"persistentvolumeclaims": "1"}))
    assert [pod.name for pod in cluster.list(Pod).items] == ["db-0"]
    shortage = cluster.notices()[-1]
    assert str(shortage).startswith("StatefulSet default/db: 2 pods were not created: ")


def test_objects_of_any_kind_can_be_counted() -> None:
    quota = make_quota(
        {
            "count/deployments.apps": "1",
            "count/replicasets.apps": "0",
            "services": "1",
            "services.loadbalancers": "1",
        }
    )
    service = from_wire(
        {"metadata": {"name": "web"}, "spec": {"type": "LoadBalancer"}}, Service
    )
    cluster = make_cluster(quota, deployment_of(2), service)
    assert used(cluster) == {
        "count/deployments.apps": "1",
        "count/replicasets.apps": "0",
        "services": "1",
        "services.loadbalancers": "1",
    }
    assert not cluster.list(ReplicaSet).items
    (notice,) = cluster.notices()
    assert str(notice) == (
        "Deployment default/web: 2 pods were not created: exceeded quota: q, "
        "requested: count/replicasets.apps=1, used: count/replicasets.apps=0, "
        "limited: count/replicasets.apps=0"
    )
    other = replace(service, metadata=replace(service.metadata, name="other"))
    assert "requested: services.loadbalancers=1,services=1" in refusal(cluster, other)


def test_an_object_without_pods_beyond_the_quota_is_reported_but_not_missed() -> None:
    service = from_wire({"metadata": {"name": "web"}}, Service)
    notices = make_cluster(make_quota({"services": "0"}), service).notices()
    assert [notice.reason for notice in notices] == [NoticeReason.REFUSED_OBJECTS]
    assert not has_missing_pods(notices)


AFFINITY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "namespaces": ["other"]}
        ]
    }
}


@pytest.mark.parametrize(
    ("fields", "spec", "counts"),
    [
        ({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 5}, True),
        ({"scopes": ["Terminating"]}, {}, False),
        ({"scopes": ["NotTerminating"]}, {}, True),
        ({"scopes": ["BestEffort"]}, {}, True),
        ({"scopes": ["NotBestEffort"]}, {}, False),
        ({"scopes": ["BestEffort", "Terminating"]}, {}, False),
        (
            {"scopes": ["NotBestEffort"]},
            {"resources": {"requests": {"cpu": "1"}}},
            True,
        ),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {"affinity": AFFINITY}, True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {}, False),
        ({"scopes": ["PriorityClass"]}, {"priorityClassName": "high"}, True),
        ({"scopes": ["PriorityClass"]}, {}, False),
    ],
)
def test_scopes_decide_which_pods_count(fields: Tree, spec: Tree, counts: bool) -> None:
    high = from_wire({"metadata": {"name": "high"}, "value": 5}, PriorityClass)
    cluster = make_cluster(
        high, make_quota({"pods": "9"}, **fields), make_pod_of("a", **spec)
    )
    assert used(cluster) == {"pods": "1" if counts else "0"}


@pytest.mark.parametrize(
    ("kubernetes", "is_best_effort"),
    [(Kubernetes("1.36"), True), (Kubernetes("1.37"), False)],
    ids=["1.36", "1.37"],
)
def test_empty_resources_of_a_pod_leave_its_class_to_containers_since_1_37(
    kubernetes: Kubernetes, is_best_effort: bool
) -> None:
    """The feature gate is PodLevelResourcesFixKubeletQOSClass."""
    quota = make_quota({"pods": "9"}, scopes=["BestEffort"])
    pod = make_pod_of("a", container(requests={"cpu": "1"}), resources={})
    cluster = make_cluster(quota, pod, kubernetes=kubernetes)
    assert used(cluster) == {"pods": "1" if is_best_effort else "0"}


@pytest.mark.parametrize(
    ("kubernetes", "usage"),
    [
        pytest.param(Kubernetes("1.36"), {"requests.cpu": "3", "limits.cpu": "5"}),
        pytest.param(Kubernetes("1.37"), {"requests.cpu": "2", "limits.cpu": "4"}),
    ],
    ids=["1.36", "1.37"],
)
def test_a_pod_in_a_resize_counts_with_what_the_node_has_set(
    kubernetes: Kubernetes, usage: dict[str, str]
) -> None:
    """Requests and limits of containers; the status of the whole pod is ignored."""
    sizes = {"a": ("1", "2"), "b": ("1", "2")}
    actual = {"a": ("2", "3"), "b": ("0", "1")}
    trees = {
        name: {"requests": {"cpu": request}, "limits": {"cpu": limit}}
        for name, (request, limit) in sizes.items()
    }
    pod = make_pod_of("web", *(container(name, **tree) for name, tree in trees.items()))
    statuses = [
        {
            "name": name,
            "resources": {"requests": {"cpu": least}, "limits": {"cpu": most}},
        }
        for name, (least, most) in actual.items()
    ]
    status = {
        "phase": "Running",
        "containerStatuses": statuses,
        "resources": {"requests": {"cpu": "9"}, "limits": {"cpu": "9"}},
    }
    running = replace(pod, status=from_wire({"status": status}, Pod).status)
    quota = make_quota({"requests.cpu": "9", "limits.cpu": "9"})
    assert used(make_cluster(quota, running, kubernetes=kubernetes)) == usage


@pytest.mark.parametrize(
    ("operator", "values", "class_name", "counts"),
    [
        ("In", ["high"], "high", True),
        ("In", ["low"], "high", False),
        ("In", ["high"], "", False),
        ("NotIn", ["high"], "", True),
        ("NotIn", ["high"], "high", False),
        ("Exists", [], "high", True),
        ("DoesNotExist", [], "high", False),
        ("DoesNotExist", [], "", True),
    ],
)
def test_a_scope_selector_chooses_by_priority_class(
    operator: str, values: list[str], class_name: str, counts: bool
) -> None:
    condition = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    quota = make_quota({"pods": "9"}, scopeSelector={"matchExpressions": [condition]})
    high = from_wire({"metadata": {"name": "high"}, "value": 5}, PriorityClass)
    cluster = make_cluster(high, quota, make_pod_of("a", priorityClassName=class_name))
    assert used(cluster) == {"pods": "1" if counts else "0"}


def test_claims_can_be_chosen_by_their_volume_attributes_class() -> None:
    quota = make_quota(
        {"persistentvolumeclaims": "9"}, scopes=["VolumeAttributesClass"]
    )
    cluster = make_cluster(
        quota,
        make_claim("a", "1Gi", volumeAttributesClassName="gold"),
        make_claim("b", "1Gi"),
    )
    assert used(cluster) == {"persistentvolumeclaims": "1"}


def test_every_quota_of_a_namespace_must_have_room() -> None:
    cluster = make_cluster(
        make_quota({"pods": "9"}, name="wide"),
        make_quota({"pods": "1"}, name="narrow", scopes=["BestEffort"]),
        make_pod_of("a"),
    )
    assert "exceeded quota: narrow" in refusal(cluster, make_pod_of("b"))
    cluster.create(make_pod_of("c", container(requests={"cpu": "1"})))
    cluster.clock.run_due()
    assert used(cluster, "wide") == {"pods": "2"}
    assert used(cluster, "narrow") == {"pods": "1"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"hard": {"pods": "-1"}}, "spec.hard[pods]"),
        ({"hard": {"pods": "500m"}}, "spec.hard[pods]"),
        ({"hard": {"limit.cpu": "1"}}, "spec.hard[limit.cpu]"),
        ({"hard": {"gpu": "1"}}, "spec.hard[gpu]"),
        ({"hard": {"count/a/b": "1"}}, "spec.hard[count/a/b]"),
        ({"hard": {"secrets": 1}, "scopes": ["BestEffort"]}, "spec.scopes"),
        ({"hard": {"hugepages-2Mi": 1}, "scopes": ["Terminating"]}, "spec.scopes"),
        ({"scopes": ["VolumeAttributesClass"]}, "spec.scopes"),
        ({"scopes": ["Perhaps"]}, "spec.scopes"),
        ({"scopes": ["BestEffort", "NotBestEffort"]}, "spec.scopes"),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass"}]}},
            "spec.scopeSelector.matchExpressions.operator",
        ),
    ],
)
def test_wrong_quotas_are_refused(fields: Tree, path: str) -> None:
    with pytest.raises(AdmissionError) as caught:
        make_cluster(make_quota(**{"hard": {"pods": "1"}, **fields}))
    assert [problem.path for problem in caught.value.problems] == [path]


def test_error_for_an_unknown_quota_resource_suggests_similar_ones() -> None:
    with pytest.raises(AdmissionError, match=r"did you mean 'limits\.cpu'"):
        make_cluster(make_quota({"limit.cpu": "1"}))


@pytest.mark.parametrize(
    "name",
    [
        "requests.hugepages-2Mi",
        "requests.nvidia.com/gpu",
        "count/deployments.apps",
        "gold.storageclass.storage.k8s.io/requests.storage",
        "services.nodeports",
    ],
)
def test_all_resources_that_a_server_counts_are_accepted(name: str) -> None:
    assert used(make_cluster(make_quota({name: "1"}))) is not None


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["create", "delete", "finish", "scale"]), st.integers(0, 5)
    ),
    max_size=20,
)


@given(acts=ACTS)
def test_incremental_usage_equals_a_recount(
    acts: list[tuple[str, int]],
) -> None:
    cluster = make_cluster(
        make_quota({"pods": "6", "requests.cpu": "3", "count/pods": "50"}),
        deployment_of(2, requests={"cpu": "250m"}),
    )
    for act, number in acts:
        pods = cluster.list(Pod).items
        if act == "create":
            cpu = container(requests={"cpu": f"{number}00m"})
            pod = make_pod_of("", cpu)
            metadata = replace(pod.metadata, generate_name="p-")
            with contextlib.suppress(ForbiddenError):
                cluster.create(replace(pod, metadata=metadata))
        elif act == "scale":
            web = cluster.get(Deployment, "default/web")
            cluster.update(replace(web, spec=replace(web.spec, replicas=number)))
        elif pods:
            pod = pods[number % len(pods)]
            if act == "delete":
                cluster.delete(Pod, pod.key)
            else:
                cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
        cluster.clock.run_due()
        pods = cluster.list(Pod).items
        live = [pod for pod in pods if not pod.is_finished]
        cpu_milli = sum(
            spec_container.resources.requests["cpu"].milli_value
            for pod in live
            for spec_container in pod.spec.containers
        )
        assert used(cluster) == {
            "pods": str(len(live)),
            "requests.cpu": str(Quantity.from_milli(cpu_milli)),
            "count/pods": str(len(pods)),
        }
        assert len(live) <= 6
        assert cpu_milli <= 3000
