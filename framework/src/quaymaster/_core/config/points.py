"""The extension points in configurations: keys, wildcards, how many plugins."""

from collections.abc import Mapping
from typing import Final

from quaymaster._core.contract.extension_points import EXTENSION_POINTS, ExtensionPoint

__all__ = [
    "GATED",
    "LIMITS",
    "MULTI_POINT",
    "NEEDED",
    "PLUGIN_SETS",
    "POINTS",
    "WILDCARD",
]

MULTI_POINT = "multiPoint"
"""The key that means every extension point that a plugin implements."""

WILDCARD = "*"
"""In ``disabled``: every plugin."""

POINTS: Mapping[str, ExtensionPoint] = {
    point.key: point for point in EXTENSION_POINTS if point.key
}
"""The extension points at which profiles enable plugins, by key."""

GATED: Mapping[str, str] = {
    "placementGenerate": "1.36",
    "placementScore": "1.36",
    "podGroupPostFilter": "1.37",
}
"""Points behind a feature gate -> the first Kubernetes that has them."""

PLUGIN_SETS = (*POINTS, MULTI_POINT)
"""The keys of ``plugins``."""

LIMITS: Mapping[str, tuple[int, int | None]] = {
    "queueSort": (1, 1),
    "bind": (1, None),
    # Only one would run: upstream's ``NewFramework`` in runtime/framework.go.
    "placementGenerate": (0, 1),
}
"""The minimum and maximum number of plugins at a point."""

NEEDED: Final = frozenset(key for key, (least, _) in LIMITS.items() if least)
"""The points at which each profile needs a plugin."""
