"""Feature gates of workloads: what they change here."""

from collections.abc import Mapping
from typing import Final

import attrs

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.model import ProfileConfig, SchedulerConfig

__all__ = ["apply_gates", "check_gates", "ignored_gates"]

_PLUGINS: Final[Mapping[str, str]] = {"NodeDeclaredFeatures": "NodeDeclaredFeatures"}
"""Gates that switch a plugin -> the plugin."""

_IGNORED: Final = frozenset(
    {
        "DRAConsumableCapacity",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DynamicResourceAllocation",
        "InPlacePodVerticalScaling",
        "NodeInclusionPolicyInPodTopologySpread",
        "OpportunisticBatching",
        "SchedulerAsyncAPICalls",
        "SchedulerAsyncPreemption",
        "SchedulerQueueingHints",
    }
)
"""Gates that make no difference: the engine works in one way only."""


def check_gates(gates: Mapping[str, bool], place: str, findings: Findings) -> None:
    """Note the gates that are unknown."""
    known = sorted(_IGNORED | _PLUGINS.keys())
    for name in gates:
        if name not in known:
            hint = did_you_mean(name, known) or f" (known: {', '.join(known)})"
            findings.add(f"{place}.{name}", f"unknown feature gate{hint}")


def ignored_gates(gates: Mapping[str, bool]) -> dict[str, bool]:
    """The gates that make no difference here."""
    return {name: value for name, value in gates.items() if name in _IGNORED}


def apply_gates(config: SchedulerConfig, gates: Mapping[str, bool]) -> SchedulerConfig:
    """The configuration without the plugins whose gates are off."""
    off = {plugin for gate, plugin in _PLUGINS.items() if gates.get(gate) is False}
    if not off:
        return config
    profiles = tuple(_without(profile, off) for profile in config.profiles)
    return attrs.evolve(config, profiles=profiles)


def _without(profile: ProfileConfig, off: set[str]) -> ProfileConfig:
    plugins = {
        point: tuple(plugin for plugin in enabled if plugin.name not in off)
        for point, enabled in profile.plugins.items()
    }
    args = {
        name: value for name, value in profile.plugin_args.items() if name not in off
    }
    return attrs.evolve(profile, plugins=plugins, plugin_args=args)
