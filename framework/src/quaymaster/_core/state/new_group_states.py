"""Makes the states of groups for the feature gates of a Kubernetes."""

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.state.composite_states import CompositeStates
from quaymaster._core.state.group_states import GroupStates

__all__ = ["new_group_states"]


def new_group_states(kubernetes: Kubernetes) -> GroupStates:
    """Return states without groups.

    Args:
        kubernetes: The version, whose feature gate GenericWorkload is on.
    """
    has_trees = kubernetes.enabled("CompositePodGroup")
    return CompositeStates() if has_trees else GroupStates()
