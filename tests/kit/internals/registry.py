"""What tests see of ``quaymaster._registry``."""

from quaymaster._registry.access import USUAL_KINDS, reads_of_plugin
from quaymaster._registry.plugin_checks import hook_problems

__all__ = ["USUAL_KINDS", "hook_problems", "reads_of_plugin"]
