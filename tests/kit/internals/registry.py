"""What tests see of ``quaymaster._registry``."""

from quaymaster._registry.access import USUAL_KINDS
from quaymaster._registry.plugin_checks import hook_problems

__all__ = ["USUAL_KINDS", "hook_problems"]
