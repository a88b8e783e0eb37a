"""Pods, bindings and leases, read from the audit log of an API server."""

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Final

import attrs
import msgspec

__all__ = ["FLAGS", "Binding", "Record"]

FLAGS: Final = (
    f"--audit-policy-file={Path(__file__).with_name('audit-binds.yaml')}",
    "--audit-log-maxsize=4000",
)
"""Flags of an API server with ``audit``, so that it records these requests only."""

_OK: Final = range(200, 300)


class _User(msgspec.Struct):
    username: str = ""


class _Reference(msgspec.Struct, rename="camel"):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _Answer(msgspec.Struct):
    code: int = 0


class _Event(msgspec.Struct, rename="camel"):
    stage: str
    request_received_timestamp: dt.datetime
    stage_timestamp: dt.datetime
    user: _User
    object_ref: _Reference = msgspec.field(default_factory=_Reference)
    response_status: _Answer = msgspec.field(default_factory=_Answer)


@attrs.frozen
class Binding:
    """A request to bind a pod, with its response.

    Attributes:
        pod: Its namespace and name.
        user: The user who sent it.
        received: When the server received it, in seconds since the epoch.
        answered: When the response was ready.
        code: The HTTP status.
    """

    pod: str
    user: str
    received: float
    answered: float
    code: int

    @property
    def is_done(self) -> bool:
        """Whether it has bound the pod."""
        return self.code in _OK


class Record:
    """The part of the audit log that was read.

    Args:
        path: The file.

    Attributes:
        created: Pod -> its creation, in seconds since the epoch.
        binds: All requests to bind, in the order of their responses.
        bound: Pod -> the number of requests that have bound it.
        leases: Time and user of each write of a lease, without those of the API server.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0
        self._decoder = msgspec.json.Decoder(_Event)
        self.created: dict[str, float] = {}
        self.binds: list[Binding] = []
        self.bound: Counter[str] = Counter()
        self.leases: list[tuple[float, str]] = []

    def forget(self) -> None:
        """Read the log to its end, and drop everything except the last leader."""
        self.read()
        self.created.clear()
        self.binds.clear()
        self.bound.clear()
        del self.leases[:-1]

    def read(self) -> "Record":
        """Read the new part of the log."""
        if not self._path.exists():
            return self
        with self._path.open("rb") as lines:
            lines.seek(self._place)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._place += len(line)
                self._note(self._decoder.decode(line))
        return self

    def waits(self) -> list[float]:
        """Return the seconds from creation to binding of each pod, sorted."""
        return sorted(
            bind.answered - self.created[bind.pod]
            for bind in self.binds
            if bind.is_done and bind.pod in self.created
        )

    def _note(self, event: _Event) -> None:
        answered = event.stage_timestamp.timestamp()
        received = event.request_received_timestamp.timestamp()
        code, user, about = event.response_status.code, event.user, event.object_ref
        pod = f"{about.namespace}/{about.name}"
        if event.stage not in ("ResponseComplete", "Panic"):
            return
        if about.subresource == "binding":
            bind = Binding(pod, user.username, received, answered, code)
            self.binds.append(bind)
            self.bound[pod] += bind.is_done
        elif code in _OK and about.resource == "pods":
            self.created[pod] = answered
        elif about.resource == "leases" and code in _OK and not _is_system(user):
            self.leases.append((answered, user.username))


def _is_system(user: _User) -> bool:
    return user.username.startswith("system:")
