"""Reads the flags of Karpenter, or the variables of its Deployment.

Mirrors ``pkg/operator/options/options.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions

__all__ = ["read_karpenter_flags"]

_WITHOUT_EFFECT: Final = frozenset(
    {
        "cpu-requests",
        "disable-cluster-state-observability",
        "disable-controller-warmup",
        "disable-leader-election",
        "enable-profiling",
        "health-probe-port",
        "karpenter-service",
        "kube-client-burst",
        "kube-client-qps",
        "leader-election-name",
        "leader-election-namespace",
        "log-error-output-paths",
        "log-level",
        "log-output-paths",
        "memory-limit",
        "metrics-port",
    }
)
"""Flags that change no decision."""

_DURATIONS: Final = {
    "batch-idle-duration": "batch_idle_duration",
    "batch-max-duration": "batch_max_duration",
}
_CHOICES: Final = {
    "preference-policy": ("ignore_preferences", "Respect", "Ignore"),
    "min-values-policy": ("best_effort_min_values", "Strict", "BestEffort"),
    "ignore-dra-requests": ("", "true", ""),
}
_GATES: Final = {
    "ReservedCapacity": "reserved_capacity",
    "SpotToSpotConsolidation": "spot_to_spot_consolidation",
    "NodeOverlay": "node_overlay",
    "StaticCapacity": "static_capacity",
}
_OTHER_GATES: Final = (
    "CapacityBuffer",
    "NodeRepair",
    "PodDeletionCostManagement",
    "TerminateFirstDrift",
    "TerminateFirstRepair",
)
"""Gates that are not simulated, all off by default."""


def read_karpenter_flags(
    flags: Iterable[str], source: str, options: KarpenterOptions
) -> KarpenterOptions:
    """Return options with what some flags set.

    Args:
        flags: Flags such as ``--batch-idle-duration=1s``, or variables such as
            ``BATCH_IDLE_DURATION=1s``.
        source: The name of the file, for messages.
        options: The options without flags.

    Raises:
        AutoscalerError: A flag is unknown, is not simulated, or has a wrong value.
    """
    settings: dict[str, object] = {}
    for flag in flags:
        name, _, text = flag.partition("=")
        name = name.removeprefix("--").lower().replace("_", "-")
        where = f"{source}: flags: {flag}"
        if name in _DURATIONS:
            settings[_DURATIONS[name]] = _seconds(text, where)
        elif name in _CHOICES:
            settings |= _choice(name, text, where)
        elif name == "feature-gates":
            settings |= _gates(text, where)
        elif name not in _WITHOUT_EFFECT:
            names = (*_DURATIONS, *_CHOICES, "feature-gates")
            hint = did_you_mean(name, names)
            listed = ", ".join(f"--{each}" for each in names)
            raise AutoscalerError(where, f"expected one of {listed}{hint}")
    # attrs checks no types here: the values are those of the fields.
    evolve: Callable[..., KarpenterOptions] = attrs.evolve
    return evolve(options, **settings)


def _seconds(text: str, where: str) -> float:
    length = parse_duration(text)
    if length is None or length < timedelta(0):
        raise AutoscalerError(where, "expected a duration such as 1s")
    return length.total_seconds()


def _choice(name: str, text: str, where: str) -> Mapping[str, bool]:
    field, usual, other = _CHOICES[name]
    if text not in (usual, other) or not text:
        expected = " or ".join(filter(None, (usual, other)))
        raise AutoscalerError(where, f"expected {expected}")
    return {field: text == other} if field else {}


def _gates(text: str, where: str) -> Mapping[str, bool]:
    gates: dict[str, bool] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if value not in ("true", "false"):
            raise AutoscalerError(where, f"{part}: expected true or false")
        if name in _GATES:
            gates[_GATES[name]] = value == "true"
        elif name not in _OTHER_GATES or value == "true":
            listed = ", ".join(_GATES)
            raise AutoscalerError(where, f"{part}: only {listed} can be turned on")
    return gates
