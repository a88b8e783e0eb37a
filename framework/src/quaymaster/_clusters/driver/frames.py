"""What the engine's process and the process for input and output tell each other."""

import enum
from typing import TypeAlias

import msgspec

__all__ = [
    "Alive",
    "Answered",
    "Asked",
    "Begin",
    "Changed",
    "Counted",
    "Current",
    "Durations",
    "Election",
    "Follow",
    "FromEngine",
    "Lane",
    "Leads",
    "LeaseLost",
    "LeaseSeen",
    "Leave",
    "Listing",
    "Message",
    "Note",
    "Reference",
    "Runs",
    "Spec",
    "ToEngine",
    "Trouble",
]


class Message(msgspec.Struct, array_like=True, tag=True):
    """Something that one process tells the other."""


class Lane(enum.StrEnum):
    """Requests that share connections and limits."""

    BIND = "bind"
    STATUS = "status"
    READ = "read"
    EVENT = "event"


class Election(msgspec.Struct, array_like=True):
    """A leader election to take part in; see `quaymaster.config.LeaderElection`.

    Attributes:
        identity: A name that no other process has.
        name: The lease's name.
        namespace: Its namespace.
        lease_seconds: How long the others wait before they take over.
        renew_seconds: How long the leader tries to renew before it gives up.
        retry_seconds: The pause between two tries.
    """

    identity: str
    name: str
    namespace: str
    lease_seconds: float
    renew_seconds: float
    retry_seconds: float


class Begin(Message, kw_only=True):
    """The first message: how to reach the API server.

    Attributes:
        kubeconfig: The one kubeconfig file to read, if any.
        context: The context to take; empty: the current one.
        qps: How many requests a second may leave; 0 for as many as the server takes.
        burst: How many may leave at once.
        election: The election to take part in; without one, writes leave at once.
        log_format: The format of the log, such as ``json``.
    """

    kubeconfig: str | None = None
    context: str = ""
    qps: float = 0.0
    burst: int = 0
    election: Election | None = None
    log_format: str = "text"


class Follow(Message):
    """Asks for the objects of a resource, and for what becomes of them.

    Attributes:
        resource: What messages about it call it.
        path: Its path, such as ``/api/v1/pods``.
        are_pods: Whether its objects are pods, which are packed.
    """

    resource: int
    path: str
    are_pods: bool = False


class Asked(Message):
    """A request to be made.

    Attributes:
        call: What the answer calls it; 0 wants no answer.
        lane: The lane that it takes, see `Lane`.
        method: Such as ``POST``.
        target: The path with its query.
        body: What is sent.
        content_type: What the body is.
        key: What it is about; empty for nothing. Requests with one key leave one after
            the other.
        may_repeat: Whether it may be sent twice without harm.
        wants_body: Whether the content of a good answer is of use.
    """

    call: int
    lane: Lane
    method: str
    target: str
    body: bytes = b""
    content_type: str = "application/json"
    key: str = ""
    may_repeat: bool = False
    wants_body: bool = True


class Reference(msgspec.Struct, array_like=True):
    """An object that an Event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str


class Note(Message):
    """An Event to be written, see `quaymaster.cluster.EventNote`."""

    regarding: Reference
    kind: str
    reason: str
    action: str
    note: str
    reporter: str
    related: Reference | None = None


class Alive(Message):
    """The engine has taken a turn."""


class Runs(Message):
    """The engine's process runs, be it in the midst of a turn."""


class Leave(Message):
    """Asks the process to end once what has been asked is answered.

    The lease is given back last.

    Attributes:
        seconds: After how long nothing leaves any more.
    """

    seconds: float


class Listing(Message):
    """A list begins anew: what has been told of it does not hold."""

    resource: int


class Changed(Message):
    """Some of what there is, until that is `Current`; then what has changed.

    Attributes:
        changes: Packed, see `packing`.
    """

    resource: int
    changes: bytes


class Current(Message):
    """All of what there is has been told; from here on there are changes."""

    resource: int


class Spec(Message):
    """A pod's spec, which pods have by its number from here on.

    Attributes:
        number: Its number; another spec may have had it.
        text: The spec, packed.
    """

    resource: int
    number: int
    text: bytes


class Trouble(Message):
    """A resource cannot be followed right now; it is tried again.

    Attributes:
        why: The error; empty: it is over.
        code: The HTTP status; 0 if there was none.
    """

    resource: int
    why: str
    code: int = 0


class Answered(Message):
    """What came of a request.

    Attributes:
        call: Which one.
        code: The HTTP status; 0 if no answer came.
        body: The content of the answer, if anybody wants it.
        why: The error, if any.
        is_in_doubt: Whether it may have taken effect in spite of the error.
    """

    call: int
    code: int
    body: bytes = b""
    why: str = ""
    is_in_doubt: bool = False


class Durations(msgspec.Struct, array_like=True):
    """How long requests took.

    Attributes:
        counts: How many were in each bucket, the last one without a bound.
        total: The sum of all, in seconds.
    """

    counts: list[int]
    total: float


class Counted(Message):
    """The requests since the start; told now and then.

    Attributes:
        requests: (code, method) -> how many were answered so.
        durations: Method -> how long they took.
        dropped_events: How many Events were not written, since too many waited.
    """

    requests: dict[tuple[str, str], int]
    durations: dict[str, Durations]
    dropped_events: int = 0


class Leads(Message):
    """The lease is acquired: writes may leave from now on."""


class LeaseSeen(Message):
    """The state of the election.

    See `quaymaster._clusters.election.candidate.ElectionStatus`.
    """

    name: str
    is_leader: bool
    leader: str
    transitions: int
    slow_renewals: int


class LeaseLost(Message):
    """The lease is lost, and no write leaves any more: the engine is to end.

    Attributes:
        why: The reason.
    """

    why: str


FromEngine: TypeAlias = Begin | Follow | Asked | Note | Alive | Runs | Leave
ToEngine: TypeAlias = (
    Listing
    | Changed
    | Current
    | Spec
    | Trouble
    | Answered
    | Leads
    | LeaseSeen
    | LeaseLost
    | Counted
)
