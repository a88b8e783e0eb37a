"""One profile at work: its plugins, with the stations that call them.

Upstream's name for this is ``Framework`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime``).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import attrs

from quaymaster._binding.stations import BindingStations
from quaymaster._cycle.algorithm import Algorithm, Nominator
from quaymaster._cycle.errors import raised, unexpected
from quaymaster._cycle.sampling import NodeOrder
from quaymaster._engine.handle import EngineHandle, Services
from quaymaster._extenders import (
    EXTENDER,
    NO_EXTENDERS,
    Extenders,
    ignoring_managed_resources,
)
from quaymaster._memo import Recheck, Signatures, remember
from quaymaster._queue import BackoffPolicy, QueueProfile
from quaymaster._runtime import Call, Guard, MissingStates, Profile, build_profile
from quaymaster.config import ProfileConfig, SchedulerConfig
from quaymaster.objects import Pod
from quaymaster.options import EngineOptions
from quaymaster.registry import PluginRegistry
from quaymaster.status import Status

__all__ = [
    "Framework",
    "backoff_policy",
    "build_framework",
    "build_frameworks",
    "queue_profiles",
]


_DEFAULT_OPTIONS = EngineOptions()


@attrs.frozen(eq=False)
class Framework:
    """What the engine needs to take a pod through one profile.

    Attributes:
        profile: The plugins and plans.
        algorithm: Finds nodes; it may remember what plugins said of earlier pods.
        plain: The same, which asks every plugin every time.
        binding: The stations from Reserve to PostBind.
        handle: What its plugins were given.
    """

    profile: Profile
    algorithm: Algorithm
    plain: Algorithm
    binding: BindingStations
    handle: EngineHandle

    def pre_enqueue(self, plugin: str, pod: Pod) -> Status | None:
        """Ask one PreEnqueue plugin about a pod; for explanations."""
        for call in self.profile.plan("preEnqueue"):
            if call.plugin == plugin:
                return _asked(call, pod)
        return None


def build_frameworks(
    config: SchedulerConfig,
    registry: PluginRegistry,
    services: Services,
    nominator: Nominator,
    order: NodeOrder,
    options: EngineOptions,
    guards: Sequence[Guard],
) -> dict[str, Framework]:
    """Build all profiles of a configuration, by scheduler name.

    Args:
        config: The configuration.
        registry: Where plugins are found by name.
        services: The engine's parts.
        nominator: The engine's nominated pods.
        order: The engine's sampling order, shared by its profiles as upstream does.
        options: What is set about the engine.
        guards: What goes around each call of a hook, the innermost first.

    Raises:
        ProfileError: A plugin cannot be loaded or called.
        ExtenderError: An extender's URL or certificates are of no use.
    """
    extenders = Extenders(config.extenders)
    built: dict[str, Framework] = {}
    try:
        for profile in config.profiles:
            built[profile.scheduler_name] = build_framework(
                ignoring_managed_resources(profile, config.extenders),
                registry,
                services,
                nominator,
                order,
                config.percentage_of_nodes_to_score,
                extenders,
                options,
                guards,
            )
    except BaseException:
        for one in built.values():
            one.handle.retire()
        raise
    return built


def build_framework(
    config: ProfileConfig,
    registry: PluginRegistry,
    services: Services,
    nominator: Nominator,
    order: NodeOrder,
    percentage: int,
    extenders: Extenders = NO_EXTENDERS,
    options: EngineOptions = _DEFAULT_OPTIONS,
    guards: Sequence[Guard] = (MissingStates(),),
) -> Framework:
    """Build a profile's plugins and stations on the engine's parts.

    Args:
        config: The profile, with all defaults filled in.
        registry: Where plugins are found by name.
        services: The engine's parts.
        nominator: The engine's nominated pods.
        order: The engine's sampling order, shared by its profiles as upstream does.
        percentage: The engine's ``percentageOfNodesToScore``; a profile's own wins.
        extenders: The engine's extenders.
        options: What is set about the engine.
        guards: What goes around each call of a hook, the innermost first.

    Raises:
        ProfileError: A plugin cannot be loaded or called.
    """
    handle = EngineHandle(config.scheduler_name, services, extenders)
    try:
        profile = build_profile(config, registry, lambda _name: handle, guards)
    except BaseException:
        handle.retire()
        raise
    own = config.percentage_of_nodes_to_score
    nodes = services.snapshot.nodes
    decide = partial(
        Algorithm,
        nodes=nodes,
        nominator=nominator,
        order=order,
        percentage=percentage if own is None else own,
        extenders=extenders,
    )
    algorithm = plain = decide(profile)
    signatures = None
    # Whoever looks for mutations wants to see every call.
    if not options.check_mutations:
        signatures = Signatures(profile, nodes)
        algorithm = remember(plain, signatures)
    if options.verify:
        slow = decide(profile.without_twins())
        algorithm = algorithm.checked_by(Recheck(slow, options.verify, signatures))
    handle.attach(plain)
    stations = BindingStations(profile, extenders)
    return Framework(profile, algorithm, plain, stations, handle)


def backoff_policy(config: SchedulerConfig) -> BackoffPolicy:
    """How long failed pods wait."""
    return BackoffPolicy(
        initial_seconds=config.pod_initial_backoff_seconds,
        max_seconds=config.pod_max_backoff_seconds,
    )


def queue_profiles(
    frameworks: Mapping[str, Framework], config: SchedulerConfig
) -> Mapping[str, QueueProfile]:
    """What the queue needs to know of the profiles, by scheduler name."""
    # Nobody can say what would change an extender's mind, so everything may.
    extended = bool(config.extenders)
    return {
        name: _queue_profile(framework.profile, extended=extended)
        for name, framework in frameworks.items()
    }


def _queue_profile(profile: Profile, *, extended: bool) -> QueueProfile:
    sort = profile.plan("queueSort")[0]
    # Only the same plugin with the same arguments gives keys that surely compare.
    args = profile.config.plugin_args.get(sort.plugin)
    return QueueProfile(
        sort_key=sort.hooks["queue_sort"],
        pre_enqueue=[
            (call.plugin, _pre_enqueue(call)) for call in profile.plan("preEnqueue")
        ],
        events={**profile.events, EXTENDER: None} if extended else profile.events,
        sort_group=f"{sort.plugin} {args!r}",
    )


def _asked(call: Call, pod: Pod) -> Status | None:
    answer: object
    try:
        answer = _pre_enqueue(call)(pod)
    except Exception as error:
        return raised(error)
    if answer is None or isinstance(answer, Status):
        return answer
    return unexpected(call.plugin, "pre_enqueue", answer, "Status or None")


def _pre_enqueue(call: Call) -> Callable[[Pod], Status | None]:
    return call.hooks["pre_enqueue"]
