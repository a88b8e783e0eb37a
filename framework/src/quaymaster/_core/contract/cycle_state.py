"""Scratch space that the plugins share during one attempt to schedule a pod.

Mirrors ``CycleState`` (k8s.io/kube-scheduler v0.36, ``framework/cycle_state.go``).
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec

from quaymaster._api.objects.requirements import is_label_key
from quaymaster._base.errors import QuaymasterError

__all__ = [
    "Cloneable",
    "CycleState",
    "LateAnnotationError",
    "StateCloneError",
    "StateKey",
    "StateNotFoundError",
]

T = TypeVar("T")


class StateNotFoundError(QuaymasterError, KeyError):
    """A key that no earlier hook of this cycle wrote.

    Attributes:
        name: The key's name.
        missing: The key's own text for this error, see `StateKey`; or empty.
    """

    def __init__(self, name: str, missing: str = "") -> None:
        super().__init__(name)
        self.name = name
        self.missing = missing

    def __str__(self) -> str:
        default = f"nothing was written under {self.name!r} in this attempt"
        return self.missing or default


class StateCloneError(QuaymasterError):
    """A value whose method ``clone`` raised an exception.

    Attributes:
        name: The name of its key.
    """

    def __init__(self, name: str, value: object, error: Exception) -> None:
        owner = f"{type(value).__module__}.{type(value).__qualname__}"
        problem = f"{owner}.clone failed: {type(error).__name__}: {error}"
        super().__init__(f"cycle state '{name}': {problem}")
        self.name = name


class LateAnnotationError(QuaymasterError):
    """An annotation that came after the binding of its pod.

    Attributes:
        key: The key of the annotation.
    """

    def __init__(self, key: str) -> None:
        super().__init__(
            f"annotate: the pod is bound already, so {key} would not be written; call "
            "it before, for example in reserve"
        )
        self.key = key


class StateKey(Generic[T]):
    """Names one value in a `CycleState` and carries its type.

    Create one per value, at module level:
    ``_PORTS = StateKey[Ports]("PreFilterPorts")``. Two keys are never equal, so plugins
    cannot overwrite each other by accident. A plugin that shares a value exports its
    key.

    By ``state[_PORTS]``, a hook reads the value that an earlier hook of its plugin
    wrote. The value is missing if the profile disables the earlier hook. With
    ``missing``, the hook's result is then an Error status with this text. Without it,
    the error is reported like any other exception, with its type and place.

    Args:
        name: Identifies the value in logs.
        missing: The whole text of the status, as in ``reading "PreFilterPorts" from
            cycleState: not found``.
    """

    __slots__ = ("missing", "name")

    def __init__(self, name: str, *, missing: str = "") -> None:
        self.name = name
        self.missing = missing

    def __repr__(self) -> str:
        return f"StateKey({self.name!r})"


class Cloneable(Protocol):
    """A state value that must be copied for a trial, as preemption does."""

    def clone(self) -> object:
        """Return a copy that may be changed without changing this one."""


class _LoggingDict(dict[StateKey[Any], Any]):
    """Values, and the keys that were written since its creation."""

    __slots__ = ("log",)

    def __init__(self, values: Mapping[StateKey[Any], Any]) -> None:
        super().__init__(values)
        self.log: list[StateKey[object]] = []

    def __setitem__(self, key: StateKey[Any], value: object) -> None:
        super().__setitem__(key, value)
        self.log.append(key)


class _WrittenAnnotations(dict[str, str]):
    """Annotations that the binding of the pod has written."""

    __slots__ = ()

    def __setitem__(self, key: str, value: str) -> None:
        raise LateAnnotationError(key)


# One is made for each attempt: a plain class takes three times as long to make.


class CycleState(msgspec.Struct, eq=False):
    """The values that plugins wrote for one pod in one scheduling attempt.

    Attributes:
        skip_filter_plugins: Plugins whose PreFilter returned Skip.
        skip_score_plugins: Plugins whose PreScore returned Skip.
        skip_pre_bind_plugins: Plugins whose PreBind pre-flight returned Skip.
        pods_to_activate: Keys (``namespace/name``) of pods that move to the active
            queue when this attempt succeeds.
        group: The scratch space of the pod's PodGroup during the cycle of the group;
            None for other pods, and while a pod of a group is being bound.
        annotations: The annotations that plugins added to the pod by `annotate`; a
            Bind plugin passes them to `Cluster.bind`.
    """

    # msgspec gives each instance an empty dict of its own; it is not shared as a
    # default of a function would be.
    # Any: only the keys carry the types, and each cast would cost a call.
    _values: dict[StateKey[Any], Any] = {}
    skip_filter_plugins: frozenset[str] = frozenset()
    skip_score_plugins: frozenset[str] = frozenset()
    skip_pre_bind_plugins: frozenset[str] = frozenset()
    pods_to_activate: list[str] = []
    annotations: dict[str, str] = {}
    group: "CycleState | None" = None

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation to the pod, written by the same call that binds it.

        It is for a choice that a plugin makes together with the node, such as the
        devices that the pod gets. The program that runs the pod reads it there, and so
        does the plugin after a restart. Annotations of ``reserve`` and of earlier hooks
        are on the assumed pod in the snapshot as soon as all plugins have reserved.
        Those of ``permit`` and ``pre_bind`` become visible with the bound pod. If the
        pod loses its node before it is bound, the next attempt starts without the
        annotation, so ``unreserve`` need not remove it.

        Args:
            key: Its key, such as ``example.com/gpu-index``. A later call with the same
                key replaces the value, also if another plugin set it.
            value: Its value.

        Raises:
            ValueError: The key cannot be the key of an annotation.
            TypeError: The value is not a string.
            LateAnnotationError: The pod is bound already, as in ``post_bind``.
        """
        unchecked_key: object = key
        # Upstream's rule: unlike for labels, case does not matter.
        if not isinstance(unchecked_key, str) or not is_label_key(key.lower()):
            raise ValueError(
                "annotate: expected the key of an annotation, such as "
                f"example.com/gpu-index, got {key!r}"
            )
        unchecked_value: object = value
        if not isinstance(unchecked_value, str):
            raise TypeError(f"annotate: expected a text for {key}, got {value!r}")
        self.annotations[key] = value

    def end_annotations(self) -> None:
        """Refuse further annotations, because the pod is bound.

        The engine calls it; plugins do not need it.
        """
        self.annotations = _WrittenAnnotations(self.annotations)

    def __getitem__(self, key: StateKey[T]) -> T:
        """The value of ``key``.

        Raises:
            StateNotFoundError: Nothing was written under this key.
        """
        try:
            value: T = self._values[key]
        except KeyError:
            raise StateNotFoundError(key.name, key.missing) from None
        return value

    def __setitem__(self, key: StateKey[T], value: T) -> None:
        self._values[key] = value

    def __delitem__(self, key: StateKey[T]) -> None:
        self._values.pop(key, None)

    def __contains__(self, key: StateKey[T]) -> bool:
        return key in self._values

    def get(self, key: StateKey[T]) -> T | None:
        """Return the value of ``key``, or None."""
        value: T | None = self._values.get(key)
        return value

    def values(self) -> Mapping[StateKey[object], object]:
        """Return a copy of all values, by key."""
        return dict(self._values)

    def update(self, values: Mapping[StateKey[object], object]) -> None:
        """Write many values at once."""
        self._values.update(values)

    def log_writes(self) -> Sequence[StateKey[object]]:
        """Return a list that gets the key of each value that is written from now on.

        The engine uses it to cache the values that plugins write; plugins do not need
        it.
        """
        values = _LoggingDict(self._values)
        self._values = values
        return values.log

    def clone(self) -> "CycleState":
        """Return a copy for a trial, as preemption does.

        Values with a ``clone`` method are cloned, others are shared.

        Raises:
            StateCloneError: A value's ``clone`` failed.
        """
        other = copy.copy(self)
        other._values = values = {}
        for key, value in self._values.items():
            try:
                # isinstance with a Protocol would take longer than all the rest.
                if hasattr(value, "clone"):
                    value = cast(Cloneable, value).clone()  # noqa: PLW2901
            except Exception as error:
                raise StateCloneError(key.name, value, error) from error
            values[key] = value
        other.pods_to_activate = list(self.pods_to_activate)
        other.annotations = dict(self.annotations)
        return other
