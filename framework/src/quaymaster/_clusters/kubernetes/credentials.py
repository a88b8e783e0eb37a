"""What a client shows to an API server, and when it gets something newer."""

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from quaymaster._clusters.kubernetes.access import Access, Pem
from quaymaster._clusters.kubernetes.errors import CredentialsError
from quaymaster._clusters.kubernetes.exec_program import Issued
from quaymaster._clusters.kubernetes.issuing import Issuer

__all__ = ["Credentials", "Shown"]


class Shown(NamedTuple):
    """What a client shows with one request.

    Attributes:
        authorization: The header of that name; may be empty.
        certificate: Its certificate, if any.
        key: The key of the certificate.
    """

    authorization: str
    certificate: Pem
    key: Pem


class Credentials:
    """The credentials of an access.

    Args:
        access: Where they come from.
        now: Seconds since the epoch, for what expires.
        issuer: Asks the program of the access, if there is one; by default for these
            credentials alone.
    """

    def __init__(
        self,
        access: Access,
        *,
        now: Callable[[], float] = time.time,
        issuer: Issuer | None = None,
    ) -> None:
        self._access = access
        self._issuer = issuer or Issuer(now)
        self._issued: Issued | None = None

    def shown(self) -> "Shown":
        """What to show with the next request.

        Raises:
            CredentialsError: A file or a program had to give it, and did not.
        """
        access, issued = self._access, self._current()
        if issued is not None:
            return Shown(_bearer(issued.token), issued.certificate, issued.key)
        authorization = _bearer(self._token())
        if not authorization and (access.username or access.password):
            pair = f"{access.username}:{access.password}".encode()
            authorization = f"Basic {base64.b64encode(pair).decode()}"
        return Shown(authorization, access.certificate, access.key)

    def renew(self) -> bool:
        """Get other credentials, since the server has refused these.

        Returns:
            Whether there can be others at all.

        Raises:
            CredentialsError: A program had to give them, and did not.
        """
        access = self._access
        if access.exec is not None:
            self._issued = self._issuer.issued(access, access.exec, self._issued)
        return access.exec is not None or bool(access.token_file)

    def _current(self) -> Issued | None:
        """What the program gave, which is asked again once that has expired."""
        access = self._access
        if access.exec is not None:
            self._issued = self._issuer.issued(access, access.exec)
        return self._issued

    def _token(self) -> str:
        """The token: that in the file, which is written anew before it expires."""
        access = self._access
        if not access.token_file:
            return access.token
        try:
            token = Path(access.token_file).read_text("utf-8").strip()
        except (OSError, ValueError) as error:
            if access.token:
                return access.token
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise CredentialsError(access.token_file, why) from error
        if not token and not access.token:
            raise CredentialsError(access.token_file, "expected a token, got nothing")
        return token or access.token


def _bearer(token: str) -> str:
    return f"Bearer {token}" if token else ""
