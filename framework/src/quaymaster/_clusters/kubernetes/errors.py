"""The errors of talking to an API server."""

from quaymaster._base.errors import QuaymasterError, one_line

__all__ = ["ApiError", "CredentialsError"]


class CredentialsError(QuaymasterError):
    """There are no credentials to show: a file or a program does not give any."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(one_line(where, message))


class ApiError(QuaymasterError):
    """The API server could not be asked, or refused.

    Attributes:
        code: The HTTP status; 0 if there was no answer.
        reason: The reason that the server gives, such as ``Forbidden``; may be empty.
        is_in_doubt: Whether the request may have taken effect all the same: it was
            sent, and the answer was lost, or says only that the server failed.
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
