"""A plugin under test: its class, its arguments, and how to build an instance."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, Protocol

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.fixed_objects import FixedNominations, FixedObjects
from quaymaster._authors.testing.hook_arguments import HOOKS
from quaymaster._authors.testing.single_plugin import build_alone, kinds_of
from quaymaster._base.versions.kubernetes import (
    DEFAULT_KUBERNETES,
    KUBERNETES_VERSIONS,
    Kubernetes,
)
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import ProfileConfig
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.declarations import PodUse, Scope
from quaymaster._core.contract.hook_marks import first_kubernetes
from quaymaster._core.engine.framework import retire
from quaymaster._core.engine.handle import EngineHandle, Services
from quaymaster._core.registry.registered import PluginClass
from quaymaster._core.runtime.guards import HookGuards
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["Subject", "VerdictCounts", "declared_opt_outs"]

_NO_GUARDS: Final = HookGuards()


def declared_opt_outs(plugin: type) -> Mapping[str, str]:
    """Return the checks that a plugin's class declares it may fail -> why."""
    opt_outs: Mapping[str, str] = getattr(plugin, "contract_opt_outs", {})
    return opt_outs


class _RecordingHandle(EngineHandle):
    """A handle that records when a plugin reads the version of Kubernetes.

    Attributes:
        versions_read: The versions that were read; the handles of all instances share
            it.
    """

    versions_read: set[Kubernetes]

    @property
    def kubernetes(self) -> Kubernetes:
        self.versions_read.add(self._kubernetes)
        return self._kubernetes


@attrs.define
class VerdictCounts:
    """The nodes that Filter rejects with Unschedulable, on all clusters of a run.

    Attributes:
        unschedulable: The number of these verdicts.
        reads_pods: Whether the plugin has read pods other than the one that waits.
        example: The last verdict and its node, and the objects.
    """

    unschedulable: int = 0
    reads_pods: bool = False
    example: tuple[str, Sequence[ApiObject]] = ("", ())


