"""What tests see of ``quaymaster._core.state``."""

from quaymaster._core.state.cache import AssumeError, Cache
from quaymaster._core.state.composite_states import CompositeStates
from quaymaster._core.state.group_cache import GroupCache
from quaymaster._core.state.group_forest import TreeForest, children_in_turn
from quaymaster._core.state.group_states import GroupState, GroupStates
from quaymaster._core.state.row_history import RowHistory
from quaymaster._core.state.row_log import RowLog
from quaymaster._core.state.snapshot import Snapshot
from quaymaster._core.state.sparse import empty_like, grown

__all__ = [
    "LARGE",
    "MOST_DOMAINS",
    "MOST_GROUPS",
    "AssumeError",
    "Cache",
    "CompositeStates",
    "GroupCache",
    "GroupState",
    "GroupStates",
    "RowHistory",
    "RowLog",
    "Snapshot",
    "TreeForest",
    "children_in_turn",
    "empty_like",
    "grown",
]

MOST_GROUPS = "quaymaster._core.state.counting.counts._MOST_GROUPS"
"""The number of groups of pods whose counts are kept."""

MOST_DOMAINS = "quaymaster._core.state.counting.counts._MOST_DOMAINS"
"""The number of topology keys whose domains are kept."""

LARGE = "quaymaster._core.state.sparse._LARGE"
"""The size in bytes from which tables allocate memory by pages."""
