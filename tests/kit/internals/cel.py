"""What tests see of ``quaymaster._api.cel``."""

from quaymaster._api.cel import of_new_selectors, of_stored_selectors

__all__ = ["of_new_selectors", "of_stored_selectors"]
