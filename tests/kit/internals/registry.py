"""What tests see of ``quaymaster._registry``."""

from quaymaster._registry.plugin_checks import hook_problems

__all__ = ["hook_problems"]
