"""A debug mode: find out which plugin changes what it may only read."""

from quaymaster._mutations.guard import MutationGuard
from quaymaster._mutations.returned import ReturnedArrays

__all__ = ["MutationGuard", "ReturnedArrays"]