class Closeable(Protocol):
    """A bench where a plugin runs."""

    def close(self) -> None:
        """Retire the plugin."""


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    """One plugin under test by the contract suite.

    Attributes:
        plugin: Its class.
        args: Its arguments, as in a configuration file; None for defaults.
        objects: The objects that the cluster always has.
        kubernetes: The Kubernetes version to simulate.
        benches: The benches of its instances, which must be closed.
        versions_read: The versions that instances have read from their handles.
        effects: What hooks did, how often: the counts of one check.
        notes: What else the suite warns of.
        verdicts: What the check of Filter's codes has seen on all clusters.
        exercised: What checks have compared, how often; the suite prints it.
        wakes: The names of instances that have requeued pods by their handles.
        reorders: The keys of pods whose sort keys a plugin has reported as changed.
    """

    plugin: type
    args: Mapping[str, object] | None = None
    objects: tuple[ApiObject, ...] = ()
    kubernetes: Kubernetes = DEFAULT_KUBERNETES
    benches: list[Closeable] = attrs.field(factory=list, init=False)
    versions_read: set[Kubernetes] = attrs.field(factory=set, init=False)
    effects: Counter[str] = attrs.field(factory=Counter)
    notes: set[str] = attrs.field(factory=set)
    verdicts: VerdictCounts = attrs.field(factory=VerdictCounts, init=False)
    exercised: Counter[str] = attrs.field(factory=Counter)
    wakes: list[str] = attrs.field(factory=list, init=False)
    reorders: set[str] = attrs.field(factory=set, init=False)

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.plugin.__name__

    @cached_property
    def kinds(self) -> Sequence[type[ApiObject]]:
        """The kinds of objects that it reads.

        Raises:
            PluginLoadError: A kind is invalid.
        """
        return kinds_of(self.plugin)

    @property
    def scope(self) -> Scope:
        """The scope that it declares."""
        scope: Scope = getattr(self.plugin, "scope", Scope.CLUSTER)
        return scope

    @property
    def pod_use(self) -> PodUse:
        """The `PodUse` that it declares, as the framework reads it."""
        if self.has("add_pod") or self.has("remove_pod"):
            return PodUse.PODS
        pod_use: PodUse = getattr(self.plugin, "pod_use", PodUse.PODS)
        return pod_use

    @cached_property
    def config(self) -> ProfileConfig:
        """A profile that has this plugin.

        Raises:
            QuaymasterError: The profile does not load.
        """
        services = self.make_services()
        framework = build_alone(
            self.plugin, (), self.args, services, kubernetes=self.kubernetes
        )
        retire([framework])
        return framework.profile.config

    @cached_property
    def empty_cluster(self) -> InMemoryCluster:
        """The cluster behind the handles of all instances."""
        return InMemoryCluster(VirtualClock(), kubernetes=self.kubernetes)

    @property
    def knows_versions(self) -> bool:
        """Whether its decisions may depend on the version of Kubernetes.

        They may if its arguments are completed for a version, if some hook is new in a
        version, or if an instance has read the version: at its start, or in a hook
        since.
        """
        return self._is_made_for_versions or bool(self.versions_read)

    @cached_property
    def _is_made_for_versions(self) -> bool:
        """Whether its class depends on versions, or a new instance reads one."""
        if hasattr(getattr(self.plugin, "Args", None), "completed"):
            return True
        first = KUBERNETES_VERSIONS[0]
        hooks = (getattr(self.plugin, hook) for hook in self._parameters)
        if any(first_kubernetes(hook) != first for hook in hooks):
            return True
        try:
            _, handle = self.make(self.make_services())
        except Exception:
            return bool(self.versions_read)  # other checks report the error
        handle.retire()
        return bool(self.versions_read)

    def make_services(self, cluster: InMemoryCluster | None = None) -> Services:
        """Make the services of an engine, which do not change.

        Args:
            cluster: A cluster that is not written to; by default, a new one.
        """
        clock = VirtualClock()
        if cluster is None:
            cluster = InMemoryCluster(clock, kubernetes=self.kubernetes)
        return Services(
            clock=clock,
            cluster=cluster,
            informers=FixedObjects(self.objects, self.kinds),
            snapshot=Snapshot(self.kubernetes),
            nominator=FixedNominations({}),
            activate=lambda pods: self.wakes.extend(pod.key for pod in pods),
            wake=lambda _profile, plugin: self.wakes.append(plugin),
            reorder=lambda pods: self.reorders.update(pod.key for pod in pods),
        )

    def has(self, hook: str) -> bool:
        """Return whether it implements a hook; a wrapper does not count."""
        return hook in self._parameters

    def make(
        self, services: Services, guards: HookGuards = _NO_GUARDS
    ) -> tuple[object, EngineHandle]:
        """Build an instance; return it with its handle.

        Args:
            services: The parts that it may use.
            guards: Compile its callbacks for changes of objects.
        """
        own = _RecordingHandle(
            self.config.scheduler_name,
            services,
            kubernetes=self.kubernetes,
            guards=guards,
        )
        own.versions_read = self.versions_read
        handle = own.for_plugin(self.name)
        build: PluginClass = self.plugin
        return build(self.config.plugin_args.get(self.name), handle), handle

    def close(self) -> None:
        """Close all running instances."""
        while self.benches:
            self.benches.pop().close()

    def parameters(self, hook: str) -> Sequence[str]:
        """Return the names of the arguments that its hook takes."""
        return self._parameters[hook]

    @cached_property
    def _parameters(self) -> Mapping[str, Sequence[str]]:
        """The names of the arguments that each hook takes."""
        arguments = {}
        for hook, offered in HOOKS.items():
            function = getattr(self.plugin, hook, None)
            mark = getattr(function, "quaymaster_impl", None)
            if function is None or mark is None or mark["wrapper"]:
                continue
            taken = inspect.signature(function).parameters
            arguments[hook] = [name for name in taken if name in offered]
        return arguments
