"""Scheduler configurations: ``KubeSchedulerConfiguration`` as users have it.

`load_config` reads a file, fills in defaults, expands ``multiPoint`` and checks
everything against the installed plugins; all mistakes come together in one
`ConfigErrors`. `ConfigWatcher` applies a file again whenever it has changed. The format
is ``kubescheduler.config.k8s.io/v1`` of Kubernetes v1.36; its defaults hold, except
that ``percentageOfNodesToScore`` is 100.

Authors of plugins describe their arguments with an attrs class and the validators of
this module, which check values and describe them in the JSON Schema::

    @attrs.frozen(kw_only=True)
    class TidesArgs:
        low: int = attrs.field(default=0, validator=integer(0, 900))
        high: int = attrs.field(default=300, validator=integer(0, 900))

        def validate(self) -> Iterator[ArgsError]:
            if self.low > self.high:
                yield ArgsError("low", f"expected at most high ({self.high})")

    class Tides:
        Args: ClassVar = TidesArgs

A file writes the fields in camel case. The class's docstring describes them in the
schema, from its section of attributes. ``validate`` is optional, and is called only for
arguments from a file.
"""

from quaymaster._config.changes import ConfigChanges
from quaymaster._config.dump import dump_config
from quaymaster._config.errors import ArgsError, ConfigErrors, ReloadError
from quaymaster._config.fields import (
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
from quaymaster._config.load import (
    default_config,
    load_config,
    parse_config,
    shipped_profiles,
)
from quaymaster._config.model import EnabledPlugin, ProfileConfig, SchedulerConfig
from quaymaster._config.schema import config_schema
from quaymaster._config.settings import (
    ClientConnection,
    Extender,
    ExtenderTLS,
    LeaderElection,
    ManagedResource,
)
from quaymaster._config.watcher import ConfigObserver, ConfigWatcher, Reloadable

__all__ = [
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
    "LeaderElection",
    "ManagedResource",
    "ProfileConfig",
    "ReloadError",
    "Reloadable",
    "Rule",
    "SchedulerConfig",
    "config_schema",
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
