"""The in-memory cluster fills in defaults before it stores objects."""

import pytest
from msgspec.structs import replace

from quaymaster import Node
from quaymaster.objects import (
    ContainerPort,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    LabelSelector,
    LabelSelectorRequirement,
    NodeStatus,
    ObjectMeta,
    PersistentVolumeClaim,
    PodSpec,
    PodTemplateSpec,
    PriorityClass,
    Probe,
    Quantity,
    ReplicationController,
    ReplicationControllerSpec,
    StorageClass,
    Toleration,
)
from quaymaster.testing import (
    make_affinity_term,
    make_persistent_volume_claim,
    make_pod,
    make_spread_constraint,
)
from tests.kit.admission import admitted, bare_container, bare_pod, problems_of
from tests.kit.clusters import make_cluster


def amounts(**texts: str) -> dict[str, Quantity]:
    return {name.replace("_", "-"): Quantity(text) for name, text in texts.items()}


# Pods: defaults


def test_pod_gets_the_defaults_of_every_pod() -> None:
    pod = admitted(bare_pod())
    spec = pod.spec
    assert pod.namespace == "default"
    assert pod.status.phase == "Pending"
    assert spec.scheduler_name == "default-scheduler"
    assert spec.restart_policy == "Always"
    assert spec.termination_grace_period_seconds == 30
    assert (spec.priority, spec.preemption_policy) == (0, "PreemptLowerPriority")


def test_pod_keeps_its_own_values() -> None:
    spec = PodSpec(
        scheduler_name="mine",
        restart_policy="Never",
        termination_grace_period_seconds=0,
        priority=7,
        preemption_policy="Never",
    )
    kept = admitted(bare_pod(spec)).spec
    assert kept.scheduler_name == "mine"
    assert kept.restart_policy == "Never"
    assert kept.termination_grace_period_seconds == 0
    assert (kept.priority, kept.preemption_policy) == (7, "Never")


def test_lost_nodes_are_tolerated_for_five_minutes() -> None:
    tolerations = admitted(bare_pod()).spec.tolerations
    assert [(t.key, t.effect, t.toleration_seconds) for t in tolerations] == [
        ("node.kubernetes.io/not-ready", "NoExecute", 300),
        ("node.kubernetes.io/unreachable", "NoExecute", 300),
    ]


@pytest.mark.parametrize(
    ("own", "added"),
    [
        pytest.param(Toleration(operator="Exists"), 0, id="tolerates everything"),
        pytest.param(
            Toleration(key="node.kubernetes.io/not-ready", operator="Exists"),
            1,
            id="tolerates one of them",
        ),
        pytest.param(
            Toleration(
                key="node.kubernetes.io/not-ready",
                operator="Exists",
                effect="NoSchedule",
            ),
            2,
            id="tolerates another effect",
        ),
    ],
)
def test_own_tolerations_of_lost_nodes_come_first(own: Toleration, added: int) -> None:
    tolerations = admitted(bare_pod(PodSpec(tolerations=(own,)))).spec.tolerations
    assert tolerations[0] == own
    assert len(tolerations) == 1 + added


def test_limits_are_requests_where_none_are_given() -> None:
    container = bare_container(
        requests=amounts(cpu="1"), limits=amounts(cpu="2", memory="1Gi")
    )
    spec = PodSpec(init_containers=(replace(container, name="init"),))
    spec = admitted(bare_pod(spec, container)).spec
    for each in (*spec.containers, *spec.init_containers):
        assert each.resources.requests == amounts(cpu="1", memory="1Gi")


def test_amounts_are_rounded_up_to_thousandths() -> None:
    container = bare_container(requests=amounts(cpu="100500u"))
    (rounded,) = admitted(bare_pod(None, container)).spec.containers
    assert str(rounded.resources.requests["cpu"]) == "101m"


