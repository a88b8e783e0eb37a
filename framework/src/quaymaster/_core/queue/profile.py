"""The parts of profiles that the queue uses."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from quaymaster._core.contract.queueing import QueuedPodInfo, SortKey
from quaymaster._core.queue.gates import Gate
from quaymaster._core.queue.hints import EventsByPlugin
from quaymaster._core.queue.sort_keys import SortKeys

__all__ = ["CompiledProfiles", "QueueProfile"]

SortKeyOf: TypeAlias = Callable[[QueuedPodInfo], SortKey]


class QueueProfile(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The parts of a profile that the queue uses.

    Attributes:
        sort_key: The profile's ``queue_sort``.
        pre_enqueue: The PreEnqueue plugins, in order.
        group_gates: The PreEnqueue plugins with one answer for all pods of a PodGroup.
        self_opening: The PreEnqueue plugins that open their gates themselves.
        events: The registrations of the plugins.
        sort_group: Profiles with equal groups have keys that compare with each other.
            It need not be hashable. Upstream requires one queue sort plugin for all
            profiles; here, pods of different groups are ordered by priority, then by
            timestamp.
    """

    sort_key: SortKeyOf
    pre_enqueue: Sequence[Gate] = ()
    group_gates: frozenset[str] = frozenset()
    self_opening: frozenset[str] = frozenset()
    events: EventsByPlugin = msgspec.field(default_factory=dict)
    sort_group: object = None


class CompiledProfiles:
    """Profiles by scheduler name, with numbered sort groups.

    Attributes:
        groups: The number of sort groups.
    """

    __slots__ = (
        *("_compiled", "_fallback", "_group_gates", "_own_gates", "_self_opening"),
        "groups",
    )

    def __init__(self, profiles: Mapping[str, QueueProfile]) -> None:
        groups: list[object] = []
        keys: list[SortKeys] = []
        self._compiled: dict[str, tuple[SortKeyOf, int, Sequence[Gate]]] = {}
        self._group_gates: dict[str, Mapping[str, Gate]] = {}
        self._self_opening = {
            (name, plugin)
            for name, profile in profiles.items()
            for plugin in profile.self_opening
        }
        self._own_gates: dict[str, Sequence[Gate]] = {}
        for name, profile in profiles.items():
            # A list, not a dict: groups need not be hashable, and there are few
            # profiles.
            if profile.sort_group not in groups:
                groups.append(profile.sort_group)
                keys.append(SortKeys())
            group = groups.index(profile.sort_group)
            gates = tuple(profile.pre_enqueue)
            sort_key = keys[group].reliable(name, profile.sort_key)
            self._compiled[name] = (sort_key, group, gates)
            self._group_gates[name] = {
                gate[0]: gate for gate in gates if gate[0] in profile.group_gates
            }
            self._own_gates[name] = tuple(
                gate for gate in gates if gate[0] not in profile.group_gates
            )
        first = next(iter(self._compiled.values()))
        # For pods of profiles that a reload has removed while they were in flight: they
        # need some order, but no gate of another profile.
        self._fallback = (first[0], first[1], ())
        self.groups = len(groups)

    def __contains__(self, scheduler_name: str) -> bool:
        return scheduler_name in self._compiled

    def group_gate(self, scheduler_name: str, plugin: str) -> Gate | None:
        """Return a gate with one answer for all pods of a PodGroup, or None.

        Args:
            scheduler_name: The name of the profile.
            plugin: The plugin.
        """
        return self._group_gates.get(scheduler_name, {}).get(plugin)

    def opens_gates_itself(self, scheduler_name: str, plugin: str) -> bool:
        """Whether a plugin of a profile opens its gates itself."""
        return (scheduler_name, plugin) in self._self_opening

    def own_gates(self, scheduler_name: str) -> Sequence[Gate]:
        """Return the gates that may have another answer for each pod of a PodGroup."""
        return self._own_gates.get(scheduler_name, ())

    def __getitem__(self, scheduler_name: str) -> tuple[SortKeyOf, int, Sequence[Gate]]:
        """Return sort key, sort group and gates; an unknown profile has no gates.

        A pod has an unknown name only after an update that changes the name, which no
        API server allows.
        """
        return self._compiled.get(scheduler_name, self._fallback)
