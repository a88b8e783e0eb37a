"""A plugin's answer about a pod: a code, the reasons, and the plugin's name.

Mirrors ``Status`` (k8s.io/kube-scheduler v0.36, ``framework/interface.go``). Success
is ``None``: a hook returns a `Status` only for other results.
"""

import enum

import attrs

__all__ = ["Code", "Status"]


class Code(enum.IntEnum):
    """The verdicts of the scheduling framework, with upstream's names and order."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> str:
        """Upstream's spelling, as in ``UnschedulableAndUnresolvable``."""
        return _LABELS[self]


_LABELS = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}

_REJECTIONS = frozenset(
    {Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING}
)


@attrs.frozen
class Status:
    """One answer of one plugin.

    Reasons name no node, so that the same reason on many nodes can be counted.

    Attributes:
        code: The verdict.
        reasons: Why, in the order in which they are shown.
        plugin: The plugin that returned it; set by the framework.
        error: The exception behind an ``ERROR``, with its traceback.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    # Exceptions are compared by identity; two failures with the same text must be equal
    # when decisions are compared.
    error: BaseException | None = attrs.field(default=None, eq=False)

    @classmethod
    def unschedulable(cls, *reasons: str) -> "Status":
        """Reject for now: preempting pods or a cluster event may resolve it."""
        return cls(Code.UNSCHEDULABLE, reasons)

    @classmethod
    def unresolvable(cls, *reasons: str) -> "Status":
        """Reject for a reason that preempting other pods cannot resolve."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)

    @classmethod
    def skip(cls) -> "Status":
        """Skip the coupled hooks of this plugin in this cycle."""
        return _SKIP

    @classmethod
    def pending(cls, *reasons: str) -> "Status":
        """Stop this cycle until an external process has finished; no backoff."""
        return cls(Code.PENDING, reasons)

    @classmethod
    def from_error(cls, error: BaseException | str) -> "Status":
        """Report an unexpected failure; the pod is retried after a backoff."""
        if isinstance(error, str):
            return cls(Code.ERROR, (error,))
        return cls(Code.ERROR, (_text_of(error),), error=error)

    @property
    def message(self) -> str:
        """The reasons joined as upstream shows them."""
        # Reasons may not be strings in plugins that no type checker has checked.
        return ", ".join(map(str, self.reasons))

    @property
    def is_skip(self) -> bool:
        """Whether the plugin has nothing to do for this pod."""
        # The shared instance first: `Status.skip` returns it, and comparing two objects
        # costs less than reading a field.
        return self is _SKIP or self.code is Code.SKIP

    @property
    def is_wait(self) -> bool:
        """Whether a Permit plugin makes the pod wait."""
        return self.code is Code.WAIT

    @property
    def is_error(self) -> bool:
        """Whether this is an unexpected failure, not a verdict on the pod."""
        return self.code is Code.ERROR

    @property
    def is_rejected(self) -> bool:
        """Whether this is a verdict against the pod (not an error)."""
        return self.code in _REJECTIONS

    def with_plugin(self, plugin: str) -> "Status":
        """Return the same status with the name of the plugin that returned it."""
        if self.plugin == plugin:
            return self
        return Status(self.code, self.reasons, plugin, self.error)


def _text_of(error: BaseException) -> str:
    """Return the text of an exception; a plugin's ``__str__`` may raise, too."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


_SKIP = Status(Code.SKIP)
