"""The contract of plugins: one Protocol per extension point."""

from quaymaster._core.contract.cluster_events import QueueingHintFn
from quaymaster._core.contract.extension_points import EXTENSION_POINTS, ExtensionPoint
from quaymaster._core.contract.hook_marks import (
    DeprecatedHookWarning,
    Deprecation,
    HookAge,
    since_kubernetes,
)
from quaymaster._core.contract.hookspecs import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    LifecyclePlugin,
    PermitPlugin,
    PlacementFeasiblePlugin,
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
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupInfo,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.queueing import SortKey
from quaymaster._core.contract.results import Suggestion

__all__ = [
    "EXTENSION_POINTS",
    "BindPlugin",
    "DeprecatedHookWarning",
    "Deprecation",
    "EnqueueExtensions",
    "ExtensionPoint",
    "FilterPlugin",
    "HookAge",
    "LifecyclePlugin",
    "MemberAttempt",
    "PermitPlugin",
    "PlaceGroup",
    "PlacementFeasiblePlugin",
    "PlacementProgress",
    "PodGroupInfo",
    "PodGroupPostFilterPlugin",
    "PodGroupPostFilterResult",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreScorePlugin",
    "QueueSortPlugin",
    "QueueingHintFn",
    "ReservePlugin",
    "ScorePlugin",
    "SignPlugin",
    "SortKey",
    "Suggestion",
    "TieBreakPlugin",
    "since_kubernetes",
]