def test_ports_are_tcp_and_on_the_host_network_the_hosts() -> None:
    container = bare_container(ports=[ContainerPort(container_port=80)])
    (inside,) = admitted(bare_pod(None, container)).spec.containers
    assert inside.ports == (ContainerPort(container_port=80, protocol="TCP"),)
    on_host = PodSpec(host_network=True)
    (outside,) = admitted(bare_pod(on_host, container)).spec.containers
    assert outside.ports[0].host_port == 80


def test_probes_get_the_period_and_thresholds_of_an_api_server() -> None:
    container = replace(
        bare_container(),
        readiness_probe=Probe(initial_delay_seconds=7, failure_threshold=5),
        startup_probe=Probe(period_seconds=2),
    )
    stored = admitted(bare_pod(None, container)).spec.containers[0]
    assert stored.readiness_probe == Probe(
        initial_delay_seconds=7,
        period_seconds=10,
        success_threshold=1,
        failure_threshold=5,
    )
    assert stored.startup_probe == Probe(
        period_seconds=2, success_threshold=1, failure_threshold=3
    )


def test_device_may_be_requested_without_a_limit() -> None:
    gpus = {"nvidia.com/gpu": "1"}
    (container,) = admitted(make_pod(requests=gpus)).spec.containers
    assert container.resources.requests["nvidia.com/gpu"] == Quantity(1)


def test_cluster_wide_objects_have_no_namespace() -> None:
    metadata = ObjectMeta(name="n", namespace="default")
    cluster = make_cluster()
    assert cluster.create(Node(metadata=metadata)).namespace == ""


def test_gated_pod_gets_the_condition_scheduling_gated() -> None:
    pod = admitted(make_pod(scheduling_gates=["wait"]))
    (condition,) = pod.status.conditions
    assert (condition.type, condition.status) == ("PodScheduled", "False")
    assert condition.reason == "SchedulingGated"


def test_equal_specs_become_one() -> None:
    cluster = make_cluster()
    first = cluster.create(make_pod(name="a", requests={"cpu": "1"}))
    second = cluster.create(make_pod(name="b", requests={"cpu": "1"}))
    assert first.spec is second.spec


def test_admitting_an_admitted_pod_changes_nothing() -> None:
    pod = admitted(bare_pod(PodSpec(), bare_container(limits=amounts(cpu="1"))))
    assert admitted(pod).spec == pod.spec


# Pods: label keys


def test_match_label_keys_narrow_the_spreading() -> None:
    constraint = make_spread_constraint(
        selector={"app": "a"}, match_label_keys=["version", "absent"]
    )
    pod = admitted(make_pod(labels={"app": "a", "version": "2"}, spread=[constraint]))
    selector = pod.spec.topology_spread_constraints[0].label_selector
    assert selector == LabelSelector(
        match_labels={"app": "a"},
        match_expressions=(
            LabelSelectorRequirement(key="version", operator="In", values=("2",)),
        ),
    )


def test_label_keys_narrow_affinity_terms_both_ways() -> None:
    term = replace(
        make_affinity_term(selector={}),
        match_label_keys=("version",),
        mismatch_label_keys=("tenant",),
    )
    pod = admitted(
        make_pod(
            labels={"version": "2", "tenant": "t"},
            pod_affinity=[term],
            preferred_pod_anti_affinity=[(1, term)],
        )
    )
    affinity = pod.spec.affinity
    assert affinity is not None
    assert affinity.pod_affinity is not None
    assert affinity.pod_anti_affinity is not None
    near = affinity.pod_affinity
    away = affinity.pod_anti_affinity
    weighted = away.preferred_during_scheduling_ignored_during_execution[0]
    for narrowed in (
        near.required_during_scheduling_ignored_during_execution[0],
        weighted.pod_affinity_term,
    ):
        assert narrowed.label_selector is not None
        assert [
            (c.key, c.operator, c.values)
            for c in narrowed.label_selector.match_expressions
        ] == [("version", "In", ("2",)), ("tenant", "NotIn", ("t",))]


