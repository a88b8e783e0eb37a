"""A debug mode: find out which plugin changes what it may only read."""

from quaymaster._mutations.guard import MutationGuard

__all__ = ["MutationGuard"]
