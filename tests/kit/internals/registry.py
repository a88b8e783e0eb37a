"""What tests see of ``quaymaster._core.registry``."""

from quaymaster._core.registry.access import USUAL_KINDS, reads_of_plugin
from quaymaster._core.registry.plugin_checks import hook_problems
from quaymaster._core.registry.sdk_range import range_problem, sdk_version

__all__ = [
    "USUAL_KINDS",
    "hook_problems",
    "range_problem",
    "reads_of_plugin",
    "sdk_version",
]