def test_pods_with_the_same_label_values_share_the_narrowed_spec() -> None:
    constraint = make_spread_constraint(selector={}, match_label_keys=["version"])
    cluster = make_cluster()
    first, second, third = (
        cluster.create(
            make_pod(name=name, labels={"version": version}, spread=[constraint])
        )
        for name, version in (("a", "1"), ("b", "1"), ("c", "2"))
    )
    assert first.spec is second.spec
    assert first.spec != third.spec


def test_narrowed_selectors_are_not_narrowed_twice() -> None:
    constraint = make_spread_constraint(selector={}, match_label_keys=["version"])
    pod = admitted(make_pod(labels={"version": "1"}, spread=[constraint]))
    assert admitted(pod).spec == pod.spec


# Pods: priority


def priority_class(
    name: str, value: int, *, default: bool = False, policy: str | None = None
) -> PriorityClass:
    return PriorityClass(
        metadata=ObjectMeta(name=name),
        value=value,
        global_default=default,
        preemption_policy=policy,
    )


def test_pod_gets_the_priority_of_its_class() -> None:
    high = priority_class("high", 1000, policy="Never")
    spec = admitted(bare_pod(PodSpec(priority_class_name="high")), high).spec
    assert (spec.priority, spec.preemption_policy) == (1000, "Never")


def test_pod_without_a_class_gets_the_default_class() -> None:
    classes = [priority_class("usual", 5, default=True), priority_class("high", 10)]
    spec = admitted(bare_pod(), *classes).spec
    assert (spec.priority_class_name, spec.priority) == ("usual", 5)


@pytest.mark.parametrize(
    ("name", "value"),
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2000001000)],
)
def test_system_classes_are_always_there(name: str, value: int) -> None:
    assert admitted(bare_pod(PodSpec(priority_class_name=name))).spec.priority == value


def test_class_that_comes_later_counts_for_later_pods() -> None:
    cluster = make_cluster()
    before = cluster.create(bare_pod())
    cluster.create(priority_class("usual", 5, default=True))
    after = cluster.create(replace(bare_pod(), metadata=ObjectMeta(name="b")))
    assert (before.spec.priority, after.spec.priority) == (0, 5)


def test_unknown_class_is_refused() -> None:
    pod = bare_pod(PodSpec(priority_class_name="high"))
    assert problems_of(pod) == [
        "spec.priorityClassName: no PriorityClass with name high was found"
    ]


def test_pod_from_another_cluster_may_have_a_class_that_is_not_there() -> None:
    spec = PodSpec(priority_class_name="high", priority=1000)
    assert admitted(bare_pod(spec)).spec.priority == 1000


def test_priority_other_than_that_of_the_class_is_refused() -> None:
    pod = bare_pod(PodSpec(priority_class_name="high", priority=1))
    assert problems_of(priority_class("high", 1000), pod) == [
        "spec.priority: expected 1000, the value of its class high, got 1"
    ]


def test_preemption_policy_other_than_that_of_the_class_is_refused() -> None:
    spec = PodSpec(priority_class_name="high", preemption_policy="Never")
    (problem,) = problems_of(priority_class("high", 1000), bare_pod(spec))
    assert problem == (
        "spec.preemptionPolicy: expected PreemptLowerPriority, as its class high says, "
        "got 'Never'"
    )


def test_two_default_classes_are_refused() -> None:
    classes = [priority_class(name, 1, default=True) for name in "ab"]
    assert "globalDefault: expected one class with it" in problems_of(*classes)[0]


def test_priorities_of_the_system_are_refused() -> None:
    assert "at most 1000000000" in problems_of(priority_class("mine", 2_000_000_000))[0]


# Nodes


def test_allocatable_defaults_to_capacity() -> None:
    capacity = amounts(cpu="4")
    node = Node(metadata=ObjectMeta(name="n"), status=NodeStatus(capacity=capacity))
    assert make_cluster().create(node).status.allocatable == capacity


