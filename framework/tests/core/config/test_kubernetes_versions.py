"""Configurations are completed for a version of Kubernetes, with its feature gates."""

from collections.abc import Mapping

import attrs
import pytest

from quaymaster import Handle, Pod, Status, hookimpl
from quaymaster.config import (
    KUBERNETES_VERSIONS,
    ArgsError,
    ConfigErrors,
    Kubernetes,
    KubernetesError,
    SchedulerConfig,
    default_config,
    parse_config,
    shipped_profiles,
)
from quaymaster.hookspecs import since_kubernetes
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import profile_config

OLD, NEW = Kubernetes("1.36"), Kubernetes("1.37")


def test_versions_come_in_the_order_of_their_release() -> None:
    assert KUBERNETES_VERSIONS == ("1.36", "1.37")
    assert NEW.since("1.36")
    assert NEW.since("1.37")
    assert not OLD.since("1.37")


def test_error_for_an_unknown_version_lists_the_supported_ones() -> None:
    expected = "kubernetes_version: expected one of 1.36, 1.37, got '1.35'"
    with pytest.raises(KubernetesError, match=expected):
        Kubernetes("1.35")


def test_gates_follow_the_version_unless_they_are_set() -> None:
    gate = "StorageCapacityScoring"
    assert not OLD.enabled(gate)
    assert NEW.enabled(gate)
    assert Kubernetes("1.36", {gate: True}).enabled(gate)
    assert not Kubernetes("1.37", {gate: False}).enabled(gate)
    assert str(Kubernetes("1.37", {gate: False})) == f"1.37 ({gate}=false)"
    assert str(NEW) == "1.37"


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        pytest.param(
            {"StorageCapacityScorin": True},
            "the scheduler of 1.37 reads no such feature gate; did you mean "
            "'StorageCapacityScoring'?",
            id="unknown",
        ),
        pytest.param(
            {"GangScheduling": True},
            "the scheduler of 1.37 reads no such feature gate",
            id="gone",
        ),
        pytest.param(
            {"DRAAdminAccess": False},
            "Kubernetes 1.37 locks it to true",
            id="locked",
        ),
        pytest.param(
            {"DRADeviceTaints": False},
            "DRADeviceTaintRules: is on, but depends on gates that are off: "
            "DRADeviceTaints",
            id="without a gate that it depends on",
        ),
        pytest.param(
            {"DRADerivedAttributes": True},
            "only false is played, its default in 1.37",
            id="not played",
        ),
        pytest.param(
            {"VolumeLimitScaling": "yes"}, "expected true or false", id="no boolean"
        ),
    ],
)
def test_gate_that_cannot_be_set_like_that_is_refused(
    gates: Mapping[str, bool], message: str
) -> None:
    with pytest.raises(KubernetesError) as caught:
        Kubernetes("1.37", gates)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "gates",
    [
        pytest.param({"GenericWorkload": False}, id="as by default"),
        pytest.param({"DRAAdminAccess": True}, id="as it is locked"),
        pytest.param({"OpportunisticBatching": False}, id="without effect here"),
        pytest.param({"InterPodAffinityHostnameFastPath": True}, id="a quicker filter"),
        pytest.param({"SchedulerPreQueueingHints": True}, id="quicker hints"),
    ],
)
def test_gate_that_changes_nothing_is_accepted(gates: Mapping[str, bool]) -> None:
    assert Kubernetes("1.37", gates).feature_gates == gates


def test_rules_of_device_taints_are_read_where_their_gate_is_on() -> None:
    gate = "DRADeviceTaintRules"
    assert NEW.reads("DeviceTaintRule")
    assert not OLD.reads("DeviceTaintRule")
    assert Kubernetes("1.36", {gate: True}).reads("DeviceTaintRule")
    assert not Kubernetes("1.37", {gate: False}).reads("DeviceTaintRule")
    assert Kubernetes("1.37", {gate: False}).reads("ResourceSlice")


def names_at(config: SchedulerConfig, point: str) -> list[str]:
    return [plugin.name for plugin in config.profiles[0].plugins[point]]


def test_default_profile_is_that_of_the_version() -> None:
    registry = PluginRegistry.discover()
    old = default_config(registry, kubernetes=OLD)
    new = default_config(registry, kubernetes=NEW)
    assert old.kubernetes == OLD
    assert new.kubernetes == NEW
    assert names_at(old, "filter")[:2] == ["NodeUnschedulable", "NodeName"]
    assert names_at(new, "filter")[:2] == ["NodeName", "NodeUnschedulable"]
    added = ["NodeName", "NodeUnschedulable", "TaintToleration"]
    assert names_at(new, "preFilter")[:3] == added
    assert names_at(new, "preFilter")[3:] == names_at(old, "preFilter")


def test_default_profiles_are_shipped() -> None:
    for version in KUBERNETES_VERSIONS:
        assert Kubernetes(version).default_profile in shipped_profiles()


@attrs.frozen
class Limit:
    most: int = 0

    def completed(self, kubernetes: Kubernetes) -> "Limit":
        if kubernetes.since("1.37"):
            return attrs.evolve(self, most=self.most or 7)
        if self.most:
            raise ArgsError("most", "expected nothing before Kubernetes 1.37")
        return self


class Counts:
    Args = Limit

    def __init__(self, args: Limit, handle: Handle) -> None:
        self.kubernetes = handle.kubernetes

    @hookimpl
    @since_kubernetes("1.37")
    def pre_filter(self) -> None:
        return None

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return None


