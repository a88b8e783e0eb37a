"""The messages between the engine's process and the I/O process."""

import enum
from typing import TypeAlias

import msgspec

__all__ = [
    "Alive",
    "Begin",
    "Changed",
    "Counted",
    "Current",
    "Durations",
    "Election",
    "Finished",
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
    "Request",
    "Response",
    "Runs",
    "Spec",
    "Stopping",
    "Suspect",
    "ToEngine",
    "Trouble",
    "Watched",
]


class Message(msgspec.Struct, array_like=True, tag=True):
    """A message from one process to the other."""


class Lane(enum.StrEnum):
    """Requests that share connections and limits."""

    BIND = "bind"
    STATUS = "status"
    READ = "read"
    EVENT = "event"


class Election(msgspec.Struct, array_like=True):
    """The settings of a leader election; see `quaymaster.config.LeaderElection`.

    Attributes:
        identity: The unique name of this process.
        name: The lease's name.
        namespace: Its namespace.
        lease_seconds: How long the other candidates wait before they take over.
        renew_seconds: How long the leader tries to renew before it gives up.
        retry_seconds: The pause between two attempts.
    """

    identity: str
    name: str
    namespace: str
    lease_seconds: float
    renew_seconds: float
    retry_seconds: float


class Suspect(msgspec.Struct, array_like=True):
    """A pod that a scheduler was trying when it stopped to respond.

    Attributes:
        uid: The pod's uid.
        pod: Its key.
        times: How many leaders in a row it has stopped.
        where: The place in which the last one hung.
    """

    uid: str
    pod: str
    times: int
    where: str = ""


class Watched(msgspec.Struct, array_like=True):
    """How the I/O process watches the engine's process.

    Attributes:
        engine: The id of that process.
        board: The descriptor of the memory with what the engine does.
        stacks: The descriptor of the pipe with stacks.
        signals: The descriptor of the socket with signals.
        report_seconds: An attempt that takes longer is reported.
        grace_seconds: How long an engine that must stop may take.
    """

    engine: int
    board: int
    stacks: int
    signals: int
    report_seconds: float
    grace_seconds: float


class Begin(Message, kw_only=True):
    """The first message: how to reach the API server.

    Attributes:
        kubeconfig: The only kubeconfig file to read, if any.
        context: The context to use; empty: the current one.
        qps: The requests per second; 0 for no limit.
        burst: The requests at once.
        election: The leader election; without one, writes are sent at once.
        log_format: The format of the log, such as ``json``.
        watched: How the engine's process is watched, if it is.
    """

    kubeconfig: str | None = None
    context: str = ""
    qps: float = 0.0
    burst: int = 0
    election: Election | None = None
    log_format: str = "text"
    watched: Watched | None = None


class Follow(Message):
    """Requests the objects of a resource, and their changes.

    Attributes:
        resource: The number of the resource in messages.
        path: Its path, such as ``/api/v1/pods``.
        are_pods: Whether its objects are pods, which are packed.
    """

    resource: int
    path: str
    are_pods: bool = False


class Request(Message):
    """A request to the API server.

    Attributes:
        call: The number of the request in the response; 0 if no response is needed.
        lane: The lane that sends it, see `Lane`.
        method: Such as ``POST``.
        target: The path with its query.
        body: The content.
        content_type: The type of the content.
        key: The uid of the object, or empty. Requests with the same key are sent one
            after the other.
        may_repeat: Whether it may be sent twice without harm.
        wants_body: Whether the caller reads the body of a successful response.
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
    """An Event to write, see `quaymaster.cluster.EventNote`."""

    regarding: Reference
    kind: str
    reason: str
    action: str
    note: str
    reporter: str
    related: Reference | None = None


class Alive(Message):
    """The engine's loop has completed a turn."""


class Runs(Message):
    """The engine's process runs, perhaps in the middle of a turn."""


class Stopping(Message):
    """A signal has requested the engine to stop: it ends within the grace period."""


class Finished(Message):
    """An attempt has ended for a pod that stopped an earlier scheduler.

    Attributes:
        uid: The pod's uid.
    """

    uid: str


class Leave(Message):
    """Requests the I/O process to end once all requests are answered.

    It releases the lease last.

    Attributes:
        seconds: After how long no more requests are sent.
    """

    seconds: float


class Listing(Message):
    """A list starts again: the objects that were sent of it are obsolete."""

    resource: int


class Changed(Message):
    """Objects of the first list, or changes after `Current`.

    Attributes:
        changes: The packed changes, see `packing`.
    """

    resource: int
    changes: bytes


class Current(Message):
    """The first list is complete; changes follow."""

    resource: int


class Spec(Message):
    """A pod's spec, to which later pods refer by its number.

    Attributes:
        number: The number, which replaces an earlier spec of the same number.
        text: The packed spec.
    """

    resource: int
    number: int
    text: bytes


class Trouble(Message):
    """A resource cannot be followed right now, which is retried.

    Attributes:
        why: The error; empty if the resource is followed again.
        code: The HTTP status; 0 without a response.
    """

    resource: int
    why: str
    code: int = 0


class Response(Message):
    """The outcome of a request.

    Attributes:
        call: The number of the request.
        code: The HTTP status; 0 without a response.
        body: The content of the response, if the caller reads it.
        why: The error, if any.
        is_in_doubt: Whether it may have taken effect in spite of the error.
    """

    call: int
    code: int
    body: bytes = b""
    why: str = ""
    is_in_doubt: bool = False


class Durations(msgspec.Struct, array_like=True):
    """A histogram of the durations of requests.

    Attributes:
        counts: The number in each bucket; the last one has no bound.
        total: The sum of all durations, in seconds.
    """

    counts: list[int]
    total: float


class Counted(Message):
    """The requests since the start, sent every few seconds.

    Attributes:
        requests: (code, method) -> the number of requests.
        durations: Method -> their durations.
        dropped_events: How many Events were dropped because too many waited.
    """

    requests: dict[tuple[str, str], int]
    durations: dict[str, Durations]
    dropped_events: int = 0


class Leads(Message):
    """The lease is acquired: writes may be sent from now on.

    Attributes:
        suspects: The pods that stopped earlier leaders.
    """

    suspects: list[Suspect] = []


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
    """The lease is lost and no more writes are sent: the engine must end.

    Attributes:
        why: The reason.
    """

    why: str


FromEngine: TypeAlias = (
    Begin | Follow | Request | Note | Alive | Runs | Stopping | Finished | Leave
)
ToEngine: TypeAlias = (
    Listing
    | Changed
    | Current
    | Spec
    | Trouble
    | Response
    | Leads
    | LeaseSeen
    | LeaseLost
    | Counted
)
