"""The pages of a scheduler's server: what is asked, and what is answered."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, Protocol

import attrs
import msgspec

__all__ = ["NOT_FOUND", "TEXT", "Page", "Query", "Reply", "json_reply", "text_reply"]

TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"

Query = Mapping[str, Sequence[str]]
"""Names behind the question mark, with all their values."""


@attrs.frozen
class Reply:
    """An answer.

    Attributes:
        status: The HTTP status.
        body: The body.
        content_type: What the body is.
    """

    status: HTTPStatus
    body: bytes
    content_type: str = TEXT


class Page(Protocol):
    """Answers the requests for one path, on any thread."""

    def __call__(self, query: Query, /) -> Reply:
        """Answer a GET.

        Args:
            query: What stands behind the question mark.
        """


def text_reply(text: str, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    """Answer with a text."""
    return Reply(status, text.encode())


def json_reply(value: object, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    """Answer with a value that JSON can hold."""
    return Reply(status, msgspec.json.encode(value), _JSON)


NOT_FOUND: Final = text_reply("404 page not found\n", HTTPStatus.NOT_FOUND)
