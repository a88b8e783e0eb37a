"""The engine follows what the plugins of its profiles read, and nothing else."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    Node,
    Pod,
    hookimpl,
)
from quaymaster.errors import ProfileError, UnfollowedKindError
from quaymaster.objects import (
    Namespace,
    PersistentVolumeClaim,
    Service,
    StorageClass,
)
from quaymaster.testing import (
    SchedulerHarness,
    make_node,
    make_pod,
    make_service,
    profile_config,
)
from tests.kit.internals.registry import USUAL_KINDS


class Reader:
    """Looks at services, and says so."""

    reads: ClassVar[Sequence[type[ApiObject]]] = (Service,)

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def filter(self, pod: Pod) -> None: ...


class Silent:
    """Says nothing of what it reads, as plugins of version 0.1."""

    def __init__(self, args: object, handle: Handle) -> None: ...

    @hookimpl
    def filter(self, pod: Pod) -> None: ...


class Claims(Reader):
    reads: ClassVar[Sequence[type[ApiObject]]] = (PersistentVolumeClaim,)


class Forgetful(Reader):
    """Registers for what it does not declare."""

    reads: ClassVar[Sequence[type[ApiObject]]] = ()

    @hookimpl
    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [EventsOf(StorageClass)(Change.ADD)]


def only(*plugins: type) -> dict[str, object]:
    """A profile of these plugins, and what every profile needs."""
    needed = ("PrioritySort", "DefaultBinder")
    names = (*needed, *(one.__name__ for one in plugins))
    enabled = [{"name": name} for name in names]
    every = {"disabled": [{"name": "*"}], "enabled": enabled}
    return {**profile_config(), "profiles": [{"plugins": {"multiPoint": every}}]}


def started(*plugins: type) -> SchedulerHarness:
    named = {one.__name__: one for one in plugins}
    return SchedulerHarness(
        [make_node(name="n"), make_service(name="s"), make_pod(name="p")],
        plugins=named,
        config=only(*plugins),
    )


def informers(harness: SchedulerHarness, plugin: type[Reader] = Reader) -> Any:  # noqa: ANN401 - the engine's own, which tell their kinds
    return harness.plugin(plugin).handle.informers


def test_kinds_that_nobody_reads_are_not_followed() -> None:
    harness = started(Reader)
    assert informers(harness).kinds == (Service, Node, Pod)
    harness.settle()
    assert harness.node_of("p") == "n"


def test_default_profile_reads_all_that_is_usual() -> None:
    config = profile_config(enable=[Reader])
    harness = SchedulerHarness(plugins={"Reader": Reader}, config=config)
    assert set(informers(harness).kinds) == set(USUAL_KINDS)


def test_everything_usual_is_followed_for_a_plugin_that_does_not_say() -> None:
    assert informers(started(Reader, Silent)).kinds == tuple(USUAL_KINDS)


def test_lookup_of_what_is_not_declared_says_what_to_declare() -> None:
    known = informers(started(Reader))
    assert known.list(Service)
    with pytest.raises(UnfollowedKindError, match=r"its class: reads = \(Namespace,\)"):
        known.list(Namespace)


def test_reload_follows_what_the_new_plugins_read_too() -> None:
    harness = SchedulerHarness(
        [make_node(name="n"), make_service(name="s")],
        plugins={"Reader": Reader, "Claims": Claims},
        config=only(Reader),
    )
    harness.reload(only(Claims))
    harness.settle()
    kinds = informers(harness, Claims).kinds
    assert kinds == (Service, PersistentVolumeClaim, Node, Pod)


def test_profile_is_not_built_if_events_are_of_what_nobody_reads() -> None:
    with pytest.raises(ProfileError, match=r"'storage\.k8s\.io/StorageClass', which"):
        started(Forgetful)
