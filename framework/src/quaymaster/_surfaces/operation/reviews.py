"""Reviews tokens and rights by the API server.

Mirrors the delegated authentication and authorisation of k8s.io/apiserver v0.36
(``pkg/authentication/authenticatorfactory``, ``pkg/authorization/authorizerfactory``)
with their TokenReviews and SubjectAccessReviews.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

import attrs
import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._surfaces.operation.users import AUTHENTICATED, Reviewer, User, Verdict

__all__ = ["ApiReviewer", "CachedReviewer", "ReviewError"]

_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESSES: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_SECONDS_TO_REMEMBER: Final = 10.0  # upstream's
_MOST_REMEMBERED: Final = 4096  # far more than there are clients

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ReviewError(QuaymasterError):
    """The API server's response to a review is invalid."""


class _UserInfo(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _TokenStatus(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _UserInfo = _UserInfo()


class _TokenReview(msgspec.Struct, frozen=True):
    status: _TokenStatus = _TokenStatus()


class _AccessStatus(msgspec.Struct, frozen=True):
    allowed: bool = False
    reason: str = ""


class _AccessReview(msgspec.Struct, frozen=True):
    status: _AccessStatus = _AccessStatus()


class ApiReviewer:
    """Sends reviews to an API server; implements `Reviewer`.

    Args:
        post: Sends a body to a path of the API server, and returns that of the
            response. Any thread may call it. It raises a `QuaymasterError` on failure.
    """

    def __init__(self, post: Callable[[str, bytes], bytes]) -> None:
        self._post = post

    def user_of(self, token: str) -> User | None:
        """See `Reviewer`."""
        kind = ("authentication.k8s.io/v1", "TokenReview")
        review = self._ask(_TOKENS, kind, {"token": token}, _TokenReview)
        if not review.status.authenticated:
            return None
        user_info = review.status.user
        groups = (
            # Upstream adds this group as well (`AuthenticatedGroupAdder`).
            *(group for group in user_info.groups if group != AUTHENTICATED),
            AUTHENTICATED,
        )
        return User(user_info.username, user_info.uid, groups, user_info.extra)

    def may(self, user: User, verb: str, path: str) -> Verdict:
        """See `Reviewer`."""
        spec = {
            "nonResourceAttributes": {"path": path, "verb": verb},
            "user": user.name,
            "uid": user.uid,
            "groups": user.groups,
            "extra": user.extra,
        }
        kind = ("authorization.k8s.io/v1", "SubjectAccessReview")
        status = self._ask(_ACCESSES, kind, spec, _AccessReview).status
        return Verdict(status.allowed, status.reason)

    def _ask(
        self, path: str, kind: tuple[str, str], spec: dict[str, Any], answer: type[V]
    ) -> V:
        tree = {"apiVersion": kind[0], "kind": kind[1], "spec": spec}
        body = self._post(path, msgspec.json.encode(tree))
        try:
            return msgspec.json.decode(body, type=answer)
        except msgspec.DecodeError as error:
            raise ReviewError(f"{path}: {error}") from error


class CachedReviewer:
    """Caches results for ten seconds, as upstream does; implements `Reviewer`.

    Of a token, only a hash is kept.

    Args:
        reviewer: Reviews what is not cached.
        now: Returns the seconds of a monotonic clock.
    """

    def __init__(
        self, reviewer: Reviewer, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._reviewer = reviewer
        self._users = _Cache[bytes, User | None](now)
        self._verdicts = _Cache[bytes, Verdict](now)

    def user_of(self, token: str) -> User | None:
        """See `Reviewer`."""
        # The token itself is not kept in memory.
        key = hashlib.sha256(token.encode()).digest()
        return self._users.get(key, lambda: self._reviewer.user_of(token))

    def may(self, user: User, verb: str, path: str) -> Verdict:
        """See `Reviewer`."""
        key = msgspec.json.encode((attrs.astuple(user), verb, path))
        return self._verdicts.get(key, lambda: self._reviewer.may(user, verb, path))


class _Cache(Generic[K, V]):
    """A cache whose entries expire; errors are not cached."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._answers: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K, ask: Callable[[], V]) -> V:
        with self._lock:
            cached = self._answers.get(key)
        if cached is not None and self._now() < cached[0]:
            return cached[1]
        # Without the lock, so that a slow review does not hold up others.
        answer = ask()
        with self._lock:
            self._answers[key] = (self._now() + _SECONDS_TO_REMEMBER, answer)
            self._answers.move_to_end(key)
            while len(self._answers) > _MOST_REMEMBERED:
                self._answers.popitem(last=False)
        return answer
