"""Finds changes of read-only data by a hook, undoes them, and fails the call."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Final, Protocol

import numpy as np

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._base.errors import PluginError, listed
from quaymaster._core.contract.cycle_state import CycleState, StateKey
from quaymaster._core.contract.status import Status
from quaymaster._core.mutations.objects import PristineObjects
from quaymaster._core.mutations.returned import ReturnedArrays
from quaymaster._core.mutations.snapshots import (
    SavedArray,
    SavedNode,
    SavedSnapshot,
    SavedTable,
)
from quaymaster._core.mutations.values import SavedState
from quaymaster._core.runtime.profile import HookFunction
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["MutationGuard"]

_POD_ONLY: Final = frozenset({"pre_enqueue", "queue_sort", "pre_bind", "bind"})
"""Hooks that get only a pod, or run while the engine's thread may write."""

_PER_NODE: Final = frozenset({"filter", "score", "add_pod", "remove_pod"})
"""Hooks that are called for each node; see `MutationGuard`."""

_IMAGINING: Final = frozenset({"add_pod", "remove_pod"})
"""Hooks that may change their own values in a state, but only in a clone."""

# The number of changes in a message, so that it stays one line.
_MOST_NAMED: Final = 5


class _Saved(Protocol):
    def restore(self) -> Iterator[str]: ...


class MutationGuard:
    """Finds the plugins that change data that they may only read.

    These data are nodes, pods, columns, counts, the rows passed to a hook, the arrays
    that it has returned, and the values of other plugins in the cycle state. All of
    them are compared before and after each hook, so the time grows with the cluster.
    For hooks that are called per node, only the first call in an attempt compares
    everything. The other calls compare their own node and pod.

    Args:
        snapshot: The nodes and pods.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._objects = PristineObjects()
        self._returned = ReturnedArrays()
        self._writers: dict[StateKey[object], set[str]] = {}
        self._original: CycleState | None = None
        self._searched: set[tuple[str, str]] = set()

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """See `quaymaster._core.runtime.Watch`."""
        function = self._returned.around(plugin, hook, offered, function)

        @functools.wraps(function)
        def watched(*args: object) -> object:
            changes_of = self._save(plugin, hook, dict(zip(offered, args, strict=True)))
            answer: object = function(*args)
            changed = changes_of()
            return _failure(changed, plugin, hook, answer) if changed else answer

        return watched

    def _save(
        self, plugin: str, hook: str, arguments: Mapping[str, object]
    ) -> Callable[[], list[str]]:
        """Save all data; the result restores them and returns the changes."""
        objects: list[ApiObject] = []
        objects += [obj for obj in map(_object_of, arguments.values()) if obj]
        saved: list[_Saved] = []
        states: list[SavedState] = []
        state = arguments.get("state")
        if hook not in _POD_ONLY:
            saved += _saved_arguments(arguments)
            node = arguments.get("node")
            if isinstance(node, NodeInfo):
                objects.append(node.node)
            if self._is_whole_search_due(plugin, hook, state):
                saved += self._everything()
                objects += self._all_objects()
                states = self._values(plugin, hook, state)
        self._objects.save(objects)
        before = _keys(state)

        def changes() -> list[str]:
            for key in _keys(state) - before:
                self._writers.setdefault(key, set()).add(plugin)
            changed = [change for part in saved for change in part.restore()]
            changed += self._objects.restore(objects)
            changed += [change for values in states for change in values.changes()]
            return list(dict.fromkeys(changed))

        return changes

    def _is_whole_search_due(self, plugin: str, hook: str, state: object) -> bool:
        if hook == "pre_filter" and isinstance(state, CycleState):
            # Identity: each attempt has its own state object.
            if state is not self._original:
                self._searched.clear()
            self._original = state
        if hook not in _PER_NODE:
            return True
        was_searched = (plugin, hook) in self._searched
        self._searched.add((plugin, hook))
        return not was_searched or hook in _IMAGINING

    def _everything(self) -> list[_Saved]:
        nodes = self._snapshot.nodes
        saved: list[_Saved] = [SavedNode(info) for info in nodes]
        return [*saved, SavedTable(nodes), SavedSnapshot(self._snapshot)]

    def _all_objects(self) -> list[ApiObject]:
        objects: list[ApiObject] = []
        for info in self._snapshot:
            objects.append(info.node)
            objects.extend(info.pods.values())
        self._objects.keep_only(objects)
        return objects

    def _values(self, plugin: str, hook: str, state: object) -> list[SavedState]:
        if not isinstance(state, CycleState):
            return []
        saved = [SavedState(state, lambda key: not self._is_writer(plugin, key))]
        original = self._original
        # Identity: such a hook gets a clone of the state, which has the same values.
        if hook in _IMAGINING and original is not None and original is not state:
            # Changes in the clone must not change values of the original.
            saved.append(SavedState(original, lambda _key: True))
        return saved

    def _is_writer(self, plugin: str, key: StateKey[object]) -> bool:
        return plugin in self._writers.get(key, ())


def _keys(state: object) -> Set[StateKey[object]]:
    return set(state.values()) if isinstance(state, CycleState) else set()


def _saved_arguments(arguments: Mapping[str, object]) -> list[_Saved]:
    """Save the arguments of a call."""
    saved: list[_Saved] = []
    for name, value in arguments.items():
        if isinstance(value, NodeInfo):
            saved.append(SavedNode(value))
        elif isinstance(value, NodeTable):
            saved.append(SavedTable(value))
        elif isinstance(value, np.ndarray):
            saved.append(SavedArray(f"argument '{name}'", value))
    return saved


def _object_of(value: object) -> ApiObject | None:
    if isinstance(value, ApiObject):
        return value
    pod = getattr(value, "pod", None)  # the argument may be a queued pod
    return pod if isinstance(pod, Pod) else None


def _failure(changed: Sequence[str], plugin: str, hook: str, answer: object) -> Status:
    """Return the Error for a hook that changed data; it replaces the hook's answer."""
    text = f"changed {listed(changed, _MOST_NAMED)}, which it may only read"
    error = PluginError(plugin, hook, text)
    if isinstance(answer, Status):
        error.__cause__ = answer.error
    return Status.from_error(error)
