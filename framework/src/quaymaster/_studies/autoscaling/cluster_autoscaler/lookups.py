"""How objects of the cluster are found."""

from collections.abc import Callable
from typing import TypeAlias

from quaymaster._api.objects import ApiObject

__all__ = ["FindFn"]

FindFn: TypeAlias = Callable[[type[ApiObject], str], ApiObject | None]
"""Returns an object by kind and key, or None."""
