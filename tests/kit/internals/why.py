"""Internals of `quaymaster._studies.why` that its tests look at."""

from quaymaster._studies.why.changes import yaml_scalar
from quaymaster._studies.why.node_facts import can_be_ignored, is_fact, is_protective

__all__ = ["can_be_ignored", "is_fact", "is_protective", "yaml_scalar"]
