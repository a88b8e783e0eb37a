"""What tests see of ``quaymaster._core.registry``."""

from quaymaster._core.registry.access import USUAL_KINDS, reads_of_plugin
from quaymaster._core.registry.plugin_checks import hook_problems

__all__ = ["USUAL_KINDS", "hook_problems", "reads_of_plugin"]
