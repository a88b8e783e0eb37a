"""A planted mistake: a plugin, its clusters, and the check that finds it."""

from collections.abc import Sequence

import attrs
from hypothesis.strategies import SearchStrategy

from quaymaster import Handle, Pod
from quaymaster.objects import ObjectMeta, OwnerReference
from quaymaster.testing import SmallCluster

__all__ = ["Mistake", "Plugin", "owned_by"]


class Plugin:
    """Keeps its handle."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle


@attrs.frozen
class Mistake:
    """A mistake of an author.

    Attributes:
        plugin: The plugin with the mistake.
        checks: The checks of the contract suite that find it.
        clusters: The author's own clusters; None for the default ones.
    """

    plugin: type
    checks: Sequence[str]
    clusters: SearchStrategy[SmallCluster] | None = None


def owned_by(pod: Pod) -> ObjectMeta:
    """Return the metadata of an object of the pod's name, which goes with the pod."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid)
    return ObjectMeta(name=pod.name, namespace=pod.namespace, owner_references=(owner,))
