"""Feature gates of workloads, and their effect here."""

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from quaymaster._base.suggestions import did_you_mean
from quaymaster._base.versions.kubernetes import (
    DEFAULT_KUBERNETES,
    RELEASES,
    Kubernetes,
    KubernetesError,
)
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.model import ProfileConfig, SchedulerConfig

__all__ = [
    "apply_gates",
    "check_gates",
    "gate_problems",
    "gated",
    "ignored_gates",
]

_PLUGINS: Final[Mapping[str, str]] = {"NodeDeclaredFeatures": "NodeDeclaredFeatures"}
"""Gates that switch a plugin -> the plugin."""

_IGNORED: Final = frozenset(
    {
        "DRAExtendedResource",
        "OpportunisticBatching",
        "SchedulerAsyncAPICalls",
        "SchedulerAsyncPreemption",
        "SchedulerQueueingHints",
    }
)
"""Gates without effect: the engine has only one implementation."""

_ALL_GATES: Final = sorted(
    _IGNORED
    | _PLUGINS.keys()
    | {gate for release in RELEASES.values() for gate in release.feature_gates}
)


def check_gates(gates: Mapping[str, bool], place: str, findings: Findings) -> None:
    """Report gates that no version of Kubernetes has."""
    for name in gates:
        if name not in _ALL_GATES:
            hint = did_you_mean(name, _ALL_GATES)
            hint = hint or f" (known: {', '.join(_ALL_GATES)})"
            findings.add(f"{place}.{name}", f"unknown feature gate{hint}")


def ignored_gates(
    gates: Mapping[str, bool], kubernetes: Kubernetes = DEFAULT_KUBERNETES
) -> dict[str, bool]:
    """Return the gates that have no effect here.

    Args:
        gates: The gates of a workload.
        kubernetes: The Kubernetes whose decisions are made.
    """
    return {
        name: value
        for name, value in gates.items()
        if name not in _PLUGINS and not _makes_a_difference(name, value, kubernetes)
    }


def gate_problems(gates: Mapping[str, bool], kubernetes: Kubernetes) -> Iterator[str]:
    """Explain which gates cannot have the values of a workload.

    Args:
        gates: The gates of a workload.
        kubernetes: The Kubernetes whose decisions are made.
    """
    changed = _changed(gates, kubernetes)
    for name, value in changed.items():
        # This gate is the first one, so that its own mistake is the reported one.
        tried = {name: value, **kubernetes.feature_gates, **changed}
        try:
            attrs.evolve(kubernetes, feature_gates=tried)
        except KubernetesError as error:
            if error.problem.startswith(f"{name}: "):
                yield f"feature gate {error.problem}"


def gated(kubernetes: Kubernetes, gates: Mapping[str, bool]) -> Kubernetes:
    """Return a version of Kubernetes with the effective gates of a workload.

    Raises:
        KubernetesError: A gate cannot have the workload's value.
    """
    changed = _changed(gates, kubernetes)
    if not changed:
        return kubernetes
    both = {**kubernetes.feature_gates, **changed}
    return attrs.evolve(kubernetes, feature_gates=both)


def apply_gates(config: SchedulerConfig, gates: Mapping[str, bool]) -> SchedulerConfig:
    """Return the configuration without the plugins whose gates are off."""
    off = {plugin for gate, plugin in _PLUGINS.items() if gates.get(gate) is False}
    if not off:
        return config
    profiles = tuple(_without(profile, off) for profile in config.profiles)
    return attrs.evolve(config, profiles=profiles)


def _changed(gates: Mapping[str, bool], kubernetes: Kubernetes) -> dict[str, bool]:
    """Return the gates of a workload that change decisions."""
    return {
        name: value
        for name, value in gates.items()
        if name not in _PLUGINS and _makes_a_difference(name, value, kubernetes)
    }


def _makes_a_difference(name: str, value: bool, kubernetes: Kubernetes) -> bool:
    return name not in _IGNORED and kubernetes.enabled(name) != value


def _without(profile: ProfileConfig, off: set[str]) -> ProfileConfig:
    plugins = {
        point: tuple(plugin for plugin in enabled if plugin.name not in off)
        for point, enabled in profile.plugins.items()
    }
    args = {
        name: value for name, value in profile.plugin_args.items() if name not in off
    }
    return attrs.evolve(profile, plugins=plugins, plugin_args=args)
