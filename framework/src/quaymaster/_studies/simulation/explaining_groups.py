"""Explains the attempts of a PodGroup: `explain_group`."""

from collections.abc import Iterable

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.ended_groups import explained_group
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.explained_groups import (
    ExplainedGroup,
)
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.group_names import (
    GroupName,
    GroupNotFoundError,
    group_name,
)
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation

__all__ = ["explain_group"]


def explain_group(
    group: str,
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    attempt: WhichAttempt | int = WhichAttempt.AUTO,
    namespace: str = "",
    on_progress: ProgressFn | None = None,
    max_pods: int = MAX_PODS,
    as_it_is: bool = False,
) -> ExplainedGroup:
    """Simulate, and explain the attempts of one PodGroup.

    The feature gate GenericWorkload must be on in the configuration.

    Args:
        group: ``podgroup/NAME`` or ``NAMESPACE/podgroup/NAME``.
        objects: As for `simulate`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `simulate`.
        attempt: The attempt that is shown, by number or by word. By default the last
            one for a group whose quorum is not met, else the one that placed most pods.
        namespace: The only namespace to search; empty for all namespaces.
        on_progress: Called with the progress.
        max_pods: As for `simulate`.
        as_it_is: As for `explain_pod`.

    Raises:
        GroupNotFoundError: No PodGroup or several have that name, the feature gate is
            off, or the group was tried less often.
    """
    requested = group_name(group, namespace)
    if requested is None:
        problem = "expected podgroup/NAME or NAMESPACE/podgroup/NAME"
        raise GroupNotFoundError(group, problem)
    config, registry = with_defaults(config, registry)
    cluster = filled_cluster(
        list(objects), seed, max_pods, kubernetes=config.kubernetes, as_it_is=as_it_is
    )
    with Simulation(cluster, config=config, registry=registry, seed=seed) as run:
        is_tree = config.kubernetes.enabled("CompositePodGroup")
        log = GroupLog(lambda group: is_tree or requested.fits(group.key))
        run.follow_groups(log)
        run.settle(on_progress)
        return _explained(run, requested, log, attempt)


def _explained(
    run: Simulation, requested: GroupName, log: GroupLog, which: WhichAttempt | int
) -> ExplainedGroup:
    key = requested.key_in(run.cluster)
    return explained_group(run, key, log, which)
