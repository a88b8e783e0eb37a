"""The extension points, as profiles and plans use them.

Mirrors k8s.io/kubernetes v1.36, ``pkg/scheduler/framework/runtime/framework.go``.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import attrs

from quaymaster._core.contract.hook_marks import HookAge, age_of
from quaymaster._core.contract.hookspecs import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    LifecyclePlugin,
    PermitPlugin,
    PlacementFeasiblePlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    PodGroupPostFilterPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    SignPlugin,
    TieBreakPlugin,
)

__all__ = ["EXTENSION_POINTS", "ExtensionPoint"]


@attrs.frozen
class ExtensionPoint:
    """One point at which a profile calls plugins.

    Attributes:
        key: Its name in a configuration file (``preFilter``); empty for hooks that
            belong to the plugin as a whole and are never enabled on their own.
        spec: The Protocol that declares its hooks.
        hooks: The names of those hooks, the defining one first.
        twins: Scalar hook -> its batch twin.
        weighted: Whether a profile sets weights for plugins here.
        field: The field of a profile that names the only plugin here; empty if the
            profile enables plugins here.
        gate: The feature gate without which nothing is called here; empty if there is
            none.
    """

    key: str
    spec: type
    hooks: tuple[str, ...]
    twins: Mapping[str, str] = attrs.field(factory=dict)
    weighted: bool = False
    field: str = ""
    gate: str = ""

    @property
    def hook(self) -> str:
        """The hook that makes a class a plugin of this point."""
        return self.hooks[0]

    def age(self, hook: str) -> HookAge:
        """Return the version that added one of its hooks, and its deprecation."""
        return age_of(getattr(self.spec, hook))


_PLACEMENTS: Final = "TopologyAwareWorkloadScheduling"

_Spec = TypeVar("_Spec", bound=type)


def _point(key: str, spec: _Spec, **options: Any) -> ExtensionPoint:
    hooks = tuple(
        name for name, value in vars(spec).items() if hasattr(value, "quaymaster_spec")
    )
    return ExtensionPoint(key, spec, hooks, **options)


EXTENSION_POINTS: tuple[ExtensionPoint, ...] = (
    _point("", LifecyclePlugin),
    _point("preEnqueue", PreEnqueuePlugin),
    _point("queueSort", QueueSortPlugin),
    _point("", EnqueueExtensions),
    _point("", SignPlugin),
    _point("preFilter", PreFilterPlugin),
    _point("filter", FilterPlugin, twins={"filter": "filter_nodes"}),
    _point("postFilter", PostFilterPlugin),
    _point("placementGenerate", PlacementGeneratePlugin, gate=_PLACEMENTS),
    _point("", PlacementFeasiblePlugin, gate="GenericWorkload"),
    _point(
        "placementScore",
        PlacementScorePlugin,
        twins={"placement_score": "placement_scores"},
        weighted=True,
        gate=_PLACEMENTS,
    ),
    _point("podGroupPostFilter", PodGroupPostFilterPlugin, gate="GenericWorkload"),
    _point("preScore", PreScorePlugin),
    _point("score", ScorePlugin, twins={"score": "score_nodes"}, weighted=True),
    _point("", TieBreakPlugin, field="tieBreaker"),
    _point("reserve", ReservePlugin),
    _point("permit", PermitPlugin),
    _point("preBind", PreBindPlugin),
    _point("bind", BindPlugin),
    _point("postBind", PostBindPlugin),
)
"""Every extension point, in the order of the calls. Profiles, plans and reference pages
are built from it. To add a point, add its Protocol to the hookspecs, a line here, and
the call in its station."""
