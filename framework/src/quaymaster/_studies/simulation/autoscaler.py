"""The port of autoscalers: they add and remove nodes while a simulation runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import attrs

from quaymaster._api.objects import ApiObject, Node
from quaymaster._base.notices import Notice
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry

__all__ = [
    "AutoscaledNode",
    "Autoscaler",
    "AutoscalerContext",
    "AutoscalerFactory",
    "GivesNotices",
    "NodeOffer",
    "OffersNodes",
    "files_of",
    "kinds_of",
    "notices_of",
]

_HOUR = 3600


@attrs.frozen(kw_only=True, eq=False)
class AutoscalerContext:
    """What an autoscaler works with.

    Attributes:
        cluster: The cluster. Its clock is virtual, and its timers run the autoscaler.
        config: The configuration of the scheduler.
        registry: Finds plugins by name.
        seed: The seed of what is left to chance.
        explains: Whether its decisions about pods and nodes are explained at the end,
            so that it must keep them; see `ExplainsScaling`.
    """

    cluster: InMemoryCluster
    config: SchedulerConfig
    registry: PluginRegistry
    seed: int
    explains: bool = False


@attrs.frozen(kw_only=True)
class AutoscaledNode:
    """A node of an autoscaler; times are in seconds since the beginning.

    Attributes:
        node: Its name.
        group: Its group.
        ordered: When it was ordered; None if it was there from the beginning.
        registered: When it came into the cluster; None if it has not.
        ready: When it became ready; None if it has not.
        removed: When it was deleted; None if it exists at the end.
        price: What it costs per hour; None if that is unknown.
        until: The end of the simulation.
        added_for: Why it was ordered; empty if it was there from the beginning.
        removed_for: Why it was deleted; empty if it exists at the end.
    """

    node: str
    group: str
    ordered: float | None
    registered: float | None
    ready: float | None
    removed: float | None
    price: float | None
    until: float
    added_for: str = ""
    removed_for: str = ""

    @property
    def hours(self) -> float:
        """How long it existed, from its order on, in hours."""
        end = self.until if self.removed is None else self.removed
        return (end - (self.ordered or 0.0)) / _HOUR

    @property
    def cost(self) -> float | None:
        """The price of its hours; None if it is unknown."""
        return None if self.price is None else self.price * self.hours


class Autoscaler(Protocol):
    """Adds and removes nodes of a simulated cluster, at times of its own.

    It sets timers on the clock of the cluster and writes to the cluster, as a
    controller does. Timers that repeat for ever must be background timers.
    """

    def start(self) -> None:
        """Set the first timer; called once, when the scheduler has read the cluster."""

    @property
    def is_settled(self) -> bool:
        """Whether it will change nothing more until the cluster changes.

        A simulation without a time limit ends then. If it is false, a timer must be
        set.
        """

    def nodes(self) -> Sequence[AutoscaledNode]:
        """Return all nodes that it ever had, in the order in which they came."""

    def reasons_to_stay(self) -> Mapping[str, str]:
        """Return why each node of the cluster stays, in words, by name."""

    def reasons_not_to_grow(self) -> Mapping[str, Mapping[str, str]]:
        """Return why no group grows for pending pods: pod's key -> group -> reason."""

    def close(self) -> None:
        """Release what it holds; called at the end of the simulation."""


@runtime_checkable
class GivesNotices(Protocol):
    """An `Autoscaler` with warnings about its input, which a result shows."""

    def notices(self) -> Sequence[Notice]:
        """Return what has no effect or is probably a mistake, so far."""


AutoscalerFactory: TypeAlias = Callable[[AutoscalerContext], Autoscaler]
"""Makes the autoscaler of one simulation.

If it has an attribute ``kinds``, these are the classes of objects that the autoscaler
reads, beside those of Kubernetes; files may have such objects then. If it has an
attribute ``files``, these are the paths of the files that were read beside its own, on
which the results of experiments depend.
"""


@attrs.frozen(kw_only=True, eq=False)
class NodeOffer:
    """Equal nodes that an autoscaler may add.

    Attributes:
        name: Its name, unique among the offers of an autoscaler.
        group: The group of such nodes, as in `AutoscaledNode`.
        template: What a new node looks like; its name does not matter.
        least: The fewest new nodes.
        most: The most new nodes.
        price: What a node costs per hour; None if that is unknown.
    """

    name: str
    group: str
    template: Node
    least: int = 0
    most: int
    price: float | None = None


@runtime_checkable
class OffersNodes(Protocol):
    """An `AutoscalerFactory` that lists the nodes which its autoscaler may add."""

    def offers(self, objects: Sequence[ApiObject]) -> Sequence[NodeOffer]:
        """Return what may be added to a cluster.

        Args:
            objects: The objects of the cluster.
        """


def kinds_of(factory: AutoscalerFactory | None) -> Sequence[type[ApiObject]]:
    """Return the kinds of objects that an autoscaler reads beside those of Kubernetes.

    Args:
        factory: Makes the autoscaler; None without one.
    """
    kinds: Sequence[type[ApiObject]] = getattr(factory, "kinds", ())
    return kinds


def files_of(factory: AutoscalerFactory) -> Sequence[Path]:
    """Return the files that were read for an autoscaler beside its own."""
    files: Sequence[Path] = getattr(factory, "files", ())
    return files


def notices_of(autoscaler: Autoscaler) -> Sequence[Notice]:
    """Return the warnings of an autoscaler; none if it has no method for them."""
    return autoscaler.notices() if isinstance(autoscaler, GivesNotices) else ()
