"""Files with groups: read while their feature gate is on, skipped otherwise."""

import json
from pathlib import Path

from quaymaster import Pod
from quaymaster.config import Kubernetes
from quaymaster.manifests import Loaded, load
from quaymaster.objects import CompositePodGroup, PodGroup, Workload
from tests.kit.internals.groups import kubernetes_with_groups
from tests.kit.internals.manifests import skipped_text

SPEC = {"schedulingPolicy": {"gang": {"minCount": 2}}}
OFF = Kubernetes()
ON = kubernetes_with_groups()


def read(folder: Path, kubernetes: Kubernetes, *trees: object) -> Loaded:
    file = folder / "objects.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": trees}))
    return load([file], kubernetes=kubernetes)


def group(version: str, kind: str = "PodGroup", **spec: object) -> object:
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": {**SPEC, **spec},
    }


def test_group_is_skipped_while_its_gate_is_off(tmp_path: Path) -> None:
    loaded = read(tmp_path, OFF, group("v1beta1"), group("v1alpha3"))
    assert loaded.objects == ()
    assert loaded.skipped == {
        "PodGroup (scheduling.k8s.io/v1beta1)": 1,
        "PodGroup (scheduling.k8s.io/v1alpha3)": 1,
    }
    assert loaded.notices == ()


def test_group_of_either_version_is_read_while_its_gate_is_on(tmp_path: Path) -> None:
    for version in ("v1beta1", "v1alpha3"):
        (read_group,) = read(tmp_path, ON, group(version)).of(PodGroup)
        assert (read_group.key, read_group.min_count) == ("default/a", 2)


def test_composite_needs_its_own_gate(tmp_path: Path) -> None:
    composite = group(
        "v1alpha3",
        "CompositePodGroup",
        schedulingPolicy={"gang": {"minGroupCount": 2}},
        workloadRef={"workloadName": "w", "templateName": "t"},
    )
    assert read(tmp_path, ON, composite).objects == ()
    trees = kubernetes_with_groups(
        TopologyAwareWorkloadScheduling=True, CompositePodGroup=True
    )
    (read_composite,) = read(tmp_path, trees, composite).of(CompositePodGroup)
    gang = read_composite.spec.scheduling_policy.gang
    assert gang is not None
    assert gang.min_group_count == 2


def test_workload_of_the_alpha_version_is_read(tmp_path: Path) -> None:
    tree = {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"podGroupTemplates": [{"name": "t", **SPEC}]},
    }
    (workload,) = read(tmp_path, ON, tree).of(Workload)
    assert [t.name for t in workload.spec.pod_group_templates] == ["t"]


def test_pod_keeps_its_group_while_the_gate_is_on(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "schedulingGroup": {"podGroupName": "a"},
        },
    }
    loaded = read(tmp_path, ON, pod)
    assert [read_pod.group_key for read_pod in loaded.of(Pod)] == ["default/a"]
    assert loaded.notices == ()
    assert [pod.group_key for pod in read(tmp_path, OFF, pod).of(Pod)] == [""]


def test_group_of_another_api_group_is_not_followed(tmp_path: Path) -> None:
    foreign = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "a"},
        "spec": {"minMember": 2},
    }
    for kubernetes in (OFF, ON):
        loaded = read(tmp_path, kubernetes, foreign)
        assert loaded.of(PodGroup) == []
        (notice,) = loaded.notices
        assert "--custom-kinds coscheduling makes a PodGroup of it" in notice.message


def test_fields_of_disabled_gates_are_dropped_with_a_warning(tmp_path: Path) -> None:
    topology = {"topology": [{"key": "rack"}]}
    tree = group("v1alpha3", schedulingConstraints=topology, preemptionPolicy="Never")
    loaded = read(tmp_path, ON, tree)
    (read_group,) = loaded.of(PodGroup)
    assert read_group.spec.scheduling_constraints is None
    assert read_group.spec.preemption_policy is None
    assert {notice.path for notice in loaded.notices} == {
        "spec.preemptionPolicy",
        "spec.schedulingConstraints",
    }


def test_skipped_groups_name_the_gate_that_is_off(tmp_path: Path) -> None:
    policy: dict[str, object] = {"basic": {}}
    composite = group("v1alpha3", "CompositePodGroup", schedulingPolicy=policy)
    loaded = read(tmp_path, OFF, group("v1beta1"), composite)
    assert skipped_text(loaded) == (
        "skipped 1 object without effect while the feature gate GenericWorkload is "
        "off: PodGroup (scheduling.k8s.io/v1beta1); 1 object without effect while the "
        "feature gate CompositePodGroup is off: CompositePodGroup "
        "(scheduling.k8s.io/v1alpha3)"
    )
