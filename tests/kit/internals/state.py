"""What tests see of ``quaymaster._state``."""

from quaymaster._state.cache import AssumeError, Cache

__all__ = ["AssumeError", "Cache"]
