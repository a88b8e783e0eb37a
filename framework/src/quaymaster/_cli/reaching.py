"""Notices about unsupported connection settings of a configuration."""

from collections.abc import Iterator
from typing import Final

from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._core.config.settings import ClientConnection

__all__ = ["connection_notices"]

_DEFAULT: Final = ClientConnection()
_JSON: Final = "application/json"


def connection_notices(
    connection: ClientConnection, file: str | None
) -> Iterator[Notice]:
    """Yield notices about connection settings that are not supported.

    Args:
        connection: The connection settings for the API server.
        file: The configuration's file.
    """
    content_types = {
        "acceptContentTypes": (connection.accept_content_types, ""),
        "contentType": (connection.content_type, _DEFAULT.content_type),
    }
    for name, (value, default) in content_types.items():
        if value not in (default, _JSON):
            yield Notice(
                reason=NoticeReason.CONFIGURATION,
                where=file or "",
                path=f"clientConnection.{name}",
                message=f"{value} is not supported, {_JSON} is used instead",
            )
