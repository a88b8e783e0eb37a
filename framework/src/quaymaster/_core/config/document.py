"""A configuration as users write it, before it is merged and expanded.

Mirrors ``KubeSchedulerConfiguration`` (k8s.io/kube-scheduler v0.36, ``config/v1``).
"""

from collections.abc import Mapping

import attrs

from quaymaster._core.config.fields import integer, matching
from quaymaster._core.config.model import RANDOM
from quaymaster._core.config.settings import ClientConnection, Extender, LeaderElection

__all__ = [
    "API_VERSION",
    "KIND",
    "Document",
    "PluginConfig",
    "PluginRef",
    "PluginSet",
    "ProfileDocument",
]

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"

# Upstream accepts some weights below 0, since it checks only whether totals overflow.
_WEIGHT = integer(0, 2**31 - 1)
_NAME = matching(".+", "the name of a plugin")
_ALL = 100


@attrs.frozen(kw_only=True)
class PluginRef:
    """Names a plugin to enable or disable.

    Attributes:
        name: The plugin's name; in ``disabled`` also ``*`` for all of them.
        weight: The factor of its scores; 0 means 1.
    """

    name: str = attrs.field(validator=_NAME)
    weight: int | None = attrs.field(default=None, validator=_WEIGHT)


@attrs.frozen(kw_only=True)
class PluginSet:
    """The changes of a profile at one extension point.

    Attributes:
        enabled: Plugins to call, in this order, besides the default ones.
        disabled: Default plugins not to call.
    """

    enabled: tuple[PluginRef, ...] = ()
    disabled: tuple[PluginRef, ...] = ()


@attrs.frozen(kw_only=True)
class PluginConfig:
    """The arguments of one plugin.

    Attributes:
        name: The plugin's name.
        args: Its arguments, as described by its arguments class.
    """

    name: str = attrs.field(validator=_NAME)
    args: object = None


@attrs.frozen(kw_only=True)
class ProfileDocument:
    """One profile.

    Attributes:
        scheduler_name: The name by which pods choose it, in ``spec.schedulerName``.
        percentage_of_nodes_to_score: Overrides the value of the whole configuration.
        tie_breaker: Chooses among the nodes with the highest total: random, name (the
            smallest name), or a plugin. kube-scheduler does not have this field.
        plugins: The plugins that it calls, by extension point.
        plugin_config: The arguments of its plugins.
    """

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: int | None = attrs.field(
        default=None, validator=integer(0, _ALL)
    )
    tie_breaker: str = RANDOM
    plugins: Mapping[str, PluginSet] = attrs.field(factory=dict)
    plugin_config: tuple[PluginConfig, ...] = ()


@attrs.frozen(kw_only=True)
class Document:
    """The configuration of a scheduler.

    Attributes:
        api_version: The format's group and version.
        kind: The format's name.
        parallelism: Accepted for compatibility.
        leader_election: How replicas agree on the active one.
        client_connection: The connection to the API server.
        enable_profiling: Accepted for compatibility.
        enable_contention_profiling: Accepted for compatibility.
        percentage_of_nodes_to_score: The percentage of all nodes that, once feasible,
            are enough to start scoring. The default, and 0, mean all nodes.
        pod_initial_backoff_seconds: The first wait of a pod that was rejected.
        pod_max_backoff_seconds: The longest wait of a pod that was rejected.
        profiles: The profiles; by default the default profile.
        feature_gates: Feature gates that differ from their defaults; those of the
            caller, such as ``--feature-gates``, override them. kube-scheduler has only
            the flag.
        extenders: Webhooks that take part in every profile's decisions.
        delay_cache_until_active: Whether a replica starts watches only as the leader.
    """

    api_version: str
    kind: str
    # The defaults from here on are those of SetDefaults_KubeSchedulerConfiguration
    # (pkg/scheduler/apis/config/v1/defaults.go). Only percentageOfNodesToScore means
    # something else.
    parallelism: int = attrs.field(default=16, validator=integer(1, 2**31 - 1))
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    percentage_of_nodes_to_score: int = attrs.field(
        default=0, validator=integer(0, _ALL)
    )
    pod_initial_backoff_seconds: int = attrs.field(default=1, validator=integer(1))
    pod_max_backoff_seconds: int = 10
    profiles: tuple[ProfileDocument, ...] = ()
    feature_gates: Mapping[str, bool] = attrs.field(factory=dict)
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
