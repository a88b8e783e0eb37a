"""What tests see of ``quaymaster._api.cel`` and ``kubernetes_cel``."""

from kubernetes_cel.libraries.regexes import Pattern, prepared
from quaymaster._api.cel import of_new_selectors, of_stored_selectors

__all__ = ["Pattern", "of_new_selectors", "of_stored_selectors", "prepared"]
