"""A complete configuration, as the engine uses it."""

from collections.abc import Mapping
from typing import Final

import attrs

from quaymaster._base.errors import Problem
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.config.settings import ClientConnection, Extender, LeaderElection

__all__ = [
    "BY_NAME",
    "RANDOM",
    "TIE_BREAKERS",
    "EnabledPlugin",
    "ProfileConfig",
    "SchedulerConfig",
]

RANDOM: Final = "random"
"""The tie breaker that chooses at random, as kube-scheduler does."""

BY_NAME: Final = "name"
"""The tie breaker that chooses the node with the smallest name."""

TIE_BREAKERS: Final = (RANDOM, BY_NAME)
"""The tie breakers that are not plugins."""


@attrs.frozen(kw_only=True)
class EnabledPlugin:
    """One plugin at one extension point.

    Attributes:
        name: The plugin's name.
        weight: The factor of its normalised scores; 1 at extension points without
            weights.
    """

    name: str
    weight: int = 1


@attrs.frozen(kw_only=True)
class ProfileConfig:
    """One profile, with defaults merged and ``multiPoint`` expanded.

    Attributes:
        scheduler_name: The name by which pods choose this profile.
        percentage_of_nodes_to_score: Overrides the scheduler's value, or None.
        tie_breaker: Chooses among the nodes with the highest total: ``random``,
            ``name`` (the smallest name), or the name of a plugin with `break_tie`.
        plugins: Extension point key (``preFilter``) -> its plugins in order, for all
            extension points.
        plugin_args: Plugin name -> an instance of its ``Args``, for every enabled
            plugin that has arguments.
        kubernetes: The version of Kubernetes to follow.
    """

    scheduler_name: str
    percentage_of_nodes_to_score: int | None = None
    tie_breaker: str = RANDOM
    plugins: Mapping[str, tuple[EnabledPlugin, ...]]
    plugin_args: Mapping[str, object]
    kubernetes: Kubernetes = DEFAULT_KUBERNETES

    @property
    def tie_breaking_plugin(self) -> str:
        """The name of the plugin that breaks ties, or empty."""
        return "" if self.tie_breaker in TIE_BREAKERS else self.tie_breaker


@attrs.frozen(kw_only=True)
class SchedulerConfig:
    """A whole scheduler's configuration.

    Attributes:
        parallelism: Accepted for compatibility; the engine is one thread.
        percentage_of_nodes_to_score: The percentage of all nodes that, once feasible,
            are enough to start scoring: 1 to 100. Without a value in the file, or with
            0, it is 100; upstream then chooses 5 to 50 by the number of nodes.
        pod_initial_backoff_seconds: The first wait of a rejected pod.
        pod_max_backoff_seconds: The longest wait of a rejected pod.
        leader_election: How replicas agree on the active one.
        client_connection: The connection to the API server.
        limits_requests: Whether the file itself limits the calls per second. If not,
            `client_connection` has upstream's defaults.
        extenders: Webhooks that take part in decisions.
        enable_profiling: Accepted for compatibility.
        enable_contention_profiling: Accepted for compatibility.
        delay_cache_until_active: Whether a replica starts watches only as the leader.
        profiles: The profiles, in the order of the file; at least one.
        own_gates: The feature gates that only the file sets, and not its reader.
        warnings: Probable mistakes that do not prevent the start.
    """

    parallelism: int = 16
    percentage_of_nodes_to_score: int = 100
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    limits_requests: bool = False
    extenders: tuple[Extender, ...] = ()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
    profiles: tuple[ProfileConfig, ...]
    own_gates: frozenset[str] = frozenset()
    warnings: tuple[Problem, ...] = attrs.field(default=(), eq=False)

    @property
    def kubernetes(self) -> Kubernetes:
        """The version of Kubernetes to follow, the same in all profiles."""
        return self.profiles[0].kubernetes

    @property
    def chosen_kubernetes(self) -> Kubernetes:
        """The version of Kubernetes without the feature gates that the file sets.

        It completes a new content of the file as it has completed this one.
        """
        chosen = self.kubernetes
        if not self.own_gates:
            return chosen
        gates = {
            gate: is_on
            for gate, is_on in chosen.feature_gates.items()
            if gate not in self.own_gates
        }
        return attrs.evolve(chosen, feature_gates=gates)

    def profile(self, scheduler_name: str) -> ProfileConfig | None:
        """Return the profile for a pod's ``spec.schedulerName``, or None."""
        return next(
            (
                profile
                for profile in self.profiles
                if profile.scheduler_name == scheduler_name
            ),
            None,
        )
