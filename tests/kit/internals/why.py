"""Internals of `quaymaster._studies.why` that its tests look at."""

from quaymaster._studies.why.node_facts import is_fact, is_protective

__all__ = ["is_fact", "is_protective"]
