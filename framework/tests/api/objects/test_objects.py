"""API objects: their form."""

import gc

import msgspec
import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.objects import (
    KINDS,
    ObjectMeta,
    OwnerReference,
    PodSpec,
    PodStatus,
    Time,
    decode,
    encode,
    from_wire,
    to_wire,
)
from tests.kit.internals.objects import GROUP_KINDS


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_has_its_api_version_and_kind(kind: type[ApiObject]) -> None:
    assert KINDS[kind.kind] is kind
    assert kind.kind == kind.__name__
    version = kind.api_version.rpartition("/")[2]
    assert version in ("v1", "v2") or kind in GROUP_KINDS


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_survives_its_wire_form(kind: type[ApiObject]) -> None:
    obj = kind(metadata=ObjectMeta(name="a", namespace="b", labels={"c": "d"}))
    assert from_wire(to_wire(obj), kind) == obj
    assert decode(encode(obj), kind) == obj


def test_namespaced_object_has_namespace_and_name_as_key() -> None:
    pod = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="1"))
    assert pod.key == "shop/web"
    assert (pod.name, pod.namespace, pod.uid) == ("web", "shop", "1")


def test_cluster_wide_object_has_its_name_as_key() -> None:
    assert Node(metadata=ObjectMeta(name="n1")).key == "n1"


def test_labels_and_annotations_are_those_of_the_metadata() -> None:
    node = Node(metadata=ObjectMeta(labels={"a": "1"}, annotations={"b": "2"}))
    assert node.labels == {"a": "1"}
    assert node.annotations == {"b": "2"}


def test_objects_are_immutable() -> None:
    pod = Pod()
    with pytest.raises(AttributeError):
        pod.node_name = "n1"  # type: ignore[misc]  # what is tested


def test_updated_object_does_not_keep_cached_facts_of_the_old() -> None:
    spec = PodSpec(priority=1)
    spec.__dict__["quaymaster.test"] = "a fact"
    assert msgspec.structs.replace(spec, priority=2).__dict__ == {}


def test_objects_are_left_alone_by_the_garbage_collector() -> None:
    assert not gc.is_tracked(Pod())
    assert not gc.is_tracked(Node())


def test_pod_without_priority_has_priority_0() -> None:
    assert Pod().priority == 0
    assert Pod(spec=PodSpec(priority=7)).priority == 7


def test_pod_with_deletion_timestamp_is_terminating() -> None:
    assert Pod(metadata=ObjectMeta(deletion_timestamp=Time(0))).is_terminating
    assert not Pod().is_terminating


@pytest.mark.parametrize(
    ("phase", "finished"), [("Succeeded", True), ("Failed", True), ("Running", False)]
)
def test_pod_is_finished_when_it_ended(phase: str, finished: bool) -> None:
    assert Pod(status=PodStatus(phase=phase)).is_finished is finished


def test_controller_is_the_owner_marked_as_controller() -> None:
    other, controller = (
        OwnerReference(name="a"),
        OwnerReference(name="b", controller=True),
    )
    assert ObjectMeta(owner_references=(other, controller)).controller is controller
    assert ObjectMeta(owner_references=(other,)).controller is None
