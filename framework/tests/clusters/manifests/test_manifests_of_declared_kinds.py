"""Objects of declared kinds are read and checked like those of Kubernetes."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
import pytest

from quaymaster import ApiObject
from quaymaster.manifests import Loaded, ManifestErrors, NoticeReason, Validation, load
from quaymaster.objects import (
    ApiValue,
    Job,
    LabelSelector,
    PodTemplateSpec,
    Quantity,
    to_wire,
)
from tests.kit.kinds import PodGroup

Reader = Callable[..., Loaded]

GROUP = """
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: gang}
spec: {minMember: 3}
"""


class QueueSpec(ApiValue, frozen=True, kw_only=True):
    """A field of each type."""

    share: float = 0.5
    limit: Quantity | None = None
    policy: Literal["Fifo", "Fair"] = "Fifo"
    weight: Annotated[int, msgspec.Meta(ge=1)] = 1
    port: int | bool = 0
    names: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    template: PodTemplateSpec | None = None
    free: dict[str, object] = {}

    def __post_init__(self) -> None:
        if len(self.names) > 2:
            raise ValueError("expected at most 2 names")


class Queue(ApiObject, frozen=True, kw_only=True):
    """Cluster-wide."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Queue"
    plural: ClassVar[str] = "queues"
    namespaced: ClassVar[bool] = False

    spec: QueueSpec = QueueSpec()


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def read(text: str, **options: object) -> Loaded:
        file = tmp_path / "in.yaml"
        file.write_text(text)
        options.setdefault("kinds", [PodGroup, Queue])
        return load([file], **options)  # type: ignore[arg-type]  # as given

    return read


def queue(spec: str) -> str:
    head = "apiVersion: acme.example/v1\nkind: Queue\nmetadata: {name: q}\n"
    return f"{head}spec: {{{spec}}}\n"


def problems(read: Reader, text: str, **options: object) -> list[str]:
    with pytest.raises(ManifestErrors) as caught:
        read(text, **options)
    return [f"{problem.path}: {problem.message}" for problem in caught.value.problems]


def test_declared_kind_is_read_without_a_notice(read: Reader) -> None:
    loaded = read(GROUP)
    (group,) = loaded.of(PodGroup)
    assert (group.key, group.spec.min_member) == ("default/gang", 3)
    assert (not loaded.skipped, loaded.notices) == (True, ())


def test_kind_that_is_not_declared_is_not_followed(read: Reader) -> None:
    loaded = read(GROUP, kinds=())
    assert loaded.objects == ()
    (notice,) = loaded.notices
    assert "--custom-kinds coscheduling makes a PodGroup of it" in notice.message


def test_custom_resource_definition_of_a_declared_kind_is_skipped(read: Reader) -> None:
    crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    loaded = read(f"{crd}metadata: {{name: podgroups.scheduling.x-k8s.io}}\n")
    assert sum(loaded.skipped.values()) == 1


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_list_of_a_declared_kind_is_opened(tmp_path: Path, ending: str) -> None:
    objects = [{"metadata": {"name": name}} for name in ("a", "b")]
    tree = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroupList",
        "items": objects,
    }
    file = tmp_path / f"in.{ending}"
    file.write_bytes(msgspec.json.encode(tree))
    loaded = load([file], kinds=[PodGroup])
    assert [group.key for group in loaded.of(PodGroup)] == ["default/a", "default/b"]


def test_cluster_wide_kind_has_no_namespace(read: Reader) -> None:
    (found,) = read(queue("weight: 2"), namespace="blue").objects
    assert found.key == "q"


def test_other_version_of_a_declared_kind_is_reported(read: Reader) -> None:
    loaded = read(GROUP.replace("v1alpha1", "v1"))
    (notice,) = loaded.notices
    assert notice.reason is NoticeReason.UNKNOWN_VERSION
    assert notice.message == (
        "expected 'scheduling.x-k8s.io/v1alpha1' for a PodGroup, got "
        "'scheduling.x-k8s.io/v1'; it was left out"
    )


def test_kind_of_the_same_name_in_another_group_is_not_the_declared_one(
    read: Reader,
) -> None:
    loaded = read(GROUP.replace("scheduling.x-k8s.io", "other.example"))
    assert loaded.skipped == {"PodGroup (other.example/v1alpha1)": 1}


UNKNOWN = [
    ("status: {}", "minMembers: 3", "spec.minMembers", "; did you mean 'minMember'?"),
    ("speck: {}", "minMember: 3", "speck", "; did you mean 'spec'?"),
    ("status: {fase: x}", "minMember: 3", "status.fase", "; did you mean 'phase'?"),
]


