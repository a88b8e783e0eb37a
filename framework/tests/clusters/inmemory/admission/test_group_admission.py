"""The cluster completes and checks groups, workloads and the pods in groups.

Cases follow upstream's ``pkg/registry/scheduling`` and
``plugin/pkg/admission/priority`` (Kubernetes v1.37); ``tests/groups`` has the answers
of a real API server.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.config import Kubernetes
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import (
    CompositePodGroup,
    Condition,
    GangSchedulingPolicy,
    Job,
    PodGroup,
    PodGroupSchedulingPolicy,
    Time,
    Workload,
    from_wire,
)
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import (
    make_composite_pod_group,
    make_pod,
    make_pod_group,
    make_priority_class,
    make_workload,
)
from tests.kit.internals.groups import kubernetes_with_groups

PROTECTION = "scheduling.k8s.io/podgroup-protection"
TREES = kubernetes_with_groups(
    TopologyAwareWorkloadScheduling=True, CompositePodGroup=True
)


def cluster_with(kubernetes: Kubernetes | None = None) -> InMemoryCluster:
    kubernetes = kubernetes or kubernetes_with_groups()
    cluster = InMemoryCluster(VirtualClock(), kubernetes=kubernetes, controllers=False)
    cluster.create(make_priority_class(name="high", value=1000))
    return cluster


def group_of(spec: dict[str, Any]) -> PodGroup:
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    tree = {"metadata": {"name": "g"}, "spec": {**policy, **spec}}
    return from_wire(tree, PodGroup)


def problem_of(cluster: InMemoryCluster, obj: ApiObject) -> str:
    with pytest.raises(AdmissionError) as caught:
        cluster.create(obj)
    (problem,) = caught.value.problems
    return f"{problem.path}: {problem.message}"


def test_new_group_is_protected_single_and_of_priority_0() -> None:
    stored = cluster_with().create(group_of({}))
    assert stored.metadata.finalizers == (PROTECTION,)
    assert stored.spec.disruption_mode is not None
    assert stored.spec.disruption_mode.single is not None
    assert stored.spec.priority == 0


def test_group_takes_the_priority_of_its_class() -> None:
    stored = cluster_with().create(group_of({"priorityClassName": "high"}))
    assert stored.priority == 1000


def test_group_without_a_class_takes_the_default_class() -> None:
    cluster = cluster_with()
    default = make_priority_class(name="usual", value=7, global_default=True)
    cluster.create(default)
    stored = cluster.create(group_of({}))
    assert (stored.spec.priority_class_name, stored.priority) == ("usual", 7)


def test_priority_of_a_new_group_must_be_that_of_its_class() -> None:
    text = problem_of(cluster_with(), group_of({"priority": 7}))
    assert text == (
        ": forbidden: priority set in the pod group (7) must match the priority "
        "computed (0) based on the priority class set in the spec"
    )


def test_stored_group_keeps_its_priority_and_status() -> None:
    condition = Condition(type="PodGroupInitiallyScheduled", status="True")
    group = make_pod_group(priority=7, conditions=(condition,), creation_timestamp=1.0)
    stored = cluster_with().create(group)
    assert (stored.priority, stored.status.conditions) == (7, (condition,))


def test_status_of_a_new_group_is_dropped() -> None:
    condition = Condition(type="PodGroupInitiallyScheduled", status="True")
    stored = cluster_with().create(make_pod_group(conditions=(condition,)))
    assert stored.status.conditions == ()


def test_fields_of_disabled_gates_are_dropped() -> None:
    spec = {
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
        "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
        "preemptionPolicy": "Never",
    }
    stored = cluster_with().create(group_of(spec)).spec
    assert stored.scheduling_constraints is None
    assert stored.resource_claims == ()
    assert stored.preemption_policy is None


def test_own_preemption_policy_must_be_that_of_the_class() -> None:
    cluster = cluster_with(kubernetes_with_groups(PodGroupPreemptionPolicy=True))
    assert cluster.create(group_of({})).spec.preemption_policy == "PreemptLowerPriority"
    group = replace(group_of({"preemptionPolicy": "Never"}))
    text = problem_of(cluster, group)
    assert "the string value of PreemptionPolicy (Never) must not be provided" in text


def test_only_the_count_of_a_gang_can_change() -> None:
    cluster = cluster_with()
    group = cluster.create(group_of({}))
    gang = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=5))
    spec = replace(group.spec, scheduling_policy=gang)
    changed = cluster.update(replace(group, spec=spec))
    assert changed.min_count == 5
    with pytest.raises(AdmissionError, match=r"spec\.priority: .* immutable"):
        cluster.update(replace(changed, spec=replace(spec, priority=3)))


def test_conditions_of_groups_are_checked() -> None:
    cluster = cluster_with()
    group = cluster.create(group_of({}))
    condition = Condition(type="A", status="True", reason="Why")
    with pytest.raises(AdmissionError, match="lastTransitionTime: Required value"):
        cluster.patch_status(group, {"conditions": (condition,)})
    condition = replace(condition, last_transition_time=Time(1))
    changed = cluster.patch_status(group, {"conditions": (condition,)})
    assert changed.status.conditions == (condition,)


def test_child_of_a_composite_names_its_workload() -> None:
    group = group_of({"parentCompositePodGroupName": "root"})
    text = "must be set when parentCompositePodGroupName is set"
    assert problem_of(cluster_with(TREES), group) == (
        f"spec.workloadRef: Required value: {text}"
    )


def test_composite_gets_a_priority_and_no_finalizer() -> None:
    stored = cluster_with(TREES).create(make_composite_pod_group(min_group_count=2))
    assert isinstance(stored, CompositePodGroup)
    assert (stored.priority, stored.metadata.finalizers) == (0, ())


def test_all_templates_of_a_workload_have_one_priority() -> None:
    workload = make_workload(groups={"a": 1, "b": 1})
    first, second = workload.spec.pod_group_templates
    second = replace(second, priority_class_name="high")
    spec = replace(workload.spec, pod_group_templates=(first, second))
    assert problem_of(cluster_with(), replace(workload, spec=spec)) == (
        "spec: Invalid value: null: detected multiple priority configurations"
    )


def nested(depth: int) -> dict[str, Any]:
    policy: dict[str, Any] = {"schedulingPolicy": {"basic": {}}}
    if depth == 0:
        return {"podGroupTemplates": [{"name": "leaf", **policy}]}
    name = f"level-{depth}"
    composite = {"name": name, **policy, **nested(depth - 1)}
    return {"compositePodGroupTemplates": [composite]}


def workload_of(spec: dict[str, Any]) -> Workload:
    return from_wire({"metadata": {"name": "w"}, "spec": spec}, Workload)


def test_templates_are_at_most_four_levels_deep() -> None:
    cluster = cluster_with(TREES)
    text = problem_of(cluster, workload_of(nested(4)))
    assert text.startswith(
        'spec.compositePodGroupTemplates[0]: Invalid value: [{"Name":"level-3",'
        '"SchedulingPolicy":{"Basic":{},"Gang":null},"SchedulingConstraints":null,'
    )
    assert text.endswith("]: maximum template hierarchy depth is 4")
    cluster.create(workload_of(nested(3)))


def test_names_of_templates_are_unique_in_the_whole_tree() -> None:
    spec = nested(2)
    inner = spec["compositePodGroupTemplates"][0]["compositePodGroupTemplates"][0]
    inner["podGroupTemplates"][0]["name"] = "level-2"
    path = "spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]"
    assert problem_of(cluster_with(TREES), workload_of(spec)) == (
        f'{path}.podGroupTemplates[0].name: Duplicate value: "level-2"'
    )


def test_pod_keeps_its_group_only_with_the_gate() -> None:
    pod = make_pod(scheduling_group="a")
    assert cluster_with().create(pod).group_key == "default/a"
    assert cluster_with(Kubernetes()).create(pod).group_key == ""


def test_pod_stays_in_its_group() -> None:
    cluster = cluster_with()
    pod = cluster.create(make_pod(scheduling_group="a"))
    other = make_pod(scheduling_group="b").spec
    with pytest.raises(AdmissionError, match="spec: Forbidden: pod updates may not"):
        cluster.update(replace(pod, spec=other))


def test_pod_names_its_group_in_full() -> None:
    text = problem_of(cluster_with(), make_pod(scheduling_group="Bad_Name"))
    assert text.startswith(
        'spec.schedulingGroup.podGroupName: Invalid value: "Bad_Name": a lowercase'
    )


def job_of(scheduling: dict[str, Any]) -> Job:
    container = {"name": "c", "image": "i"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"parallelism": 3, "template": template, "scheduling": scheduling}
    return from_wire({"metadata": {"name": "j"}, "spec": spec}, Job)


def test_gang_of_a_job_has_at_most_as_many_pods_as_run_at_once() -> None:
    cluster = cluster_with(kubernetes_with_groups(WorkloadWithJob=True))
    job = job_of({"schedulingPolicy": {"gang": {"minCount": 4}}})
    assert problem_of(cluster, job) == (
        "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 4: must not be "
        "greater than parallelism (3)"
    )


def test_group_of_a_job_needs_its_gate() -> None:
    job = job_of({"schedulingPolicy": {"gang": {}}})
    assert cluster_with().create(job).spec.scheduling is None
