"""Classes declare what they read and write; mistakes are reported."""

import pytest

from quaymaster import ApiObject, Handle, Node, Pod, hookimpl
from quaymaster.cluster import Verb, Write
from quaymaster.errors import PluginLoadError
from quaymaster.objects import Namespace, PriorityClass, Service
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.registry import USUAL_KINDS
from tests.kit.kinds import PodGroup


def plugin(**attributes: object) -> type:
    """Return a plugin whose class has these attributes."""

    class Odd:
        def __init__(self, args: object, handle: Handle) -> None: ...

        @hookimpl
        def filter(self) -> None: ...

    for name, value in attributes.items():
        setattr(Odd, name, value)
    return Odd


def read_by(*plugins: type) -> tuple[type[ApiObject], ...]:
    named = {f"P{number}": cls for number, cls in enumerate(plugins)}
    return tuple(PluginRegistry.of(named).read_by(named))


def test_plugin_that_declares_nothing_reads_the_usual_kinds() -> None:
    assert read_by(plugin()) == tuple(USUAL_KINDS)


def test_plugin_that_declares_what_it_writes_reads_nothing_else() -> None:
    assert read_by(plugin(writes=())) == (Node, Pod)


def test_kinds_of_all_plugins_come_before_nodes_and_pods() -> None:
    first = plugin(reads=(Service, PriorityClass), kinds=(PodGroup,))
    second = plugin(reads=(Pod, Namespace, Service))
    expected = (Namespace, Service, PriorityClass, PodGroup, Node, Pod)
    assert read_by(first, second) == expected


def test_one_plugin_that_declares_nothing_adds_all_usual_kinds() -> None:
    found = read_by(plugin(), plugin(reads=(PriorityClass,)))
    assert set(found) == {*USUAL_KINDS, PriorityClass}
    assert found[-2:] == (Node, Pod)


def test_methods_and_properties_of_these_names_declare_nothing() -> None:
    odd = plugin(reads=property(lambda _self: 3), writes=lambda _self: None)
    assert read_by(odd) == tuple(USUAL_KINDS)


def test_write_is_shown_as_an_rbac_rule() -> None:
    write = Write(Verb.PATCH, PodGroup, "status")
    assert (write.group, write.resource) == ("scheduling.x-k8s.io", "podgroups/status")
    assert str(write) == 'Write(Verb.PATCH, PodGroup, "status")'


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"reads": Service}, "reads: expected a tuple, got <class"),
        ({"reads": ("Service",)}, "reads: expected a class derived from ApiObject"),
        (
            {"reads": (PodGroup,)},
            "reads: PodGroup is not a kind of Kubernetes itself: name it in kinds = (P",
        ),
        ({"writes": "pods"}, "writes: expected a tuple, got 'pods'"),
        ({"writes": (Pod,)}, "writes: expected a Write, got <class"),
        ({"writes": (Write("bind", Pod),)}, "writes: expected a Verb, got 'bind'"),  # type: ignore[arg-type] # the mistake
        (
            {"writes": (Write(Verb.CREATE, int),)},  # type: ignore[arg-type] # the mistake
            "writes: expected a class derived from ApiObject",
        ),
    ],
    ids=["class", "text", "foreign", "text for a tuple", "kind", "verb", "no kind"],
)
def test_mistake_is_reported_when_the_plugin_is_loaded(
    attributes: dict[str, object], problem: str
) -> None:
    with pytest.raises(PluginLoadError) as caught:
        PluginRegistry.of({"Odd": plugin(**attributes)}).load("Odd")
    assert caught.value.problem.startswith(problem)
