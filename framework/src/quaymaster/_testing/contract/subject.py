"""A plugin under test: its class, its arguments, and how one of it is put to work."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, Protocol

import attrs

from quaymaster._config.model import ProfileConfig
from quaymaster._contract.clock import VirtualClock
from quaymaster._contract.hookspecs import EXTENSION_POINTS, PodUse, Scope
from quaymaster._engine.framework import retire
from quaymaster._engine.handle import EngineHandle, Services
from quaymaster._inmemory.cluster import InMemoryCluster
from quaymaster._objects import ApiObject
from quaymaster._registry.registry import PluginClass
from quaymaster._state.snapshot import Snapshot
from quaymaster._testing.alone import build_alone, kinds_of
from quaymaster._testing.still import FixedNominations, FixedObjects

__all__ = ["HOOKS", "Subject", "make_services"]

HOOKS: Final[Mapping[str, Sequence[str]]] = {
    name: tuple(inspect.signature(getattr(point.spec, name)).parameters)[1:]
    for point in EXTENSION_POINTS
    for name in point.hooks
}
"""Hook -> the names of the arguments that it is offered."""


def make_services(
    objects: Iterable[ApiObject] = (),
    cluster: InMemoryCluster | None = None,
    kinds: Iterable[type[ApiObject]] = (),
) -> Services:
    """The parts of an engine that stand still.

    Args:
        objects: What informers know.
        cluster: A cluster that nobody writes to; a new one by default.
        kinds: What informers follow beside what every scheduler follows.
    """
    clock = VirtualClock()
    return Services(
        clock=clock,
        cluster=InMemoryCluster(clock) if cluster is None else cluster,
        informers=FixedObjects(objects, kinds),
        snapshot=Snapshot(),
        nominator=FixedNominations({}),
    )


class Closeable(Protocol):
    """Where a plugin is at work."""

    def close(self) -> None:
        """Retire the plugin."""


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    """One plugin, as the contract suite asks about it.

    Attributes:
        plugin: Its class.
        args: Its arguments, as they stand in a configuration file; None for defaults.
        objects: What it always finds in the cluster.
        benches: Where plugins of it are at work that have to be closed.
    """

    plugin: type
    args: Mapping[str, object] | None = None
    objects: tuple[ApiObject, ...] = ()
    benches: list[Closeable] = attrs.field(factory=list, init=False)

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.plugin.__name__

    @property
    def kinds(self) -> Sequence[type[ApiObject]]:
        """The kinds of objects that it declares.

        Raises:
            PluginLoadError: One is wrong.
        """
        return kinds_of(self.plugin)

    @property
    def scope(self) -> Scope:
        """How far it says that it looks."""
        found: Scope = getattr(self.plugin, "scope", Scope.CLUSTER)
        return found

    @property
    def pod_use(self) -> PodUse:
        """How much it says that it looks at pods; as the framework takes it."""
        if self.has("add_pod") or self.has("remove_pod"):
            return PodUse.PODS
        found: PodUse = getattr(self.plugin, "pod_use", PodUse.PODS)
        return found

    @cached_property
    def config(self) -> ProfileConfig:
        """A profile that has this plugin.

        Raises:
            QuaymasterError: It does not load.
        """
        services = make_services(self.objects, kinds=self.kinds)
        framework = build_alone(self.plugin, (), self.args, services)
        retire([framework])
        return framework.profile.config

    @cached_property
    def empty_cluster(self) -> InMemoryCluster:
        """The cluster behind the handles of all of its kind."""
        return InMemoryCluster(VirtualClock())

    def has(self, hook: str) -> bool:
        """Whether it implements a hook; wrappers answer for other plugins."""
        return hook in self._wanted

    def make(self, services: Services) -> tuple[object, EngineHandle]:
        """Build one, and the handle that it has."""
        own = EngineHandle(self.config.scheduler_name, services)
        handle = own.for_plugin(self.name)
        build: PluginClass = self.plugin
        return build(self.config.plugin_args.get(self.name), handle), handle

    def close(self) -> None:
        """Close all plugins that are at work."""
        while self.benches:
            self.benches.pop().close()

    def wanted(self, hook: str) -> Sequence[str]:
        """The names of the arguments that its hook takes."""
        return self._wanted[hook]

    @cached_property
    def _wanted(self) -> Mapping[str, Sequence[str]]:
        """Hook -> the names of the arguments that it takes."""
        found = {}
        for hook, offered in HOOKS.items():
            function = getattr(self.plugin, hook, None)
            mark = getattr(function, "quaymaster_impl", None)
            if function is None or mark is None or mark["wrapper"]:
                continue
            taken = inspect.signature(function).parameters
            found[hook] = [name for name in taken if name in offered]
        return found
