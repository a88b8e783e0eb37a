"""The credentials that a client sends to an API server, and their renewal."""

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
    """The credentials of one request.

    Attributes:
        authorization: The ``Authorization`` header, or empty.
        certificate: Its certificate, if any.
        key: The key of the certificate.
    """

    authorization: str
    certificate: Pem
    key: Pem


class Credentials:
    """The credentials of an access.

    Args:
        access: The access that names their source.
        now: Returns the seconds since the epoch, for credentials that expire.
        issuer: Runs the credential program, if any; by default for these credentials
            alone.
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
        """Return the credentials of the next request.

        Raises:
            CredentialsError: A file or a program did not return any.
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
        """Get other credentials, because the server has refused these.

        Returns:
            Whether there can be other credentials.

        Raises:
            CredentialsError: The program did not return any.
        """
        access = self._access
        if access.exec is not None:
            # With the refused ones, since another client of the issuer may have renewed
            # them.
            self._issued = self._issuer.issued(access, access.exec, self._issued)
        # The kubelet, for example, replaces the file of a service account's token.
        return access.exec is not None or bool(access.token_file)

    def _current(self) -> Issued | None:
        """Return the program's credentials; run it again once they have expired."""
        access = self._access
        if access.exec is not None:
            self._issued = self._issuer.issued(access, access.exec)
        return self._issued

    def _token(self) -> str:
        """Return the token; its file is replaced before the token expires."""
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
