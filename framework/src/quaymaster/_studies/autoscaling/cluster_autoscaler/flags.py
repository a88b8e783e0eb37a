"""Reads the flags of the cluster autoscaler, as its Deployment has them.

Mirrors ``config/flags/flags.go``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import EXPANDERS
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = ["FlagError", "read_flags"]

_WITHOUT_EFFECT: Final = frozenset(
    {
        "address",
        "check-capacity-provisioning-request-batch-timebox",
        "cloud-config",
        "cloud-provider",
        "cluster-name",
        "emit-per-nodegroup-metrics",
        "kube-api-content-type",
        "kube-client-burst",
        "kube-client-qps",
        "kubeconfig",
        "leader-elect",
        "leader-elect-lease-duration",
        "leader-elect-renew-deadline",
        "leader-elect-resource-lock",
        "leader-elect-resource-name",
        "leader-elect-resource-namespace",
        "leader-elect-retry-period",
        "logtostderr",
        "max-inactivity",
        "namespace",
        "node-group-auto-discovery",
        "nodes",
        "profiling",
        "provisioning-request-max-backoff-cache-size",
        "regional",
        "status-config-map-name",
        "stderrthreshold",
        "user-agent",
        "v",
        "vmodule",
        "write-status-configmap",
    }
)
"""Flags that change no decision, or that the groups of the file replace."""

_OTHER_NAMES: Final = {
    "balancing-ignore-label": "balancing_ignore_labels",
    "balancing-label": "balancing_labels",
    "blocking-system-pod-distruption-timeout": (
        "blocking_system_pod_disruption_timeout"
    ),
    "startup-taint": "startup_taints",
    "ignore-taint": "startup_taints",
    "status-taint": "status_taints",
}
_REPEATED: Final = (
    "balancing_ignore_labels",
    "balancing_labels",
    "startup_taints",
    "status_taints",
)
_EXPANDERS: Final = (*EXPANDERS, "priority", "price")
_OUTSIDE: Final = "grpc"
_GIB: Final = 2**30


class FlagError(QuaymasterError, ValueError):
    """A flag that cannot be used.

    Attributes:
        flag: The flag as it was written.
        problem: What is wrong with it.
    """

    def __init__(self, flag: str, problem: str) -> None:
        super().__init__(f"{flag}: {problem}")
        self.flag = flag
        self.problem = problem


def read_flags(flags: Iterable[str]) -> ClusterAutoscalerOptions:
    """Return the options that some flags set.

    Args:
        flags: The flags, such as ``--expander=least-waste``.

    Raises:
        FlagError: A flag is unknown, is not simulated, or has a wrong value.
    """
    settings: dict[str, object] = {}
    kinds = {field.name: field.type for field in attrs.fields(ClusterAutoscalerOptions)}
    for flag in flags:
        name, sign, text = flag.removeprefix("--").removeprefix("-").partition("=")
        if name in _WITHOUT_EFFECT:
            continue
        option = _OTHER_NAMES.get(name, name.replace("-", "_"))
        if option not in kinds:
            raise FlagError(flag, _unknown(name, kinds))
        kind = kinds[option]
        if not sign and kind is not bool:
            raise FlagError(flag, f"expected a value, such as --{name}=VALUE")
        value = _value(flag, option, kind, text if sign else "true")
        if option in _REPEATED and isinstance(value, tuple):
            settings[option] = (*_texts(settings.get(option, ())), *value)
        else:
            settings[option] = value
    # attrs checks no types here: `_value` has returned those of the fields.
    options: Callable[..., ClusterAutoscalerOptions] = ClusterAutoscalerOptions
    return options(**settings)


def _texts(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _unknown(name: str, kinds: Mapping[str, object]) -> str:
    names = [each.replace("_", "-") for each in kinds]
    hint = did_you_mean(name, [*names, *_OTHER_NAMES])
    return f"the simulated cluster autoscaler has no such flag{hint}"


def _value(flag: str, option: str, kind: object, text: str) -> object:
    """Return the value of a flag in the type of its option."""
    if option == "expander":
        return _expanders(flag, text)
    if option in ("cores_total", "memory_total"):
        return _limits(flag, text, _GIB if option == "memory_total" else 1)
    if option in _REPEATED:
        return tuple(text.split(","))
    if kind is str:
        return text
    if kind is bool:
        return _boolean(flag, text)
    if kind is int:
        return _integer(flag, text)
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    length = parse_duration(text)
    if length is None or length < timedelta(0):
        raise FlagError(flag, f"expected a number or a time such as 10m, got {text!r}")
    return length.total_seconds()


def _expanders(flag: str, text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    expected = f"expected some of {', '.join(sorted(_EXPANDERS))}"
    for index, name in enumerate(names):
        if name == _OUTSIDE:
            problem = f"{name!r} asks a program outside of the simulation; {expected}"
            raise FlagError(flag, problem)
        if name not in _EXPANDERS:
            raise FlagError(flag, f"{expected}, got {name!r}")
        if name in names[:index]:
            # As upstream (expander/factory), which does not start.
            raise FlagError(flag, f"expected each expander once, got {name!r} again")
    return names


def _limits(flag: str, text: str, factor: int) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if match is None or int(match[1]) > int(match[2]):
        raise FlagError(flag, f"expected MIN:MAX such as 0:320, got {text!r}")
    return int(match[1]) * factor, int(match[2]) * factor


def _boolean(flag: str, text: str) -> bool:
    # As Go's strconv.ParseBool.
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise FlagError(flag, f"expected true or false, got {text!r}")


def _integer(flag: str, text: str) -> int:
    if not re.fullmatch(r"-?\d+", text):
        raise FlagError(flag, f"expected an integer, got {text!r}")
    return int(text)
