"""A dump of a cluster is loaded unchanged: its objects do not move."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.manifests import Loaded, ManifestErrors, NoticeReason, load
from quaymaster.objects import (
    DaemonSet,
    Deployment,
    Job,
    NodeCondition,
    NodeStatus,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    PriorityClass,
    ReplicaSet,
    StatefulSet,
    StorageClass,
    from_wire,
    to_wire,
)
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.simulation import SimulationResult, simulate
from quaymaster.testing import make_container, make_node, make_pod
from tests.kit.clusters import make_cluster
from tests.kit.workloads import (
    make_daemon_set,
    make_deployment,
    make_job,
    make_stateful_set,
    make_template,
)

REGISTRY = PluginRegistry.discover()
STORAGE = StorageClass(
    metadata=ObjectMeta(
        name="fast",
        annotations={"storageclass.kubernetes.io/is-default-class": "true"},
    ),
    provisioner="csi.example.com",
    volume_binding_mode="WaitForFirstConsumer",
)
KINDS: Sequence[type[ApiObject]] = (
    Node,
    StorageClass,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    PersistentVolumeClaim,
    PersistentVolume,
    Pod,
)
Tree = dict[str, Any]


def run(objects: Sequence[ApiObject]) -> SimulationResult:
    config = default_config(REGISTRY)
    return simulate(objects, config=config, registry=REGISTRY)


def workloads() -> list[ApiObject]:
    def template(app: str) -> PodTemplateSpec:
        return make_template(labels={"app": app})

    return [
        make_deployment(3, template("web")),
        make_stateful_set(2, template("db"), name="db", claims=["data"]),
        make_daemon_set(template("agent")),
        make_job(template("work"), name="work", parallelism=2, completions=2),
    ]


def dump() -> list[Tree]:
    """Return all objects of a small cluster in which everything runs."""
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    nodes = [make_node(name=f"n{number}") for number in range(2)]
    cluster.load([*nodes, STORAGE, *workloads()])
    scheduler = Scheduler(cluster, default_config(REGISTRY), REGISTRY, clock=clock)
    scheduler.start()
    scheduler.settle()
    return [to_wire(obj) for kind in KINDS for obj in cluster.list(kind).items]


def loaded(trees: Sequence[Tree], folder: Path) -> Loaded:
    document = {"apiVersion": "v1", "kind": "List", "items": trees}
    (folder / "dump.json").write_bytes(msgspec.json.encode(document))
    return load([folder / "dump.json"])


def tree_of(trees: Sequence[Tree], kind: str, name: str) -> Tree:
    return next(
        tree
        for tree in trees
        if tree["kind"] == kind and tree["metadata"]["name"].startswith(name)
    )


def test_nothing_moves_in_the_dump_of_a_settled_cluster(tmp_path: Path) -> None:
    result = run(loaded(dump(), tmp_path).objects)
    assert (result.pods, result.placements, result.notices) == (0, (), ())


def evict(pod: Tree) -> None:
    pod["status"] = {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory.",
    }


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(
            lambda pod: pod["status"].update(phase="Unknown", reason="NodeLost"),
            id="a pod that nobody has heard of for a while",
        ),
        pytest.param(
            lambda pod: pod["spec"].update(priority=7, priorityClassName="gone"),
            id="a priority class that is gone",
        ),
        pytest.param(
            lambda pod: pod["spec"].update(schedulerName="volcano"),
            id="the scheduler of another project",
        ),
        pytest.param(
            lambda pod: pod["spec"].update(
                ephemeralContainers=[{"name": "debug", "image": "busybox"}]
            ),
            id="an ephemeral container",
        ),
        pytest.param(
            lambda pod: pod["status"].update(
                resize="Infeasible", nominatedNodeName="n9", qosClass="Burstable"
            ),
            id="a resize that cannot be",
        ),
        pytest.param(lambda pod: pod["metadata"].pop("ownerReferences"), id="no owner"),
        pytest.param(
            lambda pod: pod["metadata"].update(finalizers=["example.com/wait"]),
            id="a finalizer",
        ),
    ],
)
def test_pods_in_any_state_stay_where_they_are(
    harm: Callable[[Tree], object], tmp_path: Path
) -> None:
    trees = dump()
    for name in ("web", "db-0", "agent"):
        harm(tree_of(trees, "Pod", name))
    assert run(loaded(trees, tmp_path).objects).pods == 0


def test_pods_on_a_missing_node_stay_there_with_a_notice(tmp_path: Path) -> None:
    trees = dump()
    tree_of(trees, "Pod", "web")["spec"]["nodeName"] = "gone"
    result = run(loaded(trees, tmp_path).objects)
    assert result.pods == 0
    assert [notice.reason for notice in result.notices] == [NoticeReason.STRAY_PODS]


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
@pytest.mark.parametrize("name", ["web", "db-1", "agent"])
def test_a_pod_that_has_ended_is_replaced_wherever_it_was(
    name: str, phase: str, tmp_path: Path
) -> None:
    trees = dump()
    pod = tree_of(trees, "Pod", name)
    evict(pod)
    pod["status"]["phase"] = phase
    result = run(loaded(trees, tmp_path).objects)
    (placement,) = result.placements
    assert placement.pod.startswith(f"default/{name}")
    (notice,) = result.notices
    assert notice.reason is NoticeReason.ENDED_PODS


def test_a_replica_waits_until_its_ended_self_is_gone(tmp_path: Path) -> None:
    trees = dump()
    pod = tree_of(trees, "Pod", "db-1")
    evict(pod)
    pod["metadata"]["finalizers"] = ["example.com/wait"]
    *_, notice = run(loaded(trees, tmp_path).objects).notices
    assert str(notice) == "StatefulSet default/db: 1 more waits for db-1"


def test_ended_pods_beside_their_replacements_are_not_surplus(tmp_path: Path) -> None:
    trees = dump()
    old = msgspec.json.decode(msgspec.json.encode(tree_of(trees, "Pod", "web")))
    old["metadata"].update(name="web-old", uid="old")
    old["status"]["phase"] = "Succeeded"
    objects = loaded([*trees, old], tmp_path).objects
    result = run(objects)
    assert (result.pods, result.preempted) == (0, ())


def test_pods_on_nodes_of_earlier_input_are_not_strays() -> None:
    cluster = make_cluster(nodes=1)
    cluster.load([make_pod(node="n0")])
    assert cluster.notices() == ()


def test_an_ended_pod_on_a_missing_node_is_not_a_stray() -> None:
    gone = make_pod(name="evicted", node="gone")
    result = run([make_node(), replace(gone, status=PodStatus(phase="Failed"))])
    assert [notice.reason for notice in result.notices] == [NoticeReason.ENDED_PODS]


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_an_ended_pod_without_a_node_waits_for_nothing(phase: str) -> None:
    pod = replace(make_pod(), status=PodStatus(phase=phase))
    assert run([make_node(), pod]).pods == 0


def test_a_deleted_pod_without_a_node_waits_for_nothing() -> None:
    tree = to_wire(make_pod(uid="a"))
    tree["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    tree["metadata"]["finalizers"] = ["example.com/wait"]
    assert run([make_node(), from_wire(tree, Pod)]).pods == 0


def test_revisions_that_differ_in_unread_fields_are_distinguished_by_number(
    tmp_path: Path,
) -> None:
    trees = dump()
    current = tree_of(trees, "ReplicaSet", "web")
    older = msgspec.json.decode(msgspec.json.encode(current))
    older["metadata"].update(name="web-older", uid="older")
    older["spec"]["replicas"] = 0
    current["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "2"
    current["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "NEW"}]
    web = tree_of(trees, "Deployment", "web")
    web["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    result = run(loaded([older, *trees], tmp_path).objects)
    assert (result.pods, result.preempted) == (0, ())


def test_an_object_that_is_read_twice_exists_once(tmp_path: Path) -> None:
    trees = dump()
    newer = msgspec.json.decode(msgspec.json.encode(tree_of(trees, "Node", "n0")))
    newer["metadata"]["resourceVersion"] = "99999"
    newer["metadata"]["labels"]["new"] = "yes"
    found = loaded([newer, *trees, *trees], tmp_path)
    assert len(found.objects) == len(trees)
    assert found.of(Node)[0].labels["new"] == "yes"
    newer["metadata"]["uid"] = "another"
    with pytest.raises(ManifestErrors, match="duplicate Node 'n0'"):
        loaded([newer, *trees], tmp_path)


def test_a_running_pod_keeps_the_priority_that_its_class_had() -> None:
    pod = make_pod(uid="a", priority=5, node="n0")
    pod = replace(pod, spec=replace(pod.spec, priority_class_name="high"))
    high = PriorityClass(metadata=ObjectMeta(name="high"), value=9)
    cluster = make_cluster(high, pod, nodes=1)
    assert cluster.get(Pod, pod.key).priority == 5


def test_two_default_priority_classes_of_a_server_are_accepted() -> None:
    classes = [
        PriorityClass(
            metadata=ObjectMeta(name=name, resource_version="1"),
            value=value,
            global_default=True,
        )
        for name, value in (("a", 3), ("b", 2))
    ]
    cluster = make_cluster()
    cluster.load(
        [*classes, Pod(metadata=ObjectMeta(name="pod"), spec=make_template().spec)]
    )
    assert cluster.get(Pod, "default/pod").priority == 2


def test_nodes_that_are_not_ready_but_have_no_taint_get_a_notice() -> None:
    down = (NodeCondition(type="Ready", status="Unknown"),)
    node = replace(make_node(), status=NodeStatus(conditions=down))
    (notice,) = run([node]).notices
    assert notice.reason is NoticeReason.NOT_READY_NODES


def test_pods_of_other_schedulers_are_counted_in_one_notice() -> None:
    pods = [
        make_pod(name=f"p{number}", scheduler_name="volcano") for number in range(3)
    ]
    (notice,) = run([make_node(), *pods]).notices
    assert str(notice) == (
        "pods wait for schedulers that no profile has the name of: volcano x3"
    )


def test_replicas_that_wait_for_their_predecessor_are_missing_pods() -> None:
    owner = workloads()[1]
    assert isinstance(owner, StatefulSet)
    big = make_container(requests={"cpu": "100"})
    spec = replace(
        owner.spec,
        replicas=5,
        template=replace(owner.spec.template, spec=PodSpec(containers=(big,))),
        volume_claim_templates=(),
    )
    result = run([make_node(), replace(owner, spec=spec)])
    assert [pod.pod for pod in result.unscheduled] == ["default/db-0"]
    (notice,) = result.notices
    assert notice.reason is NoticeReason.MISSING_PODS
    assert str(notice) == "StatefulSet default/db: 4 more wait for db-0"


def test_an_assumed_storage_class_is_reported_with_its_claims() -> None:
    (notice,) = run([make_node(), workloads()[1]]).notices
    assert notice.reason is NoticeReason.IMPLIED_STORAGE_CLASS
    assert notice.message == (
        "2 claims use an assumed StorageClass, since the input has none: "
        "default/data-db-0, default/data-db-1"
    )


def test_a_template_whose_priority_class_is_missing_has_no_pods() -> None:
    web = workloads()[0]
    assert isinstance(web, Deployment)
    spec = replace(web.spec.template.spec, priority_class_name="gone")
    broken = replace(web.spec, template=replace(web.spec.template, spec=spec))
    result = run([make_node(), replace(web, spec=broken)])
    assert result.pods == 0
    (notice,) = result.notices
    assert notice.reason is NoticeReason.MISSING_PODS
    assert str(notice).startswith("Deployment default/web: 3 pods were not created: ")
    assert "gone" in str(notice)
