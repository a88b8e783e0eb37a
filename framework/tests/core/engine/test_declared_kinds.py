"""Kinds that plugins declare are followed and wake pods, like Kubernetes' own."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Pod, QueueingHint, Status, hookimpl
from quaymaster.config import declared_kinds, parse_config
from quaymaster.errors import KindError, ProfileError, UnfollowedKindError
from quaymaster.objects import Deployment, PriorityClass
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    Fault,
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
    make_priority_class,
)
from tests.kit.kinds import (
    Gangs,
    PodGroup,
    PodGroupSpec,
    gang_config,
    make_group,
    make_member,
)


class Other(ApiObject, frozen=True, kw_only=True):
    """Another class for the same kind."""

    api_version: ClassVar[str] = "scheduling.x-k8s.io/v1beta1"
    kind: ClassVar[str] = "PodGroup"
    plural: ClassVar[str] = "podgroups"


class Rival:
    """A plugin that declares the other class."""

    kinds = (Other,)

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self) -> Status | None:
        return None


class Undeclared(Gangs):
    """Does not declare the kind that it reads."""

    kinds: ClassVar[Sequence[type[ApiObject]]] = ()

    def __init__(self, args: object, handle: Handle) -> None:
        self.informers = handle.informers


class ByClasses:
    """Waits for priority classes, which the scheduler itself does not follow."""

    kinds = (PriorityClass,)

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def pre_filter(self) -> Status | None:
        found = self.handle.informers.list(PriorityClass)
        is_there = "gold" in {priority_class.name for priority_class in found}
        return None if is_there else Status.unresolvable("no class gold")


def gang_harness(*objects: ApiObject, **options: Any) -> SchedulerHarness:
    nodes = [make_node(name="n")]
    plugins = {"Gangs": Gangs}
    options.setdefault("config", gang_config())
    return SchedulerHarness([*nodes, *objects], plugins=plugins, **options)


def test_plugin_finds_objects_of_its_kind() -> None:
    harness = gang_harness(make_group(), make_member())
    harness.settle()
    assert harness.node_of("member") == "n"


def test_pod_waits_for_an_object_and_is_woken_by_it() -> None:
    harness = gang_harness(make_member())
    harness.settle()
    assert "no pod group gang" in harness.message("member")
    harness.cluster.create(make_group("another"))
    assert harness.schedule_one() is None
    harness.cluster.create(make_group())
    harness.advance(10)
    assert harness.node_of("member") == "n"


def test_pod_is_woken_by_a_change_of_an_object() -> None:
    harness = gang_harness(make_group(least=2), make_member())
    harness.settle()
    assert harness.node_of("member") == ""
    group = harness.cluster.get(PodGroup, "default/gang")
    harness.cluster.update(replace(group, spec=PodGroupSpec(min_member=1)))
    harness.settle()
    assert harness.node_of("member") == "n"


def test_changes_of_a_declared_kind_are_logged() -> None:
    harness = gang_harness(make_group())
    changes = harness.plugin(Gangs).changes
    assert changes.revision == 1
    harness.cluster.delete(PodGroup, "default/gang")
    harness.settle()
    assert changes.revision == 2
    assert changes.since(1) == {"default/gang": None}.keys()


@pytest.mark.parametrize(
    "faults",
    [
        {Fault.BROKEN_WATCH: 0.5, Fault.DELAYED_EVENTS: 0.3},
        {Fault.EXPIRED_WATCH: 0.5, Fault.STALE_LIST: 0.5},
        {Fault.EXPIRED_WATCH: 0.3, Fault.ERROR: 0.3, Fault.REPEATED_EVENT: 0.5},
    ],
    ids=["broken watches", "stale lists", "calls that fail"],
)
@pytest.mark.parametrize("seed", range(3))
def test_missed_changes_of_a_declared_kind_are_delivered_later(
    faults: dict[Fault, float], seed: int
) -> None:
    harness = gang_harness(
        *(make_member(f"p{n}", group=f"g{n}") for n in range(6)),
        faults=faults,
        seed=seed,
    )
    harness.advance(5)
    for n in range(6):
        harness.cluster.create(make_group(f"g{n}", least=1 + n % 2))
    harness.cluster.delete(PodGroup, "default/g0")
    harness.advance(30)
    for n in (1, 3):
        group = harness.cluster.get(PodGroup, f"default/g{n}")
        harness.cluster.update(replace(group, spec=PodGroupSpec(min_member=1)))
    harness.advance(60)
    harness.faulty.set_rates({})
    harness.advance(120)
    informers = harness.plugin(Gangs).informers
    assert list(informers.list(PodGroup)) == list(harness.cluster.list(PodGroup).items)
    placed = {n for n in range(6) if harness.node_of(f"p{n}")}
    assert {1, 2, 3, 4} <= placed <= {0, 1, 2, 3, 4}


def test_kind_of_kubernetes_is_declared_to_be_followed() -> None:
    harness = SchedulerHarness(
        [make_node(name="n"), make_pod(name="p")],
        plugins={"ByClasses": ByClasses},
        config=gang_config("ByClasses", is_there=False),
    )
    harness.settle()
    assert harness.message("p").startswith("0/1 nodes are available: no class gold.")
    harness.cluster.create(make_priority_class(name="gold", value=7))
    harness.advance(400)
    assert harness.node_of("p") == "n"


def test_reload_follows_new_kinds_and_loads_their_objects() -> None:
    config = gang_config(is_there=False)
    harness = gang_harness(make_group(), make_member(), config=config)
    harness.reload(gang_config())
    harness.cluster.create(make_member("later"))
    harness.settle()
    assert harness.plugin(Gangs).changes.revision == 1
    assert [harness.node_of(name) for name in ("member", "later")] == ["n", "n"]


def test_kind_is_followed_on_when_a_reload_takes_its_plugin_away() -> None:
    harness = gang_harness(make_group())
    gone = harness.plugin(Gangs)
    harness.reload(gang_config(is_there=False))
    harness.cluster.create(make_group("later"))
    harness.settle()
    assert gone.informers.get(PodGroup, "default/later") is not None


def test_reload_that_fails_follows_no_additional_kinds() -> None:
    class Broken(Gangs):
        def __init__(self, args: object, handle: Handle) -> None:
            super().__init__(args, handle)
            raise LookupError("no licence")

    plugins = {"Broken": Broken, "ByClasses": ByClasses}
    config = gang_config("ByClasses", is_there=False)
    harness = SchedulerHarness(plugins=plugins, config=config)
    answer = harness.reload(gang_config("Broken", is_there=False))
    harness.settle()
    assert isinstance(answer.exception(), ProfileError)
    informers = harness.plugin(ByClasses).handle.informers
    with pytest.raises(UnfollowedKindError):
        informers.list(PodGroup)
    harness.cluster.load([make_node(name="n"), make_priority_class(name="gold")])
    harness.cluster.create(make_pod(name="p"))
    harness.settle()
    assert harness.node_of("p") == "n"


def test_plugin_that_registers_for_an_unfollowed_kind_is_not_built() -> None:
    with pytest.raises(ProfileError) as caught:
        SchedulerHarness(
            plugins={"Undeclared": Undeclared},
            config=gang_config("Undeclared", is_there=False),
        )
    assert str(caught.value).endswith(
        "events_to_register returned an event of "
        "'podgroups.v1alpha1.scheduling.x-k8s.io', which is not followed: expected "
        "that a plugin declares it in its class, kinds = (...,)"
    )


def test_plugin_may_register_for_what_another_one_declares() -> None:
    plugins = {"Undeclared": Undeclared, "Gangs": Gangs}
    harness = SchedulerHarness(
        [make_node(name="n"), make_member()],
        plugins=plugins,
        config=gang_config("Undeclared"),
    )
    harness.settle()
    harness.cluster.create(make_group())
    harness.settle()
    assert harness.node_of("member") == "n"


@pytest.mark.parametrize("reloads", [False, True], ids=["at once", "by a reload"])
def test_two_classes_for_one_kind_are_an_error(reloads: bool) -> None:
    plugins = {"Gangs": Gangs, "Rival": Rival}
    match = (
        r"^PodGroup of scheduling\.x-k8s\.io is declared by two classes, "
        r"tests\.kit\.kinds:PodGroup and .*test_declared_kinds:Other: "
        r"expected one that all share$"
    )
    if not reloads:
        with pytest.raises(KindError, match=match):
            SchedulerHarness(plugins=plugins, config=gang_config("Rival"))
        return
    harness = SchedulerHarness(plugins=plugins, config=gang_config())
    answer = harness.reload(gang_config("Rival", is_there=False))
    harness.settle()
    with pytest.raises(KindError, match=match):
        answer.result()
    assert harness.plugin(Gangs).changes.revision == 0


def test_plugins_share_a_class() -> None:
    class Fellow(Gangs):
        pass

    registry = PluginRegistry.discover()
    registry = registry.with_plugin(Gangs).with_plugin(Fellow)
    config = parse_config(gang_config("Fellow"), registry, source="a test")
    assert declared_kinds(config, registry) == (PodGroup,)


def test_harness_of_one_plugin_agrees_with_the_scheduler() -> None:
    harness = PluginHarness(Gangs, objects=[make_group()])
    assert harness.pre_filter(make_member()) is None
    assert harness.pre_filter(make_member(group="none")) == Status.unresolvable(
        "no pod group none"
    )
    event = harness.events()[0].event
    hint = harness.hint(make_member(), event, None, make_group())
    assert hint is QueueingHint.QUEUE
    with pytest.raises(UnfollowedKindError, match="Deployment is not followed"):
        harness.handle.informers.list(Deployment)
    with pytest.raises(UnfollowedKindError):
        harness.handle.informers.changes(PriorityClass)


def test_harness_of_one_plugin_rejects_events_of_unfollowed_kinds() -> None:
    with pytest.raises(ProfileError, match="which is not followed"):
        PluginHarness(Undeclared)


def test_pods_are_followed_once_even_if_a_plugin_declares_them() -> None:
    class Declaring(Gangs):
        kinds: ClassVar[Sequence[type[ApiObject]]] = (PodGroup, Pod)

    harness = SchedulerHarness(
        [make_node(name="n"), make_group(), make_member()],
        plugins={"Gangs": Declaring},
        config=gang_config(),
    )
    harness.settle()
    assert harness.attempts == ["default/member"]
