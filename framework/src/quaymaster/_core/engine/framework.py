"""A profile at work: its plugins, and the stations that call them.

Upstream's name for this is ``Framework`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime``).
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._core.binding.stations import BindingStations
from quaymaster._core.config.model import BY_NAME, ProfileConfig, SchedulerConfig
from quaymaster._core.contract.cluster_events import resource_of
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.sampling import NodeOrder
from quaymaster._core.cycle.ties import PlainSmallestName, TieBreaker, tie_breaker_of
from quaymaster._core.engine.handle import EngineHandle, Services
from quaymaster._core.engine.measured_stations import (
    PointTimes,
    measured_algorithm,
    measured_stations,
)
from quaymaster._core.extenders.chain import EXTENDER, NO_EXTENDERS, Extenders
from quaymaster._core.extenders.managed import ignoring_managed_resources
from quaymaster._core.memo import remember
from quaymaster._core.memo.lasting import LastingMemory
from quaymaster._core.memo.recheck import Recheck
from quaymaster._core.memo.signatures import Signatures
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.daemon_order import daemons_first
from quaymaster._core.queue.profile import QueueProfile
from quaymaster._core.registry.access import USUAL_KINDS
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.build import build_profile
from quaymaster._core.runtime.guards import HookGuards
from quaymaster._core.runtime.measured_hooks import MeasuredHooks, RunHere
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.runtime.profile import Call, Profile

__all__ = [
    "Framework",
    "FrameworkBuilder",
    "backoff_policy",
    "begin_callbacks",
    "queue_profiles",
    "retire",
    "start_plugins",
]


class Framework(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A profile at work.

    Attributes:
        profile: The plugins and plans.
        algorithm: Finds nodes; it may reuse cached answers of plugins.
        plain: The same algorithm without the memo: it calls every plugin every time.
        binding: The stations from Reserve to PostBind.
        handle: The handle from which those of the plugins are copied.
        measured: The same profile with timed stations; None without metrics.
    """

    profile: Profile
    algorithm: Algorithm
    plain: Algorithm
    binding: BindingStations
    handle: EngineHandle
    measured: "Framework | None" = None

    def pre_enqueue(self, plugin: str, pod: Pod) -> Status | None:
        """Call one PreEnqueue plugin for a pod; used by explanations."""
        for call in self.profile.plan("preEnqueue"):
            if call.plugin == plugin:
                return _pre_enqueue(call)(pod)
        return None


