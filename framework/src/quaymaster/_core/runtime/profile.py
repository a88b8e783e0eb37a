"""A profile that is ready to run: its plugins, by extension point and in order."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from quaymaster._core.config.model import ProfileConfig
from quaymaster._core.contract.cluster_events import ClusterEventWithHint
from quaymaster._core.contract.declarations import PodUse, Scope
from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.runtime.lifecycle import Lifecycle

__all__ = ["Call", "HookFunction", "Profile"]

HookFunction: TypeAlias = Callable[..., Any]
"""A compiled hook: called with all of the hook's arguments, by position. It never
raises: it returns an Error status if the plugin raised, or its answer is not valid."""


class Call(msgspec.Struct, frozen=True, eq=False):
    """A plugin at one extension point, as stations call it.

    Attributes:
        plugin: The plugin's name.
        weight: The weight of its scores; 1 at points without weights.
        hooks: Hook name -> function, for each hook of the point that it implements.
        pod_use: How much the plugin's filter reads of the pods on a node.
        scope: The inputs that its answer for a node depends on.
        gates_groups: Whether its ``pre_enqueue`` has one answer for all pods of a
            PodGroup, and no other plugin wraps it.
        opens_gates_itself: Whether the flush need not call its ``pre_enqueue`` again,
            and no other plugin wraps it.
    """

    plugin: str
    weight: int
    hooks: Mapping[str, HookFunction]
    pod_use: PodUse = PodUse.PODS
    scope: Scope = Scope.CLUSTER
    gates_groups: bool = False
    opens_gates_itself: bool = False


class Profile(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A scheduler's plugins, in the order in which they are called.

    Attributes:
        name: The scheduler name by which pods choose it.
        config: The configuration that it was built from.
        plugins: Plugin name -> the instance.
        lifecycle: Their ``start`` and ``close``.
        plans: Extension point key -> the calls there, in profile order.
        events: Plugin name -> the events it registered; None if it has no such hook.
        sign: Plugin name -> its ``sign_pod``, for the plugins that have one.
        sign_telling: The same hooks with reports of failures, for pods that a plugin
            failed to sign.
        break_tie: The hook of the plugin that breaks ties, or None.
        remembered: The plugins whose answers for a node may be cached.
        skipping: The plugins of which only a Skip at PreFilter may be cached.
        skips: Plugin name -> its ``skips_depend_on``, for plugins that run in each
            attempt and declare how long a Skip is valid.
        placement_feasible: The plugins with this hook; empty without its feature gate.
    """

    name: str
    config: ProfileConfig
    plugins: Mapping[str, object]
    lifecycle: Lifecycle
    plans: Mapping[str, Sequence[Call]]
    events: Mapping[str, Sequence[ClusterEventWithHint] | None]
    sign: Mapping[str, HookFunction]
    sign_telling: Mapping[str, HookFunction]
    break_tie: HookFunction | None = None
    remembered: Sequence[str]
    skipping: Sequence[str]
    skips: Mapping[str, HookFunction]
    placement_feasible: Sequence[tuple[str, HookFunction]] = ()

    def plan(self, key: str) -> Sequence[Call]:
        """Return the calls at an extension point, such as ``preFilter``."""
        return self.plans.get(key, ())

    def without_twins(self) -> "Profile":
        """Return the same plugins, called for one node at a time."""
        twins = {twin for point in EXTENSION_POINTS for twin in point.twins.values()}
        plans = {
            key: tuple(_without(call, twins) for call in calls)
            for key, calls in self.plans.items()
        }
        return replace(self, plans=plans)


def _without(call: Call, names: Container[str]) -> Call:
    hooks = {name: hook for name, hook in call.hooks.items() if name not in names}
    return replace(call, hooks=hooks)
