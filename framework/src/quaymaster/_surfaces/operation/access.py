"""Authorises requests, or rejects them with upstream's messages.

Mirrors the filters of k8s.io/apiserver v0.36 (``pkg/endpoints/filters``) as
kube-scheduler uses them for its pages.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._surfaces.operation.pages import Reply, json_reply, text_reply
from quaymaster._surfaces.operation.users import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    Reviewer,
    User,
)

__all__ = ["ALWAYS_ALLOWED", "Gate", "client_of"]

ALWAYS_ALLOWED: Final = frozenset({"/healthz", "/livez", "/readyz"})
"""The paths that need no rights."""

_log = logging.getLogger(__name__)


@attrs.frozen
class Gate:
    """Decides who may see a page.

    Attributes:
        reviewer: Reviews tokens and rights. Without one, only clients with a
            certificate of the group ``system:masters`` see more than `ALWAYS_ALLOWED`.
    """

    reviewer: Reviewer | None

    def refusal(
        self, method: str, path: str, authorization: str, client: User | None
    ) -> Reply | None:
        """Return the response to a rejected request; None if it is allowed.

        Args:
            method: The HTTP method.
            path: The path, without the query.
            authorization: The ``Authorization`` header, or empty.
            client: The user of the client's certificate, if any.
        """
        user = self._user(authorization, client)
        if user is None:
            return _status(HTTPStatus.UNAUTHORIZED, "Unauthorized")
        # After the authentication, as in upstream's chain of filters: an invalid token
        # is rejected even for these paths.
        if path in ALWAYS_ALLOWED or MASTERS in user.groups:
            return None
        return self._unless_allowed(user, method.lower(), path)

    def _user(self, authorization: str, client: User | None) -> User | None:
        """Return the user of a request; None if its token is invalid."""
        if client is not None:
            return client
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        if self.reviewer is None:
            return None
        try:
            return self.reviewer.user_of(token.strip())
        except QuaymasterError as error:
            _log.error("a token cannot be reviewed: %s", error)
            return None

    def _unless_allowed(self, user: User, verb: str, path: str) -> Reply | None:
        allowed, reason = False, ""
        if self.reviewer is not None:
            try:
                verdict = self.reviewer.may(user, verb, path)
            except QuaymasterError as error:
                _log.error("the rights of %s cannot be reviewed: %s", user.name, error)
                text = f'Internal Server Error: "{path}": rights cannot be reviewed\n'
                return text_reply(text, HTTPStatus.INTERNAL_SERVER_ERROR)
            allowed, reason = verdict.is_allowed, verdict.reason
        if allowed:
            return None
        sentence = f'forbidden: User "{user.name}" cannot {verb} path "{path}"'
        message = f"{sentence}: {reason}" if reason else sentence
        return _status(HTTPStatus.FORBIDDEN, message)


def _status(status: HTTPStatus, message: str) -> Reply:
    """Answer with the API's ``Status`` object."""
    tree: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": status.phrase,
        "details": {},
        "code": status.value,
    }
    return json_reply(tree, status)


def client_of(certificate: Mapping[str, Any] | None) -> User | None:
    """Return the user of a client's certificate: its CN, with the groups of its O.

    Args:
        certificate: The verified certificate, as in `ssl.SSLSocket.getpeercert`.
    """
    parts = [pair for part in (certificate or {}).get("subject", ()) for pair in part]
    names = [value for key, value in parts if key == "commonName"]
    if not names:
        return None
    groups = [value for key, value in parts if key == "organizationName"]
    return User(names[0], groups=(*groups, AUTHENTICATED))
