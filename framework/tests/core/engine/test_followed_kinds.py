"""The engine follows what the plugins of its profiles read, and nothing else."""

from collections.abc import Sequence
from typing import ClassVar

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
from tests.kit.engine import informers_of, scheduler_of
from tests.kit.internals.registry import USUAL_KINDS


class Reader:
    """Reads services, and declares it."""

    reads: ClassVar[Sequence[type[ApiObject]]] = (Service,)

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def filter(self, pod: Pod) -> None: ...


class Silent:
    """Does not declare what it reads, like plugins of version 0.1."""

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
    """Return a profile of these plugins and of those that every profile needs."""
    needed = ("PrioritySort", "DefaultBinder")
    names = (*needed, *(plugin.__name__ for plugin in plugins))
    enabled = [{"name": name} for name in names]
    every = {"disabled": [{"name": "*"}], "enabled": enabled}
    return {**profile_config(), "profiles": [{"plugins": {"multiPoint": every}}]}


def started(*plugins: type) -> SchedulerHarness:
    named = {plugin.__name__: plugin for plugin in plugins}
    return SchedulerHarness(
        [make_node(name="n"), make_service(name="s"), make_pod(name="p")],
        plugins=named,
        config=only(*plugins),
    )


def followed_kinds(harness: SchedulerHarness) -> Sequence[type[ApiObject]]:
    return informers_of(scheduler_of(harness)).kinds


def test_kinds_that_no_plugin_reads_are_not_followed() -> None:
    harness = started(Reader)
    assert followed_kinds(harness) == (Service, Node, Pod)
    harness.settle()
    assert harness.node_of("p") == "n"


def test_default_profile_reads_all_usual_kinds() -> None:
    config = profile_config(enable=[Reader])
    harness = SchedulerHarness(plugins={"Reader": Reader}, config=config)
    assert set(followed_kinds(harness)) == set(USUAL_KINDS)


def test_all_usual_kinds_are_followed_for_a_plugin_without_a_declaration() -> None:
    assert followed_kinds(started(Reader, Silent)) == tuple(USUAL_KINDS)


def test_error_of_an_undeclared_lookup_names_the_missing_declaration() -> None:
    informers = started(Reader).plugin(Reader).handle.informers
    assert informers.list(Service)
    with pytest.raises(UnfollowedKindError, match=r"its class: reads = \(Namespace,\)"):
        informers.list(Namespace)


def test_reload_follows_what_the_new_plugins_read_too() -> None:
    harness = SchedulerHarness(
        [make_node(name="n"), make_service(name="s")],
        plugins={"Reader": Reader, "Claims": Claims},
        config=only(Reader),
    )
    harness.reload(only(Claims))
    harness.settle()
    assert followed_kinds(harness) == (Service, PersistentVolumeClaim, Node, Pod)


def test_profile_is_not_built_if_its_events_are_of_unread_kinds() -> None:
    with pytest.raises(ProfileError, match=r"'storage\.k8s\.io/StorageClass', which"):
        started(Forgetful)
