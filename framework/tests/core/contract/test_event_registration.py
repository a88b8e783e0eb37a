"""Plugins register for events: the types are checked and the queue gets the events.

The calls that must not type-check say so; `mypy` complains about ignores without need.
"""

import pytest

from quaymaster import (
    ActionType,
    ApiObject,
    Change,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    EventsOf,
    Node,
    Pod,
    QueueingHint,
    on_node,
    on_pod,
)
from quaymaster.objects import KINDS, Deployment, Namespace
from tests.kit.kinds import PodGroup


def after_adding(_pod: Pod, _old: None, _new: Node) -> QueueingHint:
    return QueueingHint.QUEUE


def after_update(_pod: Pod, _old: Node, _new: Node) -> QueueingHint:
    return QueueingHint.QUEUE


def after_deletion(_pod: Pod, _old: Node, _new: None) -> QueueingHint:
    return QueueingHint.QUEUE


def if_there(_pod: Pod, _old: Node | None, _new: Node) -> QueueingHint:
    return QueueingHint.QUEUE


def if_it_was_there(_pod: Pod, _old: Node, _new: Node | None) -> QueueingHint:
    return QueueingHint.QUEUE


def after_any(_pod: Pod, _old: Node | None, _new: Node | None) -> QueueingHint:
    return QueueingHint.QUEUE


@pytest.mark.parametrize("name", ActionType.__members__)
def test_each_action_is_a_change(name: str) -> None:
    assert name in Change.__annotations__
    assert getattr(Change, name).action is ActionType[name]


def test_changes_are_added_up() -> None:
    change = Change.ADD | Change.UPDATE_NODE_TAINT
    assert change.action == ActionType.ADD | ActionType.UPDATE_NODE_TAINT
    assert repr(change) == f"Change({change.action!r})"


def test_registration_is_the_event_with_the_hint_itself() -> None:
    event = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE)
    registered = on_node(Change.ADD | Change.UPDATE, if_there)
    assert registered == ClusterEventWithHint(event, registered.hint)
    assert registered.hint is if_there  # no wrapper: hints are called per pod
    assert on_node(Change.ADD | Change.UPDATE) == ClusterEventWithHint(event)


def test_hint_may_take_more_than_the_change_can_give() -> None:
    on_node(Change.ADD, after_adding)
    on_node(Change.ADD, if_there)
    on_node(Change.UPDATE, after_update)
    on_node(Change.UPDATE_NODE_LABEL | Change.UPDATE_NODE_TAINT, if_it_was_there)
    on_node(Change.DELETE, after_deletion)
    on_node(Change.UPDATE | Change.DELETE, if_it_was_there)
    on_node(Change.ADD | Change.DELETE, after_any)
    on_node(Change.ALL, after_any)


def test_hint_that_takes_less_is_found_by_type_checkers() -> None:
    on_node(Change.ADD, after_update)  # type: ignore[arg-type]
    on_node(Change.UPDATE, after_adding)  # type: ignore[arg-type]
    on_node(Change.DELETE, if_there)  # type: ignore[arg-type]
    on_node(Change.ALL, if_there)  # type: ignore[arg-type]
    on_node(
        Change.ADD | Change.UPDATE,  # type: ignore[operator]
        after_update,  # type: ignore[arg-type]
    )
    on_pod(Change.ADD, after_adding)  # type: ignore[arg-type]


def test_resources_are_registered_for_by_the_class_of_their_objects() -> None:
    followed = {
        EventsOf(kind)(Change.ADD).event.resource
        for kind in KINDS.values()
        if kind.kind in {each.value.rpartition("/")[2] for each in EventResource}
    }
    assert set(EventResource) - followed == {
        EventResource.ASSIGNED_POD,
        EventResource.UNSCHEDULED_POD,
        EventResource.TARGET_POD,
        EventResource.UNSCHEDULABLE_POD,
        EventResource.WILDCARD,
    }


def test_resource_without_a_class_is_registered_for_by_name() -> None:
    claims = EventsOf[ApiObject](EventResource.RESOURCE_CLAIM)
    assert claims(Change.ADD).event.label == "resource.k8s.io/ResourceClaimAdd"


def test_any_class_is_registered_for_by_its_plural_version_and_group() -> None:
    assert EventsOf(Deployment)(Change.ADD).event.label == "deployments.v1.appsAdd"
    assert EventsOf(Namespace)(Change.ADD).event.label == "namespaces.v1.Add"
    groups = EventsOf(PodGroup)(Change.UPDATE)
    assert groups.event.label == "podgroups.v1alpha1.scheduling.x-k8s.ioUpdate"


def test_upstreams_text_is_the_resource_of_the_class() -> None:
    text = "podgroups.v1alpha1.scheduling.x-k8s.io"
    by_text = EventsOf[PodGroup](text)(Change.ALL).event
    assert by_text == EventsOf(PodGroup)(Change.ALL).event
    # Identity: resources are compared so, as members of an enumeration.
    assert EventResource(text) is by_text.resource
    assert by_text.resource == text
    assert text not in set(EventResource)


@pytest.mark.parametrize("text", ["foos", "foos.v1", "Foo.v1.example.com", "a/b", "*a"])
def test_text_that_is_not_a_resource_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"foos\.v1\.example\.com, got"):
        EventsOf(text)