REGISTRY = PluginRegistry.discover().with_plugin(Counts)


def test_hook_of_a_later_version_is_not_listed_before() -> None:
    document = profile_config(enable=[Counts])
    for kubernetes, expected in ((OLD, False), (NEW, True)):
        config = parse_config(document, REGISTRY, kubernetes=kubernetes)
        assert ("Counts" in names_at(config, "preFilter")) is expected
        assert "Counts" in names_at(config, "filter")


def test_hook_of_a_later_version_cannot_be_enabled_before() -> None:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"preFilter": {"enabled": [{"name": "Counts"}]}}}],
    }
    with pytest.raises(ConfigErrors, match="does not implement preFilter"):
        parse_config(document, REGISTRY, kubernetes=OLD)
    assert parse_config(document, REGISTRY, kubernetes=NEW).profiles


def test_arguments_get_the_defaults_of_the_version() -> None:
    document = profile_config(enable=[Counts])
    for kubernetes, most in ((OLD, 0), (NEW, 7)):
        config = parse_config(document, REGISTRY, kubernetes=kubernetes)
        assert config.profiles[0].plugin_args["Counts"] == Limit(most)


def test_argument_of_a_later_version_is_refused_at_its_place() -> None:
    document = profile_config(enable=[Counts], args={"Counts": {"most": 3}})
    with pytest.raises(ConfigErrors) as caught:
        parse_config(document, REGISTRY, source="file.yaml", kubernetes=OLD)
    assert str(caught.value) == (
        "file.yaml: profiles[0].pluginConfig[0].args.most: expected nothing before "
        "Kubernetes 1.37"
    )


CHANGES = [
    "budget-walk",
    "device-allocator",
    "image-volume-count",
    "namespace-selector-resolved",
    "on-delete-completed",
    "plugin-order",
    "pod-level-defaults",
    "preemption-messages",
    "resize-totals",
    "selector-types",
    "stateful-set-max-unavailable",
    "storage-capacity-scoring",
    "volume-limit-scaling",
]


@pytest.mark.parametrize("change", CHANGES)
def test_change_is_made_from_its_version_on_and_can_be_left_out(change: str) -> None:
    assert not OLD.has(change)
    assert NEW.has(change)
    without = NEW.without(change)
    assert [each for each in CHANGES if not without.has(each)] == [change]
    assert change in str(without) or "=false" in str(without)


def test_change_with_a_gate_follows_the_gate() -> None:
    early = Kubernetes("1.36", {"StorageCapacityScoring": True})
    assert early.has("storage-capacity-scoring")
    late = NEW.without("storage-capacity-scoring")
    assert late == Kubernetes("1.37", {"StorageCapacityScoring": False})


def test_error_for_an_unknown_change_suggests_a_similar_name() -> None:
    message = "change: there is no change 'resize-total'; did you mean 'resize-totals'?"
    for ask in (
        NEW.has,
        NEW.without,
        lambda name: Kubernetes("1.37", {}, frozenset({name})),
    ):
        with pytest.raises(KubernetesError) as caught:
            ask("resize-total")
        assert str(caught.value) == message


def test_profile_without_the_plugin_order_of_a_version_has_the_previous_order() -> None:
    registry = PluginRegistry.discover()
    [old, new, without] = (
        default_config(registry, kubernetes=kubernetes).profiles[0].plugins["filter"]
        for kubernetes in (OLD, NEW, NEW.without("plugin-order"))
    )
    assert old == without
    assert old != new
    assert sorted(each.name for each in old) == sorted(each.name for each in new)


GROUPS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"plugins": {"podGroupPostFilter": {"enabled": [{"name": "Counts"}]}}}
    ],
}


def test_plugins_of_pod_groups_are_accepted_since_1_37_and_never_called() -> None:
    config = parse_config(GROUPS, REGISTRY, source="file.yaml", kubernetes=NEW)
    [warning] = config.warnings
    assert str(warning) == (
        "file.yaml: profiles[0].plugins.podGroupPostFilter: is never called: pod "
        "groups are behind the feature gate GenericWorkload, which is off"
    )
    with pytest.raises(ConfigErrors) as caught:
        parse_config(GROUPS, REGISTRY, source="file.yaml", kubernetes=OLD)
    assert str(caught.value) == (
        "file.yaml: profiles[0].plugins.podGroupPostFilter: unknown extension point; "
        "Kubernetes 1.37 has it, and this is 1.36"
    )


def test_a_plugin_of_pod_groups_has_to_be_installed_nevertheless() -> None:
    document = {
        **GROUPS,
        "profiles": [
            {"plugins": {"podGroupPostFilter": {"enabled": [{"name": "Count"}]}}}
        ],
    }
    with pytest.raises(ConfigErrors) as caught:
        parse_config(document, REGISTRY, source="file.yaml", kubernetes=NEW)
    assert str(caught.value).startswith(
        "file.yaml: profiles[0].plugins.podGroupPostFilter.enabled[0].name: "
    )
    assert "'Count'" in str(caught.value)


def test_gate_may_exist_in_later_versions_only() -> None:
    gates = {"DRAListTypeAttributes": True}
    assert Kubernetes("1.37", gates).enabled("DRAListTypeAttributes")
    with pytest.raises(KubernetesError, match="only false is played"):
        Kubernetes("1.36", gates)