class FrameworkBuilder(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Builds the plugins and stations of profiles on the engine's parts.

    Attributes:
        registry: Finds plugins by name.
        services: The engine's parts.
        order: The engine's sampling order; as upstream, all profiles share it.
        options: The options of the engine.
        guards: Compile the hooks, and report those that fail or take too long.
        kinds: The kinds that are followed, and whose events exist.
        metrics: Records metrics of plugins and extension points; may be None.
        run_here: Runs a call on the engine's thread; may be called from any thread.
    """

    registry: PluginRegistry
    services: Services
    order: NodeOrder = msgspec.field(default_factory=NodeOrder)
    options: SchedulerOptions = msgspec.field(default_factory=SchedulerOptions)
    guards: HookGuards = msgspec.field(default_factory=HookGuards)
    kinds: Sequence[type[ApiObject]] = USUAL_KINDS
    metrics: SchedulerMetrics | None = None
    run_here: RunHere = operator.call

    def build_all(self, config: SchedulerConfig) -> dict[str, Framework]:
        """Build all profiles of a configuration, by scheduler name.

        Raises:
            ProfileError: A plugin cannot be loaded or called.
            ExtenderError: An extender's URL or certificates cannot be used.
        """
        extenders = Extenders(config.extenders)
        percentage = config.percentage_of_nodes_to_score
        built: dict[str, Framework] = {}
        try:
            for profile in config.profiles:
                served = ignoring_managed_resources(profile, config.extenders)
                built[profile.scheduler_name] = self.build(
                    served, percentage, extenders
                )
        except BaseException:
            retire(built.values())
            raise
        return built

    def build(
        self,
        config: ProfileConfig,
        percentage: int = 100,
        extenders: Extenders = NO_EXTENDERS,
    ) -> Framework:
        """Build one profile.

        Args:
            config: The profile, with all defaults filled in.
            percentage: The engine's ``percentageOfNodesToScore``; that of the profile
                takes precedence.
            extenders: The engine's extenders.

        Raises:
            ProfileError: A plugin cannot be loaded or called.
        """
        guards = self._guards(config.scheduler_name)
        handle = EngineHandle(
            config.scheduler_name, self.services, extenders, config.kubernetes, guards
        )
        try:
            profile = build_profile(
                config,
                self.registry,
                handle.for_plugin,
                guards,
                frozenset(map(resource_of, self.kinds)),
            )
        except BaseException:
            handle.retire()
            raise
        own = config.percentage_of_nodes_to_score
        percentage = percentage if own is None else own
        plain = self._algorithm(profile, percentage, extenders, tie_breaker_of(profile))
        handle.attach(plain)
        binding = BindingStations(profile, extenders, self.options.verify)
        handle.filters.reserve_by(binding, profile.remembered)
        framework = Framework(
            profile=profile,
            algorithm=self._with_memo(plain, profile, percentage, handle),
            plain=plain,
            binding=binding,
            handle=handle,
        )
        if self.metrics is None:
            return framework
        return replace(framework, measured=self._measured(framework, self.metrics))

    def _guards(self, scheduler_name: str) -> HookGuards:
        """Return the guards of a profile, which count calls if there are metrics."""
        if self.metrics is None:
            return self.guards
        timer = self.guards.timer
        if timer is None:
            return self.guards
        measured = MeasuredHooks(
            self.metrics, scheduler_name, self.run_here, timer.slow
        )
        return replace(
            self.guards,
            timer=replace(timer, listener=measured),
            watches=[*self.guards.watches, measured],
        )

    def _measured(self, framework: Framework, metrics: SchedulerMetrics) -> Framework:
        """Return the same profile with timed stations."""
        times = PointTimes(metrics, framework.profile.name, self.run_here)
        return replace(
            framework,
            algorithm=measured_algorithm(framework.algorithm, times),
            binding=measured_stations(framework.binding, times),
        )

    def _with_memo(
        self,
        plain: Algorithm,
        profile: Profile,
        percentage: int,
        handle: EngineHandle,
    ) -> Algorithm:
        """Wrap an algorithm in a memo, and in the recheck if the options say so."""
        algorithm, signatures = plain, None
        # The search for mutations needs every call, so nothing is cached then.
        if not self.options.check_mutations:
            signatures = Signatures(profile, plain.nodes, handle.reported_changes)
            algorithm = remember(plain, signatures)
            lasting = LastingMemory(plain.filter, plain.nominated, signatures)
            handle.filters.remember(lasting)
        if not self.options.verify:
            return algorithm
        by_name = PlainSmallestName() if profile.config.tie_breaker == BY_NAME else None
        slow = self._algorithm(
            profile.without_twins(), percentage, handle.extenders, by_name
        )
        return algorithm.checked_by(Recheck(slow, self.options.verify, signatures))

    def _algorithm(
        self,
        profile: Profile,
        percentage: int,
        extenders: Extenders,
        tie_breaker: TieBreaker | None,
    ) -> Algorithm:
        return Algorithm(
            profile,
            nodes=self.services.snapshot.nodes,
            nominator=self.services.nominator,
            order=self.order,
            percentage=percentage,
            extenders=extenders,
            tie_breaker=tie_breaker,
        )


def begin_callbacks(frameworks: Iterable[Framework]) -> None:
    """Deliver objects to the callbacks of the plugins of some profiles."""
    for framework in frameworks:
        framework.handle.callbacks.begin()


def start_plugins(frameworks: Iterable[Framework]) -> None:
    """Call the start hooks of some profiles, whose plugins then make no metrics."""
    for framework in frameworks:
        framework.profile.lifecycle.start()
        framework.handle.seal()


def retire(frameworks: Iterable[Framework]) -> None:
    """Close the plugins of some profiles, the last profile first.

    Their timers, tasks and callbacks end before the first of them is closed.
    """
    listed = list(frameworks)
    for framework in listed:
        framework.handle.retire()
    with ExitStack() as stack:
        for framework in listed:
            stack.callback(framework.profile.lifecycle.close)


def backoff_policy(config: SchedulerConfig) -> BackoffPolicy:
    """Return the backoff of failed pods."""
    return BackoffPolicy(
        initial_seconds=config.pod_initial_backoff_seconds,
        max_seconds=config.pod_max_backoff_seconds,
    )


def queue_profiles(
    frameworks: Mapping[str, Framework],
    config: SchedulerConfig,
    *,
    daemon_sets_first: bool = False,
) -> Mapping[str, QueueProfile]:
    """Return the parts of the profiles that the queue uses, by scheduler name.

    Args:
        frameworks: The profiles.
        config: The configuration.
        daemon_sets_first: As `SchedulerOptions` has it.
    """
    # Extenders register no events, so any event may change their answers.
    extended = bool(config.extenders)
    profiles = {
        name: _queue_profile(framework.profile, extended=extended)
        for name, framework in frameworks.items()
    }
    if not daemon_sets_first:
        return profiles
    return {
        name: replace(profile, sort_key=daemons_first(profile.sort_key))
        for name, profile in profiles.items()
    }


def _queue_profile(profile: Profile, *, extended: bool) -> QueueProfile:
    sort = profile.plan("queueSort")[0]
    # Keys of different plugins, or of different arguments, may not be comparable.
    args = profile.config.plugin_args.get(sort.plugin)
    return QueueProfile(
        sort_key=sort.hooks["queue_sort"],
        pre_enqueue=[
            (call.plugin, _pre_enqueue(call)) for call in profile.plan("preEnqueue")
        ],
        group_gates=frozenset(
            call.plugin for call in profile.plan("preEnqueue") if call.gates_groups
        ),
        self_opening=frozenset(
            call.plugin
            for call in profile.plan("preEnqueue")
            if call.opens_gates_itself
        ),
        events={**profile.events, EXTENDER: None} if extended else profile.events,
        sort_group=(sort.plugin, args),
    )


def _pre_enqueue(call: Call) -> Callable[[Pod], Status | None]:
    return call.hooks["pre_enqueue"]