def test_node_gets_the_labels_of_its_kubelet() -> None:
    metadata = ObjectMeta(name="n", labels={"kubernetes.io/os": "windows"})
    node = make_cluster().create(Node(metadata=metadata))
    assert node.labels == {
        "kubernetes.io/hostname": "n",
        "kubernetes.io/os": "windows",
        "kubernetes.io/arch": "amd64",
    }


def test_node_without_a_name_yet_gets_no_host_name() -> None:
    metadata = ObjectMeta(generate_name="n-")
    node = make_cluster().create(Node(metadata=metadata))
    assert "kubernetes.io/hostname" not in node.labels
    assert node.labels["kubernetes.io/os"] == "linux"


def test_without_kubelets_a_node_keeps_its_labels() -> None:
    cluster = make_cluster(kubelet=False)
    assert cluster.create(Node(metadata=ObjectMeta(name="n"))).labels == {}


# Workloads and claims


def template(
    labels: dict[str, str] | None = None, restart_policy: str = ""
) -> PodTemplateSpec:
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=labels or {"app": "a"}),
        spec=PodSpec(
            containers=(bare_container(),),
            restart_policy=restart_policy,
        ),
    )


SELECTOR = LabelSelector(match_labels={"app": "a"})
ONCE = template(restart_policy="Never")


def test_workloads_have_one_replica_by_default() -> None:
    cluster = make_cluster(controllers=False)
    metadata = ObjectMeta(name="w")
    deployment = cluster.create(
        Deployment(
            metadata=metadata,
            spec=DeploymentSpec(selector=SELECTOR, template=template()),
        )
    )
    rc = cluster.create(
        ReplicationController(
            metadata=metadata, spec=ReplicationControllerSpec(template=template())
        )
    )
    job = cluster.create(Job(metadata=metadata, spec=JobSpec(template=ONCE)))
    assert deployment.spec.replicas == 1
    assert (rc.spec.replicas, rc.spec.selector) == (1, {"app": "a"})
    assert (job.spec.completions, job.spec.parallelism) == (1, 1)
    assert (job.spec.completion_mode, job.spec.suspend) == ("NonIndexed", False)
    assert (job.spec.backoff_limit, job.labels) == (6, {"app": "a"})


def test_negative_grace_period_stays_in_a_template_and_becomes_1_in_a_pod() -> None:
    cluster = make_cluster(controllers=False)
    spec = PodSpec(containers=(bare_container(),), termination_grace_period_seconds=-5)
    pods = PodTemplateSpec(metadata=ObjectMeta(labels={"app": "a"}), spec=spec)
    deployment = cluster.create(
        Deployment(
            metadata=ObjectMeta(name="w"),
            spec=DeploymentSpec(selector=SELECTOR, template=pods),
        )
    )
    stored = deployment.spec.template.spec
    assert stored.termination_grace_period_seconds == -5
    assert admitted(bare_pod(stored)).spec.termination_grace_period_seconds == 1


def test_parallel_job_without_completions_stays_so() -> None:
    cluster = make_cluster(controllers=False)
    spec = JobSpec(parallelism=3, template=ONCE)
    job = cluster.create(Job(metadata=ObjectMeta(name="w"), spec=spec))
    assert job.spec.completions is None


def storage_class(name: str, *, default: bool) -> StorageClass:
    key = "storageclass.kubernetes.io/is-default-class"
    annotations = {key: "true"} if default else {}
    metadata = ObjectMeta(name=name, annotations=annotations)
    return StorageClass(metadata=metadata, provisioner="disks.example.com")


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        pytest.param(None, "fast", id="the default class"),
        pytest.param("slow", "slow", id="its own class"),
        pytest.param("", "", id="no class, on purpose"),
    ],
)
def test_claim_gets(named: str | None, expected: str) -> None:
    cluster = make_cluster(controllers=False)
    cluster.load(
        [
            make_persistent_volume_claim(name="data", storage_class=named),
            storage_class("slow", default=False),
            storage_class("fast", default=True),
        ]
    )
    (claim,) = cluster.list(PersistentVolumeClaim).items
    assert claim.spec.storage_class_name == expected
    assert claim.status.phase == "Pending"
