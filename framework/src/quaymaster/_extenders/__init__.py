"""Webhooks that take part in decisions, called over HTTP."""

from quaymaster._extenders.chain import (
    EXTENDER,
    NO_EXTENDERS,
    Extenders,
    ExtenderVerdicts,
)
from quaymaster._extenders.managed import ignoring_managed_resources

__all__ = [
    "EXTENDER",
    "NO_EXTENDERS",
    "ExtenderVerdicts",
    "Extenders",
    "ignoring_managed_resources",
]
