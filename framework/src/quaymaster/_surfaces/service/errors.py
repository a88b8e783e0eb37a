"""The errors of requests, and their responses."""

from collections.abc import Iterable

import msgspec

from quaymaster._base.errors import Problem, QuaymasterError

__all__ = ["DeadlineError", "RequestError", "problem_details"]


class RequestError(QuaymasterError):
    """A request that cannot be answered.

    Attributes:
        status: The status code of the response.
        title: The kind of error.
        problems: All mistakes of the request, with their places.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        problems: Iterable[Problem] = (),
    ) -> None:
        self.status = status
        self.title = title
        self.problems = tuple(problems)
        super().__init__(detail or "\n".join(map(str, self.problems)))


class DeadlineError(RequestError):
    """A request that took too long."""

    def __init__(self, seconds: float) -> None:
        detail = f"no result within {seconds:g} s (--timeout raises the limit)"
        super().__init__(503, "Timeout", detail)


def problem_details(error: RequestError) -> bytes:
    """Return the body of an error response (RFC 9457)."""
    document = {
        "type": "about:blank",
        "title": error.title,
        "status": error.status,
        "detail": str(error),
        "problems": [
            {"where": entry.where, "path": entry.path, "message": entry.message}
            for entry in error.problems
        ],
    }
    return msgspec.json.encode(document)
