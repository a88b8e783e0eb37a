"""The declarations of a plugin's class: its scope, its use of pods, its writes."""

import enum
from typing import Protocol

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kinds import group_of, plural_of

__all__ = [
    "PodUse",
    "Revised",
    "Scope",
    "Verb",
    "Write",
    "gates_groups",
    "may_block",
    "skips_binding",
]


class Scope(enum.Enum):
    """The inputs that a plugin's result for one node depends on.

    Set as a class attribute: ``scope = Scope.NODE``. The default is CLUSTER.

    Attributes:
        NODE: The pod's signature fragment and that node alone.
        NODES: The fragment and the objects of all nodes.
        CLUSTER: Other nodes, other pods or other objects too.
    """

    NODE = "node"
    """On the pod's signature fragment and that node alone, and on other data whose
    changes the plugin reports by `Handle.changed`: data from outside the cluster, or an
    object of the node's name, which `Informers.on_change` follows. The results of
    ``pre_filter`` and ``pre_score`` depend on the fragment alone. ``normalize_score``
    returns equal scores where all raw scores are equal."""

    NODES = "nodes"
    """On the fragment and the objects of all nodes, but not on pods or other objects.
    For plugins that only score."""

    CLUSTER = "cluster"
    """On other nodes, other pods or other objects too."""


class PodUse(enum.Enum):
    """How much a plugin's ``filter`` and ``score`` read of the pods on a node.

    Set as a class attribute: ``pod_use = PodUse.SUMS``. The default is PODS, which also
    holds for every plugin with ``add_pod`` or ``remove_pod``. If no filter needs more
    than SUMS, preemption tries many nodes at once instead of one pod after the other.

    Attributes:
        NONE: Nothing of them.
        SUMS: Only their number and the sums of their requests.
        PODS: Single pods, their host ports, or anything else.
    """

    NONE = "none"
    """Nothing: its result is the same, whatever runs on the node."""

    SUMS = "sums"
    """Only their number and the sums of their requests. Its ``filter_nodes`` reads
    these from the `NodeTable` argument. In a trial, the columns of that table may
    leave out pods."""

    PODS = "pods"
    """Single pods, their host ports, or anything else."""


class Revised(Protocol):
    """An object with a revision number that changes whenever its content does.

    Examples are `ChangeLog`, the counts of a snapshot and `Namespaces`.
    """

    @property
    def revision(self) -> int:
        """The revision; it differs after each change."""


class Verb(enum.Enum):
    """RBAC's verbs for what a plugin may do to objects of a kind."""

    CREATE = "create"
    UPDATE = "update"
    PATCH = "patch"
    DELETE = "delete"


@attrs.frozen
class Write:
    """One sort of write that a plugin makes to the cluster.

    Set as a class attribute: ``writes = (Write(Verb.CREATE, Pod, "binding"),)``. A
    scheduler gets exactly the permissions that its plugins declare.

    Attributes:
        verb: The verb of RBAC. `Cluster.bind` is CREATE of a pod's ``binding``;
            `Cluster.patch_status` and `Cluster.patch_pod_status` are PATCH of a
            ``status``; other calls have the name of their verb.
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
        """RBAC's name for the resource: ``pods``, ``pods/binding``."""
        plural = plural_of(self.kind)
        return f"{plural}/{self.subresource}" if self.subresource else plural

    def __str__(self) -> str:
        part = f', "{self.subresource}"' if self.subresource else ""
        return f"Write(Verb.{self.verb.name}, {self.kind.__name__}{part})"


def gates_groups(plugin: object) -> bool:
    """Whether a plugin's ``pre_enqueue`` has one answer for all pods of a PodGroup.

    The class attribute ``gates_groups = True`` declares it. Then the queue calls it for
    one pod of a group, and not for each.
    """
    return getattr(plugin, "gates_groups", False) is True


def opens_gates_itself(plugin: object) -> bool:
    """Whether only a plugin and its events open the gates that it has closed.

    The class attribute ``opens_gates_itself = True`` declares it. Then the periodic
    flush does not call ``pre_enqueue`` for pods that it gates.
    """
    return getattr(plugin, "opens_gates_itself", False) is True


def may_block(plugin: object) -> bool:
    """Whether a plugin, or its class, may wait for anything but the cluster.

    The class attribute ``blocks = False`` declares that it does not. Then its
    ``pre_bind``, its ``bind`` and its background tasks take no thread.
    """
    return getattr(plugin, "blocks", True) is not False


def skips_binding(plugin: object) -> bool:
    """Whether a plugin that skips a pod at PreFilter also skips binding it.

    The class attribute ``skips_binding = True`` declares it. Then none of its
    ``reserve``, ``unreserve``, ``permit`` and ``pre_bind`` is called for that pod.
    """
    return getattr(plugin, "skips_binding", False) is True
