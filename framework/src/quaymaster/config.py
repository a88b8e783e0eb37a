"""``KubeSchedulerConfiguration`` files, and validation of plugin arguments."""

from quaymaster._base.versions.kubernetes import (
    KUBERNETES_VERSIONS,
    Kubernetes,
    KubernetesError,
)
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.dump import dump_config
from quaymaster._core.config.errors import ArgsError, ConfigErrors, ReloadError
from quaymaster._core.config.fields import (
    ZERO_MEANS_DEFAULT,
    Rule,
    duration,
    each,
    integer,
    matching,
    non_empty,
    number,
    one_of,
    qualified_name,
)
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import (
    default_config,
    load_config,
    parse_config,
    shipped_profiles,
)
from quaymaster._core.config.model import EnabledPlugin, ProfileConfig, SchedulerConfig
from quaymaster._core.config.schema import config_schema
from quaymaster._core.config.settings import (
    ClientConnection,
    Extender,
    ExtenderTLS,
    LeaderElection,
    ManagedResource,
)
from quaymaster._core.config.watcher import ConfigObserver, ConfigWatcher, Reloadable

__all__ = [
    "KUBERNETES_VERSIONS",
    "ZERO_MEANS_DEFAULT",
    "ArgsError",
    "ClientConnection",
    "ConfigChanges",
    "ConfigErrors",
    "ConfigObserver",
    "ConfigWatcher",
    "EnabledPlugin",
    "Extender",
    "ExtenderTLS",
    "Kubernetes",
    "KubernetesError",
    "LeaderElection",
    "ManagedResource",
    "ProfileConfig",
    "ReloadError",
    "Reloadable",
    "Rule",
    "SchedulerConfig",
    "config_schema",
    "declared_kinds",
    "default_config",
    "dump_config",
    "duration",
    "each",
    "integer",
    "load_config",
    "matching",
    "non_empty",
    "number",
    "one_of",
    "parse_config",
    "qualified_name",
    "shipped_profiles",
]
