"""The rights that a configuration needs become RBAC rules."""

from itertools import product

import pytest

from quaymaster import Handle, Pod, hookimpl
from quaymaster.cluster import Verb, Write
from quaymaster.config import Kubernetes, default_config, parse_config
from quaymaster.objects import PersistentVolume
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.internals.deploy import Need, Right, rights_of, rules_of
from tests.kit.kinds import PodGroup


class Groups:
    """Reads its own kind and writes its status."""

    kinds = (PodGroup,)
    writes = (Write(Verb.PATCH, PodGroup, "status"),)

    def __init__(self, args: object, handle: Handle) -> None: ...

    @hookimpl
    def filter(self, pod: Pod) -> None: ...


class Binder:
    """Writes what it does not follow."""

    writes = (Write(Verb.UPDATE, PersistentVolume),)
    __init__ = Groups.__init__
    filter = Groups.filter


class Old:
    """Declares neither its reads nor its writes."""

    __init__ = Groups.__init__
    filter = Groups.filter


NEEDED = ("PrioritySort", "DefaultBinder")


def document(plugins: object, **settings: object) -> dict[str, object]:
    return {**HEADER, "profiles": [{"plugins": {"multiPoint": plugins}}], **settings}


def needs_of(*plugins: type, **settings: object) -> dict[str, tuple[str, ...]]:
    """Return the rights of a profile with these plugins -> the components."""
    registry = PluginRegistry.discover()
    for plugin in plugins:
        registry = registry.with_plugin(plugin)
    names = (*NEEDED, *(plugin.__name__ for plugin in plugins))
    enabled = {"disabled": [{"name": "*"}], "enabled": [{"name": n} for n in names]}
    config = parse_config(document(enabled, **settings), registry)
    return {str(need.right): need.who for need in rights_of(config, registry)}


def test_scheduler_itself_needs_little() -> None:
    election = " leases.coordination.k8s.io"
    lease = f"{election} 'kube-scheduler' in namespace 'kube-system'"
    assert set(needs_of()) == {
        *(f"{verb} {kind}" for verb in ("get", "list", "watch") for kind in ALWAYS),
        "patch pods/status",
        "create pods/binding",
        "create events.events.k8s.io",
        "patch events.events.k8s.io",
        "create tokenreviews.authentication.k8s.io",
        "create subjectaccessreviews.authorization.k8s.io",
        f"get configmaps {AUTHORITIES} in namespace 'kube-system'",
        f"get{lease}",
        f"update{lease}",
        f"create{election} in namespace 'kube-system'",
    }


ALWAYS = ("nodes", "pods")
AUTHORITIES = "'extension-apiserver-authentication'"


def test_without_an_election_no_lease_rights_are_needed() -> None:
    found = needs_of(leaderElection={"leaderElect": False})
    assert not [right for right in found if "leases" in right]


def test_pods_are_deleted_by_preemption_alone() -> None:
    registry = PluginRegistry.discover()
    needs = rights_of(default_config(registry), registry)
    deletes = [need for need in needs if need.right.verb == "delete"]
    assert Need(Right("delete", "pods"), ("DefaultPreemption",)) in deletes
    claims = Right("delete", "resourceclaims", "resource.k8s.io")
    assert len(deletes) == 2
    assert Need(claims, ("DynamicResources",)) in deletes


def test_declared_kind_is_followed_and_its_status_patched() -> None:
    found = needs_of(Groups)
    group = "scheduling.x-k8s.io"
    assert {right: who for right, who in found.items() if group in right} == {
        f"get podgroups.{group}": ("Groups",),
        f"list podgroups.{group}": ("Groups",),
        f"watch podgroups.{group}": ("Groups",),
        f"patch podgroups/status.{group}": ("Groups",),
    }


def test_update_needs_to_read_the_whole_object() -> None:
    found = needs_of(Binder)
    mine = {right for right, who in found.items() if who == ("Binder",)}
    assert mine == {"update persistentvolumes", "get persistentvolumes"}


def test_plugin_that_declares_nothing_gets_the_usual_rights() -> None:
    found = needs_of(Old)
    assert found["delete pods"] == ("Old",)
    assert found["list poddisruptionbudgets.policy"] == ("Old",)
    assert set(found["create pods/binding"]) == {"DefaultBinder", "Old"}


def test_shipped_profiles_have_rights_by_their_plugins() -> None:
    registry = PluginRegistry.discover()
    needs = rights_of(default_config(registry), registry)
    who = {need.right.resource: need.who for need in needs if need.right.verb == "list"}
    assert who["namespaces"] == ("InterPodAffinity",)
    assert who["services"] == ("PodTopologySpread",)


@pytest.mark.parametrize("is_default", [True, False], ids=["default", "old plugin"])
def test_rules_give_exactly_the_rights(is_default: bool) -> None:
    registry = PluginRegistry.discover()
    if is_default:
        needs = rights_of(default_config(registry), registry)
    else:
        registry = registry.with_plugin(Old)
        enabled = {"enabled": [{"name": "Old"}]}
        needs = rights_of(parse_config(document(enabled), registry), registry)
    given = []
    for rule in rules_of(needs):
        for resource, verb in product(rule.resources, rule.verbs):
            given.append((verb, resource, rule.group, *rule.names))
    wanted = [
        (right.verb, right.resource, right.group, *([right.name] if right.name else []))
        for right in (need.right for need in needs)
    ]
    assert sorted(given) == sorted(wanted)


def test_rules_name_the_components_that_need_them() -> None:
    reading = [Need(Right(verb, "pods"), ("A",)) for verb in ("get", "list")]
    rules = rules_of([*reading, Need(Right("delete", "pods"), ("B", "C"))])
    assert [(rule.verbs, rule.reasons) for rule in rules] == [
        (("get", "list"), ("pods: A",)),
        (("delete",), ("pods: B, C",)),
    ]


@pytest.mark.parametrize(
    ("version", "gates", "are_read"),
    [
        ("1.37", {}, True),
        ("1.37", {"DRADeviceTaintRules": False}, False),
        ("1.36", {}, False),
    ],
)
def test_rules_of_device_taints_are_read_where_their_gate_is_on(
    version: str, gates: dict[str, bool], are_read: bool
) -> None:
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=Kubernetes(version, gates))
    rights = {str(need.right) for need in rights_of(config, registry)}
    followed = {
        f"{verb} devicetaintrules.resource.k8s.io" for verb in ("get", "list", "watch")
    }
    assert rights & followed == (followed if are_read else set())


@pytest.mark.parametrize("is_on", [True, False])
def test_scheduler_follows_groups_and_patches_their_status_with_the_gate(
    is_on: bool,
) -> None:
    registry = PluginRegistry.discover()
    kubernetes = Kubernetes("1.37", {"GenericWorkload": is_on})
    config = default_config(registry, kubernetes=kubernetes)
    group = "scheduling.k8s.io"
    rights = {
        str(need.right): need.who[0]
        for need in rights_of(config, registry)
        if need.right.group == group
    }
    expected = {
        f"get podgroups.{group}": "the scheduler",
        f"list podgroups.{group}": "the scheduler",
        f"watch podgroups.{group}": "the scheduler",
        f"patch podgroups/status.{group}": (
            "the scheduler (whether a group is scheduled)"
        ),
    }
    assert rights == (expected if is_on else {})
