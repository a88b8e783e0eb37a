"""The in-memory cluster rejects invalid objects with upstream's messages."""

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, AdmissionError, find_stray_pods
from quaymaster.objects import (
    ContainerPort,
    DaemonSet,
    DaemonSetSpec,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    PodSpec,
    PodTemplateSpec,
    ReplicationController,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetSpec,
    Taint,
    Toleration,
)
from quaymaster.testing import (
    make_affinity_term,
    make_container,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_spread_constraint,
)
from tests.kit.admission import admitted, bare_container, problems_of
from tests.kit.clusters import make_cluster

LIKE = NodeSelectorTerm(
    match_expressions=(NodeSelectorRequirement(key="a", operator="Like"),)
)


@pytest.mark.parametrize(
    ("pod", "problem"),
    [
        pytest.param(
            make_pod(containers=[]),
            "spec.containers: expected at least one container, got none",
            id="no container",
        ),
        pytest.param(
            make_pod(containers=[make_container(), make_container()]),
            "spec.containers[1].name: expected a name of its own, got 'main' again",
            id="two containers of one name",
        ),
        pytest.param(
            make_pod(init_containers=[make_container()]),
            "spec.initContainers[0].name: expected a name of its own, got 'main' again",
            id="an init container of the same name",
        ),
        pytest.param(
            make_pod(requests={"cpu": "-1"}),
            "spec.containers[0].resources.requests[cpu]: expected an amount of at "
            "least 0, got '-1'",
            id="a negative request",
        ),
        pytest.param(
            make_pod(requests={"cpu": "2"}, limits={"cpu": "1"}),
            "spec.containers[0].resources.requests: expected at most the limit of 1 "
            "cpu, got '2'",
            id="a request above the limit",
        ),
        pytest.param(
            make_pod(requests={"nvidia.com/gpu": "1"}, limits={"nvidia.com/gpu": "2"}),
            "spec.containers[0].resources.requests: expected the limit of 2 "
            "nvidia.com/gpu, got '1'",
            id="an overcommitted device",
        ),
        pytest.param(
            make_pod(requests={"cpus": "1"}),
            "spec.containers[0].resources.requests[cpus]: expected cpu, memory, "
            "ephemeral-storage, hugepages-SIZE or a resource such as nvidia.com/gpu, "
            "got 'cpus'",
            id="a misspelt resource",
        ),
        pytest.param(
            make_pod(requests={"cpu": "2"}, pod_requests={"cpu": "1"}),
            "spec.resources.requests[cpu]: expected at least 2, what the containers "
            "request together, got '1'",
            id="a pod that requests less than its containers",
        ),
        pytest.param(
            make_pod(limits={"cpu": "2"}, pod_limits={"cpu": "1"}),
            "spec.resources.containers[0][cpu].limits: expected at most 1, the limit "
            "of the pod, got '2'",
            id="a container that may use more than its pod",
        ),
        pytest.param(
            make_pod(pod_requests={"nvidia.com/gpu": "1"}),
            "spec.resources.requests[nvidia.com/gpu]: expected cpu, memory or "
            "hugepages-SIZE, got 'nvidia.com/gpu'",
            id="a device for the pod as a whole",
        ),
        pytest.param(
            make_pod(requests={"nvidia.com/gpu": "1500m"}, limits=None),
            "spec.containers[0].resources.requests[nvidia.com/gpu]: expected a whole "
            "number, got '1500m'",
            id="a part of a device",
        ),
        pytest.param(
            make_pod(tolerations=[Toleration(key="a", operator="Near", value="1")]),
            "spec.tolerations[0].operator: expected Equal or Exists, got 'Near'",
            id="an unknown toleration operator",
        ),
        pytest.param(
            make_pod(tolerations=[Toleration(value="1")]),
            "spec.tolerations[0].operator: expected Exists, since there is no key, "
            "got ''",
            id="a toleration without a key",
        ),
        pytest.param(
            make_pod(tolerations=[Toleration(key="a", effect="Never")]),
            "spec.tolerations[0].effect: expected NoSchedule or PreferNoSchedule or "
            "NoExecute, got 'Never'",
            id="an unknown effect",
        ),
        pytest.param(
            make_pod(tolerations=[Toleration(key="a", toleration_seconds=1)]),
            "spec.tolerations[0].effect: expected NoExecute, since there are "
            "tolerationSeconds, got ''",
            id="seconds without NoExecute",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint(selector={}, max_skew=0)]),
            "spec.topologySpreadConstraints[0].maxSkew: expected a number of at least "
            "1, got 0",
            id="no skew",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint(selector={})] * 2),
            "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: "
            "expected a topologyKey and whenUnsatisfiable of its own, got "
            "'topology.kubernetes.io/zone, DoNotSchedule' again",
            id="the same constraint twice",
        ),
        pytest.param(
            make_pod(
                spread=[
                    make_spread_constraint(
                        selector={},
                        when_unsatisfiable="ScheduleAnyway",
                        min_domains=2,
                    )
                ]
            ),
            "spec.topologySpreadConstraints[0].minDomains: expected only with "
            "whenUnsatisfiable DoNotSchedule",
            id="domains of a soft constraint",
        ),
        pytest.param(
            make_pod(pod_affinity=[make_affinity_term(selector={}, topology_key="")]),
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            "[0].topologyKey: expected a node label, got none",
            id="no topology key",
        ),
        pytest.param(
            make_pod(
                preferred_node_affinity=[
                    (
                        101,
                        NodeSelectorTerm(
                            match_expressions=(
                                NodeSelectorRequirement(key="a", operator="Exists"),
                            )
                        ),
                    )
                ]
            ),
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
            "[0].weight: expected a number from 1 to 100, got 101",
            id="too much weight",
        ),
        pytest.param(
            make_pod(node_affinity=NodeSelector()),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms: expected at least one term, got none",
            id="no terms for nodes",
        ),
        pytest.param(
            make_pod(node_affinity=NodeSelector(node_selector_terms=(LIKE,))),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms[0].matchExpressions[0].operator: expected In or NotIn "
            "or Exists or DoesNotExist or Gt or Lt, got 'Like'",
            id="an unknown operator for nodes",
        ),
        pytest.param(
            make_pod(preferred_node_affinity=[(1, LIKE)]),
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
            "[0].preference.matchExpressions[0].operator: expected In or NotIn or "
            "Exists or DoesNotExist or Gt or Lt, got 'Like'",
            id="an unknown operator for preferred nodes",
        ),
        pytest.param(
            make_pod(
                pod_affinity=[
                    replace(make_affinity_term(selector=None), match_label_keys=("a",))
                ]
            ),
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            "[0].matchLabelKeys: expected a labelSelector beside label keys",
            id="label keys of a term without a selector",
        ),
        pytest.param(
            make_pod(
                spread=[make_spread_constraint(selector=None, match_label_keys=["a"])]
            ),
            "spec.topologySpreadConstraints[0].matchLabelKeys: expected a "
            "labelSelector beside label keys",
            id="label keys of a constraint without a selector",
        ),
        pytest.param(
            make_pod(
                spread=[
                    make_spread_constraint(
                        selector={}, topology_key="", node_taints_policy="Obey"
                    )
                ]
            ),
            "spec.topologySpreadConstraints[0].nodeTaintsPolicy: expected Honor or "
            "Ignore, got 'Obey'",
            id="an unknown policy",
        ),
        pytest.param(
            make_pod(
                spread=[make_spread_constraint(selector={}, when_unsatisfiable="Never")]
            ),
            "spec.topologySpreadConstraints[0].whenUnsatisfiable: expected "
            "DoNotSchedule or ScheduleAnyway, got 'Never'",
            id="an unknown strictness",
        ),
        pytest.param(
            make_pod(tolerations=[Toleration(key="a", operator="Exists", value="1")]),
            "spec.tolerations[0].operator: expected no value beside Exists, got '1'",
            id="a value beside Exists",
        ),
        pytest.param(
            make_pod(preemption_policy="Sometimes"),
            "spec.preemptionPolicy: expected PreemptLowerPriority or Never, got "
            "'Sometimes'",
            id="an unknown preemption policy",
        ),
        pytest.param(
            make_pod(host_ports=[99999]),
            "spec.containers[0].ports[0].hostPort: expected a port from 1 to 65535, "
            "got 99999",
            id="an impossible port",
        ),
        pytest.param(
            make_pod(
                host_network=True,
                host_ports=[ContainerPort(container_port=80, host_port=81)],
            ),
            "spec.containers[0].ports[0].hostPort: expected the container's port 80 "
            "(hostNetwork is on), got 81",
            id="another port on the host network",
        ),
        pytest.param(
            make_pod(name="a/b"),
            "metadata.name: expected at most 253 lower-case letters, digits, '-' and "
            "'.', with a letter or digit at either end of each part, got 'a/b'",
            id="a path as a name",
        ),
        pytest.param(
            make_pod(host_ports=["80/TCP", "80/TCP"]),
            "spec.containers[0].ports[1].hostPort: expected a host port of its own, "
            "got 'TCP//80' again",
            id="a host port twice",
        ),
        pytest.param(
            make_pod(scheduling_gates=["a", "a"]),
            "spec.schedulingGates[1]: expected a name of its own, got 'a' again",
            id="a gate twice",
        ),
        pytest.param(
            make_pod(node="n", scheduling_gates=["a"]),
            "spec.nodeName: expected none beside schedulingGates",
            id="a gated pod on a node",
        ),
        pytest.param(
            make_pod(annotations={RUN_SECONDS_ANNOTATION: "soon"}),
            f"metadata.annotations[{RUN_SECONDS_ANNOTATION}]: expected seconds or a "
            "duration such as 90, 90s or 1h30m, got 'soon'",
            id="no time to run",
        ),
        pytest.param(
            make_pod(name=""),
            "metadata.name: expected a name, got none",
            id="no name",
        ),
    ],
)
def test_pod_is_refused_with(pod: Pod, problem: str) -> None:
    assert problem in problems_of(pod)


