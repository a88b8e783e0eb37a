"""Groups of pods: their form, and the pods that are in them."""

from quaymaster import Pod
from quaymaster.objects import (
    CompositePodGroup,
    PodGroup,
    PodGroupSpec,
    PodSchedulingGroup,
    PodSpec,
    Workload,
    from_wire,
    to_wire,
)
from quaymaster.testing import make_pod, make_pod_group


def test_key_of_a_pod_in_a_group_is_its_namespace_and_group() -> None:
    assert make_pod(namespace="ml", scheduling_group="a").group_key == "ml/a"


def test_pod_without_a_group_has_no_group_key() -> None:
    assert make_pod().group_key == ""
    nameless = Pod(spec=PodSpec(scheduling_group=PodSchedulingGroup()))
    assert nameless.group_key == ""


def test_priority_of_a_group_is_0_without_one() -> None:
    assert make_pod_group(priority=7).priority == 7
    assert PodGroup(spec=PodGroupSpec()).priority == 0


def test_group_without_a_gang_policy_needs_one_pod() -> None:
    assert make_pod_group().min_count == 1
    assert make_pod_group(min_count=4).min_count == 4


def test_empty_policies_and_modes_survive_the_wire_form() -> None:
    tree = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "a"},
        "spec": {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"all": {}}},
    }
    group = from_wire(tree, PodGroup)
    assert group.spec.scheduling_policy.basic is not None
    assert to_wire(group) == tree


def test_composite_templates_are_nested() -> None:
    inner = {"name": "b", "podGroupTemplates": [{"name": "c"}]}
    outer = {"name": "a", "compositePodGroupTemplates": [inner]}
    tree = {
        "metadata": {"name": "w"},
        "spec": {"compositePodGroupTemplates": [outer]},
    }
    (template,) = from_wire(tree, Workload).spec.composite_pod_group_templates
    (child,) = template.composite_pod_group_templates
    assert child.pod_group_templates[0].name == "c"


def test_composites_are_of_the_alpha_version() -> None:
    assert CompositePodGroup.api_version == "scheduling.k8s.io/v1alpha3"