@pytest.mark.parametrize(("more", "spec", "path", "hint"), UNKNOWN)
def test_field_that_its_class_has_not_is_unknown(
    read: Reader, more: str, spec: str, path: str, hint: str
) -> None:
    text = GROUP.replace("minMember: 3", spec) + more
    assert problems(read, text) == [f"{path}: unknown field{hint}"]


def test_unknown_field_of_metadata_is_reported(read: Reader) -> None:
    text = GROUP.replace("name: gang", "name: gang, label: {}, managedFields: []")
    assert problems(read, text) == [
        "metadata.label: unknown field; did you mean 'labels'?"
    ]


def test_kubernetes_types_within_declared_kinds_have_all_their_fields(
    read: Reader,
) -> None:
    container = "{name: a, image: b, stdin: true}"
    text = queue(f"template: {{spec: {{containers: [{container}]}}}}")
    (found,) = read(text).objects
    assert isinstance(found, Queue)
    assert problems(read, text.replace("stdin", "stdinn")) == [
        "spec.template.spec.containers[0].stdinn: unknown field; did you mean 'stdin'?"
    ]
    assert problems(read, queue("selector: {matchLabel: {a: b}}")) == [
        "spec.selector.matchLabel: unknown field; did you mean 'matchLabels'?"
    ]


def test_field_of_any_type_accepts_any_value(read: Reader) -> None:
    (found,) = read(queue("free: {a: {b: [1, {c: null}]}}")).objects
    assert to_wire(found)["spec"] == {"free": {"a": {"b": [1, {"c": None}]}}}


@pytest.mark.parametrize("validation", [Validation.WARN, Validation.IGNORE])
def test_unknown_fields_are_handled_by_the_validation_mode(
    read: Reader, validation: Validation
) -> None:
    loaded = read(queue("weigth: 3"), validation=validation)
    paths = [notice.path for notice in loaded.notices]
    assert paths == (["spec.weigth"] if validation is Validation.WARN else [])
    assert len(loaded.objects) == 1


def test_unknown_fields_of_stored_objects_are_only_warnings(read: Reader) -> None:
    stored = queue("weigth: 3").replace("name: q", "name: q, uid: u")
    (notice,) = read(stored).notices
    assert notice.path == "spec.weigth"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("share: high", "spec.share: expected a number, got 'high'"),
        ("share: true", "spec.share: expected a number, got true"),
        ("limit: 3 apples", "spec.limit: "),
        ("policy: Random", "spec.policy: expected one of 'Fair', 'Fifo', got 'Random'"),
        ("weight: 1.5", "spec.weight: expected an integer, got 1.5"),
        ("weight: 0", "spec.weight: expected `int` >= 1"),
        ("port: []", "spec.port: expected an integer or true or false, got a list"),
        ("names: [1]", "spec.names[0]: expected a string, got 1: put it in quotes"),
        ("names: [a, b, c]", "spec: expected at most 2 names"),
        ("selector: []", "spec.selector: expected an object, got a list"),
    ],
)
def test_wrong_values_are_reported_with_their_place(
    read: Reader, spec: str, problem: str
) -> None:
    (found,) = problems(read, queue(spec))
    assert found.startswith(problem)


def test_null_is_nothing(read: Reader) -> None:
    (found,) = read(queue("weight: null, names: null, share: 1")).objects
    assert isinstance(found, Queue)
    assert (found.spec.weight, found.spec.names, found.spec.share) == (1, (), 1.0)


TEMPLATE = "template: {spec: {containers: [{name: main, image: nginx}]}}"


def test_missing_pods_of_a_declared_kind_are_reported(read: Reader) -> None:
    loaded = read(queue(TEMPLATE))
    assert len(loaded.objects) == 1
    (notice,) = loaded.notices
    assert notice.reason is NoticeReason.MISSING_PODS
    assert notice.path == "spec.template"


def test_pods_of_a_declared_kind_run_with_a_mapping(
    read: Reader, tmp_path: Path
) -> None:
    mapping = tmp_path / "mapping"
    mapping.write_text(
        "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: CustomKinds\nkinds:\n"
        "- group: acme.example\n  kind: Queue\n  pods: [{template: [spec.template]}]\n"
    )
    loaded = read(queue(TEMPLATE), custom_kinds=[str(mapping)])
    assert [type(obj) for obj in loaded.objects] == [Queue, Job]
    assert loaded.notices == ()


def test_duplicate_object_in_one_input_is_an_error(read: Reader) -> None:
    (found,) = problems(read, GROUP + "---" + GROUP)
    assert "duplicate PodGroup 'default/gang'" in found