def test_unknown_selector_operators_are_refused_with_their_place() -> None:
    selector = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="a", operator="Like"),)
    )
    (problem,) = problems_of(
        make_pod(pod_anti_affinity=[make_affinity_term(selector=selector)])
    )
    assert problem.startswith(
        "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        "[0].labelSelector.matchExpressions[0].operator: expected In or NotIn or "
    )


def test_problem_names_the_object() -> None:
    with pytest.raises(AdmissionError, match=r"^Pod shop/web: spec\.containers: "):
        make_cluster().create(make_pod(name="web", namespace="shop", containers=[]))


def test_pods_bound_to_missing_nodes_are_found() -> None:
    objects = [
        make_node(name="n"),
        make_pod(name="right", node="n"),
        make_pod(name="unbound"),
        make_pod(name="lost", node="gone"),
        make_pod(name="too", node="gone"),
    ]
    assert [str(problem) for problem in find_stray_pods(objects)] == [
        f"Pod default/{name}: spec.nodeName: expected a node that exists, got 'gone'"
        for name in ("lost", "too")
    ]


def test_cluster_itself_accepts_pods_of_missing_nodes() -> None:
    assert admitted(make_pod(node="gone")).node_name == "gone"


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        pytest.param(
            make_node(taints=[Taint(key="a", effect="Never")]),
            "metadata.taints[0].effect: expected NoSchedule or PreferNoSchedule or "
            "NoExecute, got 'Never'",
            id="an unknown effect",
        ),
        pytest.param(
            make_node(taints=["a=1:NoSchedule", "a=2:NoSchedule"]),
            "metadata.taints[1]: expected a key and effect of its own, got "
            "'a:NoSchedule' again",
            id="a taint twice",
        ),
        pytest.param(
            make_node(capacity={"cpu": "-4"}),
            "status.capacity.cpu: expected an amount of at least 0, got '-4'",
            id="a negative capacity",
        ),
    ],
)
def test_node_is_refused_with(node: Node, problem: str) -> None:
    assert problem in problems_of(node)


