"""The integers of the API; larger values cannot be read."""

from typing import Annotated, TypeAlias

from msgspec import Meta

__all__ = ["Int32", "Int64"]

Int32: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""Counts, ports, priorities and weights."""

Int64: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Seconds, bytes and generations."""
