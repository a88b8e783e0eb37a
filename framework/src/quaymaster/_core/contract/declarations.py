"""What a plugin's class declares of itself: how far it reaches, what it writes."""

import enum
from typing import Protocol

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kinds import group_of, plural_of

__all__ = ["PodUse", "Revised", "Scope", "Verb", "Write", "may_block", "skips_binding"]


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


class Revised(Protocol):
    """Anything that tells by a number whether it is still what it was.

    `ChangeLog`, the counts of a snapshot and `Namespaces` are such.
    """

    @property
    def revision(self) -> int:
        """Another number after each change."""


class Verb(enum.Enum):
    """What a plugin may do to objects of a kind, in the words of RBAC."""

    CREATE = "create"
    UPDATE = "update"
    PATCH = "patch"
    DELETE = "delete"


@attrs.frozen
class Write:
    """One sort of write that a plugin makes to the cluster.

    Set as a class attribute: ``writes = (Write(Verb.CREATE, Pod, "binding"),)``. The
    rights of a scheduler follow from what its plugins declare, and nothing else.

    Attributes:
        verb: What is done. `Cluster.bind` is CREATE of a pod's ``binding``;
            `Cluster.patch_status` and `Cluster.patch_pod_status` are PATCH of a
            ``status``; other calls are called like their verb.
        kind: The class of the objects.
        subresource: The part of them, such as ``status``; empty for the object itself.
    """

    verb: Verb
    kind: type[ApiObject]
    subresource: str = ""

    @property
    def group(self) -> str:
        """The group of the kind; empty for the core group."""
        return group_of(self.kind.api_version)

    @property
    def resource(self) -> str:
        """What RBAC calls the resource: ``pods``, ``pods/binding``."""
        plural = plural_of(self.kind)
        return f"{plural}/{self.subresource}" if self.subresource else plural

    def __str__(self) -> str:
        part = f', "{self.subresource}"' if self.subresource else ""
        return f"Write(Verb.{self.verb.name}, {self.kind.__name__}{part})"


def may_block(plugin: object) -> bool:
    """Whether a plugin, or its class, may wait for something but the cluster.

    It says that it does not by the class attribute ``blocks = False``. Then its
    ``pre_bind``, its ``bind`` and its tasks in the background take no thread.
    """
    return getattr(plugin, "blocks", True) is not False


def skips_binding(plugin: object) -> bool:
    """Whether a plugin that skips a pod at PreFilter has nothing to do in binding it.

    It says so by the class attribute ``skips_binding = True``. Then none of its
    ``reserve``, ``unreserve``, ``permit`` and ``pre_bind`` is called for that pod.
    """
    return getattr(plugin, "skips_binding", False) is True