def template(labels: dict[str, str] | None = None) -> PodTemplateSpec:
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=labels or {"app": "a"}),
        spec=PodSpec(containers=(bare_container(),)),
    )


SELECTOR = LabelSelector(match_labels={"app": "a"})


@pytest.mark.parametrize(
    ("workload", "problem"),
    [
        pytest.param(
            Deployment(
                metadata=ObjectMeta(name="w"),
                spec=DeploymentSpec(selector=SELECTOR, template=template({"b": "c"})),
            ),
            "spec.template.metadata.labels: expected labels that spec.selector "
            "selects, got {'b': 'c'}",
            id="a selector of other pods",
        ),
        pytest.param(
            Deployment(
                metadata=ObjectMeta(name="w"), spec=DeploymentSpec(template=template())
            ),
            "spec.selector: expected a selector of the template's labels",
            id="no selector",
        ),
        pytest.param(
            Deployment(
                metadata=ObjectMeta(name="w"),
                spec=DeploymentSpec(
                    selector=SELECTOR, template=template(), replicas=-1
                ),
            ),
            "spec.replicas: expected a number of at least 0, got -1",
            id="a negative number of pods",
        ),
        pytest.param(
            DaemonSet(
                metadata=ObjectMeta(name="w"),
                spec=DaemonSetSpec(
                    selector=SELECTOR,
                    template=replace(template(), spec=PodSpec()),
                ),
            ),
            "spec.template.spec.containers: expected at least one container, got none",
            id="a template that is wrong",
        ),
        pytest.param(
            Job(
                metadata=ObjectMeta(name="w"),
                spec=JobSpec(completion_mode="Indexed", parallelism=1),
            ),
            "spec.completions: expected a number, since it is Indexed",
            id="an indexed job without an end",
        ),
        pytest.param(
            ReplicationController(metadata=ObjectMeta(name="w")),
            "spec.template: expected a pod template, got none",
            id="no template",
        ),
        pytest.param(
            StatefulSet(metadata=ObjectMeta(name="w")),
            "spec.selector: expected a selector of the template's labels",
            id="an empty StatefulSet",
        ),
        pytest.param(
            DaemonSet(
                metadata=ObjectMeta(name="w"),
                spec=DaemonSetSpec(
                    selector=SELECTOR,
                    template=replace(
                        template(),
                        metadata=ObjectMeta(
                            labels={"app": "a"},
                            annotations={RUN_SECONDS_ANNOTATION: "-"},
                        ),
                    ),
                ),
            ),
            f"spec.template.annotations[{RUN_SECONDS_ANNOTATION}]: expected "
            "seconds or a duration such as 90, 90s or 1h30m, got '-'",
            id="a template without a time to run",
        ),
        pytest.param(
            StatefulSet(
                metadata=ObjectMeta(name="w"),
                spec=StatefulSetSpec(
                    selector=SELECTOR,
                    template=template(),
                    ordinals=StatefulSetOrdinals(start=-1),
                ),
            ),
            "spec.ordinals.start: expected a number of at least 0, got -1",
            id="a negative first number",
        ),
        pytest.param(
            Deployment(
                metadata=ObjectMeta(name="w"),
                spec=DeploymentSpec(
                    template=template(),
                    selector=LabelSelector(
                        match_expressions=(
                            LabelSelectorRequirement(key="a", operator="Like"),
                        )
                    ),
                ),
            ),
            "spec.selector.matchExpressions[0].operator: expected In or NotIn or "
            "Exists or DoesNotExist, got 'Like'",
            id="an unknown selector operator",
        ),
        pytest.param(
            make_pod_disruption_budget(selector={}, min_available=1, max_unavailable=1),
            "spec: expected minAvailable or maxUnavailable, got both",
            id="two limits",
        ),
        pytest.param(
            make_pod_disruption_budget(
                selector={}, min_available="130%", max_unavailable=None
            ),
            "spec.minAvailable: expected a number or a percentage such as 30%, got "
            "'130%'",
            id="more than all pods",
        ),
    ],
)
def test_object_is_refused_with(workload: ApiObject, problem: str) -> None:
    assert problem in problems_of(workload)
