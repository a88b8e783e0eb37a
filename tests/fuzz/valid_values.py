"""Replaces a value of a manifest by another valid one of the same field."""

import random
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["Place", "Tree", "valid_value"]

Tree: TypeAlias = Any
Place: TypeAlias = tuple[str, ...]
"""The keys that lead to a value, without the positions in lists."""

_AMOUNTS: Final = (
    "0", "1m", "10m", "100m", "250m", "0.5", "1", "1.5", "2", "3", "7", "1e3", "64Mi",
    "128M", "1Gi", "1.5Gi", "4Gi", "10G", "1Ti",
)  # fmt: skip
_WHOLE_AMOUNTS: Final = ("0", "1", "2", "3", "8", "20")
_AMOUNT_MAPS: Final = frozenset(
    ("requests", "limits", "allocatable", "capacity", "hard", "podFixed", "overhead",
     "default", "defaultRequest", "max", "min", "used")
)  # fmt: skip
_COUNTED: Final = frozenset(("pods", "count", "example.com/gpu", "nvidia.com/gpu"))
_NUMBERS: Final[Mapping[str, tuple[int, ...]]] = {
    "replicas": (0, 1, 2, 5, 9),
    "weight": (1, 2, 50, 100),
    "maxSkew": (1, 2, 5),
    "minDomains": (1, 2, 3, 10),
    "value": (-10, 0, 5, 1000, 10**9),
    "terminationGracePeriodSeconds": (0, 1, 30, 600),
    "tolerationSeconds": (-1, 0, 30, 300),
    "hostPort": (80, 8080, 9, 65535),
    "containerPort": (1, 80, 9, 65535),
    "parallelism": (0, 1, 3, 7),
    "completions": (1, 4, 9),
    "backoffLimit": (0, 3, 6),
    "sizeBytes": (0, 10**6, 10**9),
    "count": (1, 2, 3),
    "disruptionsAllowed": (0, 1, 5),
    "percentageOfNodesToScore": (0, 1, 30, 50, 100),
    "hardPodAffinityWeight": (0, 1, 100),
    "minCandidateNodesPercentage": (0, 10, 100),
    "minCandidateNodesAbsolute": (1, 100, 10_000),
    "parallelismOfScheduler": (1, 4, 16),
    "podInitialBackoffSeconds": (1, 2, 5),
    "podMaxBackoffSeconds": (5, 10, 60),
    "bindTimeoutSeconds": (1, 60, 600),
    "seed": (0, 1, 7),
    "times": (1, 2, 5),
    "atLeast": (0, 1, 8),
    "equals": (0, 6, 8),
    "copies": (1, 2, 4),
    "minReadySeconds": (0, 5),
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    "whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
    "nodeAffinityPolicy": ("Honor", "Ignore"),
    "nodeTaintsPolicy": ("Honor", "Ignore"),
    "preemptionPolicy": ("PreemptLowerPriority", "Never"),
    "podManagementPolicy": ("OrderedReady", "Parallel"),
    "volumeBindingMode": ("Immediate", "WaitForFirstConsumer"),
    "protocol": ("TCP", "UDP", "SCTP"),
    "topologyKey": (
        "kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk",
        "example.com/rack",
    ),
    "schedulerName": ("default-scheduler", "second"),
    "namespace": ("default", "shop", "other"),
    "state": ("Running", "Pending", "Any"),
    "mode": ("AtOnce", "Unreachable"),
    "order": ("Random", "AsGiven"),
    "persistentVolumeReclaimPolicy": ("Retain", "Delete"),
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "image": ("nginx:1", "x", "registry.example.com/a/b:1.2", "x@sha256:" + "0" * 64),
    "expression": (
        "true",
        "false",
        'device.driver == "gpu.example.com"',
        'device.attributes["gpu.example.com"].idx >= 1',
        'device.attributes["gpu.example.com"].model.matches("^a*a*a*a*a*a*b$")',
        'device.capacity["gpu.example.com"].mem.compareTo(quantity("1Gi")) > 0',
        'device.attributes["absent.example.com"].x == 1',
    ),
    "maxUnavailable": ("0%", "25%", "50%", "100%"),
    "minAvailable": ("0%", "50%", "100%"),
    "creationTimestamp": ("2024-02-29T23:59:59Z", "2026-01-01T00:00:00Z"),
}  # fmt: skip
_DURATIONS: Final = frozenset(
    ("at", "after", "timeout", "backAfter", "startup", "low", "high", "from",
     "leaseDuration", "atMost")
)  # fmt: skip
_SOME_DURATIONS: Final = ("1s", "30s", "1m30s", "5m", "1h")
_NAMES: Final = ("a", "web", "db", "app", "x-1", "high", "fast", "node-000", "n1")
_LABELS: Final = ("", "a", "web", "1", "7", "ssd", "A_b.c", "zone-0")
_LABEL_MAPS: Final = frozenset(("labels", "annotations", "nodeSelector", "matchLabels"))


def valid_value(place: Place, value: Tree, rng: random.Random) -> Tree:
    """Return another valid value of a field, or the same value for an unlisted field.

    Args:
        place: The keys that lead to it.
        value: Its value.
        rng: The random generator.
    """
    key, parent = place[-1], place[-2] if len(place) > 1 else ""
    if parent in _AMOUNT_MAPS and isinstance(value, str | int):
        return rng.choice(_WHOLE_AMOUNTS if key in _COUNTED else _AMOUNTS)
    if parent in _LABEL_MAPS and isinstance(value, str):
        return rng.choice(_LABELS)
    if isinstance(value, bool):
        return not value
    return _by_type(key, value, rng)


def _by_type(key: str, value: Tree, rng: random.Random) -> Tree:
    choices: Mapping[type, Callable[[], Tree]] = {
        int: lambda: rng.choice(_NUMBERS.get(key, (value,))),
        str: lambda: _text(key, value, rng),
    }
    choose = choices.get(type(value))
    return value if choose is None else choose()


def _text(key: str, value: str, rng: random.Random) -> str:
    if key in _CHOICES:
        return rng.choice(_CHOICES[key])
    if key in _DURATIONS:
        return rng.choice(_SOME_DURATIONS)
    if _is_name(key):
        return rng.choice(_NAMES)
    return value


def _is_name(key: str) -> bool:
    """Return whether the field of this key has the name of something."""
    return key == "name" or key.endswith(("Name", "key", "Key"))
