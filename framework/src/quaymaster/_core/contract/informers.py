"""The informers: the objects that the scheduler follows, as plugins read them.

Mirrors ``SharedInformerFactory`` of ``Handle`` (k8s.io/kube-scheduler v0.36,
``framework/interface.go``).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kinds import KINDS
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.object_index import ObjectIndex
from quaymaster._core.state.change_log import ChangeLog

__all__ = ["Informers", "ObjectCallback", "UnfollowedKindError"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)

ObjectCallback: TypeAlias = Callable[[ObjT | None, ObjT | None], None]
"""Gets an object before and after a change. The first is None if the object was added,
the second if it was deleted."""


class UnfollowedKindError(QuaymasterError, KeyError):
    """A kind of objects that the scheduler does not follow.

    Attributes:
        kind: The kind's name.
        followed: The names of the kinds that it follows.
    """

    def __init__(
        self, kind: type[ApiObject], followed: Iterable[type[ApiObject]]
    ) -> None:
        self.kind = kind.kind or kind.__name__
        self.followed = tuple(other.kind for other in followed)
        self._attribute = "reads" if kind in KINDS.values() else "kinds"
        super().__init__(self.kind)

    def __str__(self) -> str:
        return (
            f"{self.kind} is not followed (followed: {', '.join(self.followed)}); a "
            "plugin that needs it declares it in its class: "
            f"{self._attribute} = ({self.kind},)"
        )


class Informers(Protocol):
    """The engine's own copy of the cluster's objects, kept up to date by watches.

    It has nodes, pods, and the kinds that the active plugins declare as ``reads`` and
    ``kinds``. If a plugin declares neither its reads nor its writes, it also has
    namespaces, services, owners of pods, volumes, disruption budgets and so on.
    """

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return the objects of a kind, of one namespace if given, as they arrived.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return the log of added, changed and deleted objects of a kind.

        Indexes over these objects follow it. The log is kept from the first call on.
        Read it within hooks.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """Return an index of the objects of a kind: ``index(Pod, by=lambda p: ...)``.

        Create it once, in the constructor or in ``start``, and use it within hooks.

        Args:
            kind: The class of the objects.
            by: Returns the key of an object, such as a label, a namespace, or a tuple;
                None leaves the object out of the index. It must depend on the object
                alone.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """Call a function whenever an object of a kind is added, changed or deleted.

        Mirrors ``AddEventHandler`` of client-go's shared informers. Call it in the
        constructor or in ``start``. Existing objects are delivered as added: before
        ``start`` for a callback of the constructor, else within this call.

        The callback runs on the scheduling thread, between two attempts, in the order
        of the changes. It runs before the hints of `EventsOf` and ``pre_enqueue`` get
        the same change. The snapshot does not have a change of a node or pod yet. A
        deletion and a new object of the same key may arrive as two calls, or as one
        change with another uid.

        The callback may use the whole handle: `WaitingPod.allow`, `Handle.activate`,
        `Handle.changed`. It must be quick, must not change the objects, and must return
        None. If it raises an exception, this is reported like that of a hook, and has
        no other effect. No more calls are made once the plugin has been replaced.

        Args:
            kind: The class of the objects.
            callback: Called with the object before and after the change: (None, new),
                (old, new) or (old, None).

        Returns:
            A function that ends the calls, for a plugin that needs them only for some
            time.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
            TypeError: The first argument is not a class of objects, or the callback
                cannot be called with two arguments.
            RuntimeError: The calling thread is not the scheduling thread, or the
                plugin has registered this callback already.
        """
