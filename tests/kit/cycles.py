"""The scheduling cycle on a snapshot: plugins and nodes, without an engine."""

from collections.abc import Iterable, Mapping

from quaymaster import Pod, Snapshot
from quaymaster.config import EnabledPlugin, ProfileConfig
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, VirtualClock
from tests.kit.informers import HeldObjects
from tests.kit.internals.cycle import Algorithm, NodeOrder
from tests.kit.internals.engine import EngineHandle, Services
from tests.kit.internals.memo import Signatures, remember
from tests.kit.internals.queue import Nominator
from tests.kit.internals.runtime import build_profile

__all__ = ["make_algorithm", "make_nominator", "make_services", "profile_of"]


def make_nominator(pods: Iterable[Pod] = ()) -> Nominator:
    """Make a nominator with the nominations of some pods."""
    waiting = {pod.key: pod for pod in pods}
    nominator = Nominator(waiting.get)
    for pod in waiting.values():
        nominator.add(pod)
    return nominator


def make_services(snapshot: Snapshot, nominator: Nominator) -> Services:
    """Make the services of an engine that has only nodes with pods."""
    clock = VirtualClock()
    return Services(
        clock=clock,
        cluster=InMemoryCluster(clock),
        informers=HeldObjects(),
        snapshot=snapshot,
        nominator=nominator,
    )


def profile_of(
    registry: PluginRegistry,
    names: Iterable[str],
    weights: Mapping[str, int] | None = None,
) -> ProfileConfig:
    """Make a profile with plugins in this order, at all points that they extend."""
    chosen = [
        (name, EnabledPlugin(name=name, weight=(weights or {}).get(name, 1)))
        for name in names
    ]
    return ProfileConfig(
        scheduler_name="test",
        plugins={
            point.key: tuple(
                plugin for name, plugin in chosen if registry[name].extends(point.key)
            )
            for point in EXTENSION_POINTS
            if point.key
        },
        plugin_args={},
    )


def make_algorithm(
    snapshot: Snapshot,
    *plugins: type,
    nominator: Nominator | None = None,
    weights: Mapping[str, int] | None = None,
    remembers: bool = True,
) -> Algorithm:
    """Make the algorithm with some plugins, in this order.

    Args:
        snapshot: The nodes and their pods.
        *plugins: The plugins' classes; each plugin has the name of its class.
        nominator: The nominated pods; none by default.
        weights: Plugin -> its weight.
        remembers: Whether the plugins' results are cached.

    Returns:
        The algorithm.
    """
    nominator = nominator or make_nominator()
    services = make_services(snapshot, nominator)
    registry = PluginRegistry.of({plugin.__name__: plugin for plugin in plugins})
    config = profile_of(registry, [plugin.__name__ for plugin in plugins], weights)
    handle = EngineHandle("test", services)
    profile = build_profile(config, registry, handle.for_plugin)
    plain = Algorithm(profile, snapshot.nodes, nominator, NodeOrder(), 100)
    return remember(plain, Signatures(profile, snapshot.nodes)) if remembers else plain
