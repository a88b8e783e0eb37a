"""Checks results of commands against their types."""

from typing import Any

import msgspec

from tests.kit.internals.cli import RESULTS

__all__ = ["checked_result"]

_TYPES = {result.name: result.type for result in RESULTS}


def checked_result(name: str, document: object) -> Any:  # noqa: ANN401 - any type
    """Return a result as an object of its type.

    Args:
        name: The name of its schema.
        document: The result as plain data.

    Raises:
        msgspec.ValidationError: A key is missing, or there is another one, or a value
            has another type.
    """
    return msgspec.convert(document, _TYPES[name], strict=True)
