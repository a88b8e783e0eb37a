"""A plugin may suggest changes of a pod, or of other objects; each is tried."""

from collections.abc import Sequence

import msgspec
import pytest

from quaymaster import ApiObject, Handle, Node, NodeInfo, Pod, Status, hookimpl
from quaymaster.config import parse_config
from quaymaster.hookspecs import Suggestion as PluginSuggestion
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import ChangeKind, Suggestions, suggest_changes
from quaymaster.testing import make_deployment, make_node, make_pod, profile_config

NO = Status.unschedulable("not at this berth")


class Berths:
    """Wants tugs: a runtime class of the pod, or an annotation of a node."""

    def __init__(self, _args: None, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        has_tug = pod.spec.scheduling_gates or "tug" in node.node.annotations
        return None if has_tug or pod.spec.host_network else NO

    @hookimpl
    def suggest_changes(self, pod: Pod) -> Sequence[PluginSuggestion]:
        spec = msgspec.structs.replace(pod.spec, host_network=True)
        node = make_node(name="a", annotations={"tug": "yes"})
        useless = make_node(name="a", annotations={"dredger": "yes"})
        return [
            PluginSuggestion(
                text="let it use the harbour",
                objects=[msgspec.structs.replace(pod, spec=spec)],
            ),
            PluginSuggestion(text="send a tug", objects=[node]),
            PluginSuggestion(text="send a dredger", objects=[useless]),
        ]


def suggested(name: str, *objects: ApiObject) -> Suggestions:
    registry = PluginRegistry.discover().with_plugin(Berths)
    config = parse_config(profile_config(enable=[Berths]), registry)
    return suggest_changes(name, objects, config=config, registry=registry)


def test_only_suggestions_that_help_are_reported() -> None:
    answer = suggested("p", make_node(name="a"), make_pod(name="p"))
    assert [(change.kinds, change.text) for change in answer.changes] == [
        ((ChangeKind.PLUGIN,), "let it use the harbour"),
        ((ChangeKind.PLUGIN,), "send a tug"),
    ]


def test_changes_are_listed_by_field() -> None:
    answer = suggested("p", make_node(name="a"), make_pod(name="p"))
    own, other = (change.fields for change in answer.changes)
    assert [(field.object, field.path, field.new) for field in own] == [
        ("pod/p", "spec.hostNetwork", "true")
    ]
    assert ("node/a", "metadata.annotations.tug", "yes") in [
        (field.object, field.path, field.new) for field in other
    ]


@pytest.mark.long
def test_change_of_a_pod_is_made_in_the_template_of_its_workload() -> None:
    objects = make_node(name="a"), make_deployment(name="web", replicas=2)
    answer = suggested("deploy/web", *objects)
    change = answer.changes[0]
    assert change.placed == 2
    assert change.fields[0].path == "spec.template.spec.hostNetwork"
    [node, _] = change.apply(objects)
    assert isinstance(node, Node)
