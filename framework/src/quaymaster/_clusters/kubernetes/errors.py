"""The errors of requests to an API server."""

from quaymaster._base.errors import QuaymasterError, one_line

__all__ = ["ApiError", "CredentialsError"]


class CredentialsError(QuaymasterError):
    """There are no credentials, because a file or a program does not return any."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(one_line(where, message))


class ApiError(QuaymasterError):
    """The API server could not be reached, or refused.

    Attributes:
        code: The HTTP status; 0 without a response.
        reason: The server's reason, such as ``Forbidden``, or empty.
        is_in_doubt: Whether the request may nevertheless have taken effect: it was
            sent, and the response was lost or reports a failure of the server (5xx).
    """

    def __init__(
        self,
        where: str,
        message: str,
        *,
        code: int = 0,
        reason: str = "",
        is_in_doubt: bool = False,
    ) -> None:
        self.code = code
        self.reason = reason
        self.is_in_doubt = is_in_doubt
        super().__init__(one_line(where, message))
