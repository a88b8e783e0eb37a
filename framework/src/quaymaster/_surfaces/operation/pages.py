"""The pages of a scheduler's server: requests and responses."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, Protocol

import attrs
import msgspec

__all__ = ["NOT_FOUND", "TEXT", "Page", "Query", "Reply", "json_reply", "text_reply"]

TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"

Query = Mapping[str, Sequence[str]]
"""The query parameters, with all their values."""


@attrs.frozen
class Reply:
    """A response.

    Attributes:
        status: The HTTP status.
        body: The body.
        content_type: The type of the body.
    """

    status: HTTPStatus
    body: bytes
    content_type: str = TEXT


class Page(Protocol):
    """Answers the requests for one path, on any thread."""

    def __call__(self, query: Query, /) -> Reply:
        """Answer a GET.

        Args:
            query: The query parameters.
        """


def text_reply(text: str, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    """Answer with a text."""
    return Reply(status, text.encode())


def json_reply(value: object, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    """Answer with a value as JSON."""
    return Reply(status, msgspec.json.encode(value), _JSON)


NOT_FOUND: Final = text_reply("404 page not found\n", HTTPStatus.NOT_FOUND)
