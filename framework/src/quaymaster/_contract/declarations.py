"""What a plugin's class declares of itself: how far its answers reach."""

import enum

__all__ = ["PodUse", "Scope"]


class Scope(enum.Enum):
    """What a plugin's answer for one node depends on.

    Set as a class attribute: ``scope = Scope.NODE``. Without it, CLUSTER holds.
    """

    NODE = "node"
    """On the pod's signature fragment and that node alone, and on data from outside
    whose changes are told by `Handle.changed`. What ``pre_filter`` and
    ``pre_score`` do depends on the fragment alone, and ``normalize_score`` gives equal
    scores where all raw scores are equal."""

    NODES = "nodes"
    """On the fragment and the objects of all nodes, but not on pods or other objects.
    For plugins that score only."""

    CLUSTER = "cluster"
    """On other nodes, other pods or other objects too."""


class PodUse(enum.Enum):
    """How much a plugin's ``filter`` and ``score`` look at the pods on a node.

    Set as a class attribute: ``pod_use = PodUse.SUMS``. Without it, PODS holds, as it
    does for a plugin with ``add_pod`` or ``remove_pod``. Preemption tries many nodes at
    once where no filter needs more than SUMS, instead of one pod after the other.
    """

    NONE = "none"
    """Not at all: its answer is the same, whatever runs on the node."""

    SUMS = "sums"
    """Only at their number and at the sums of what they request. Its ``filter_nodes``
    reads these from the `NodeTable` that it is given, whose columns may tell of pods
    that were imagined away."""

    PODS = "pods"
    """At single pods, at their host ports, or at anything else."""
