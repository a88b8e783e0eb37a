"""The stations of a pod that has a node: each calls one extension point's plugins.

Mirrors ``RunReservePlugins...``, ``RunPermitPlugins``, ``RunPreBind...``,
``RunBindPlugins`` and ``RunPostBindPlugins`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import Pod
from quaymaster._base.errors import VerificationError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import may_block, skips_binding
from quaymaster._core.contract.results import (
    PermitWait,
    PreBindPreFlightResult,
    PreBindWait,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.errors import failed
from quaymaster._core.extenders.chain import NO_EXTENDERS, Extenders
from quaymaster._core.runtime.profile import HookFunction, Profile

__all__ = ["BindingStations", "PausedPreBind"]

_SKIP: Final = Status.skip()

_Calls = Sequence[tuple[str, HookFunction]]

# Chosen, not measured: the number of different sets of skipping plugins with a plan.
_MOST_PLANS: Final = 64


@attrs.frozen(eq=False)
class _Plan:
    """The calls for pods that the same plugins skip.

    Attributes:
        reserve: The plugins with `reserve`.
        unreserve: The plugins with `unreserve`, in the opposite order.
        verify: The plugins with `verify_reserve`.
        permit: The plugins with `permit`.
        pre_flight: The PreBind plugins with `pre_bind_pre_flight`.
        idle: The plugins that have nothing to do in PreBind.
        pre_bind: All PreBind plugins.
    """

    reserve: _Calls
    unreserve: _Calls
    verify: _Calls
    permit: _Calls
    pre_flight: _Calls
    idle: frozenset[str]
    pre_bind: frozenset[str]

    @cached_property
    def is_idle(self) -> bool:
        """Whether there is no call except `unreserve`, and nothing to do in PreBind."""
        calls = (self.reserve, self.verify, self.permit, self.pre_flight)
        return not any(calls) and self.idle >= self.pre_bind

    def without(self, plugins: Collection[str]) -> "_Plan":
        """Return the remaining calls for pods that these plugins skip."""

        def left(calls: _Calls) -> _Calls:
            return [(plugin, call) for plugin, call in calls if plugin not in plugins]

        return _Plan(
            left(self.reserve),
            left(self.unreserve),
            left(self.verify),
            left(self.permit),
            left(self.pre_flight),
            self.idle.union(plugins),
            self.pre_bind,
        )


class PausedPreBind(msgspec.Struct, frozen=True, eq=False):
    """A plugin's PreBind that waits for the cluster.

    Attributes:
        plugin: The plugin.
        wait: The wait that the plugin returned.
        next: The position of the next plugin.
    """

    plugin: str
    wait: PreBindWait
    next: int

    def check(self) -> bool | Status:
        """Return whether the wait is over, or its failure; on the engine's thread."""
        answer = self.wait.check()
        if isinstance(answer, Status):
            return _rejected_or_failed("PreBind", self.plugin, answer)
        return answer

    def expired(self) -> Status:
        """Return the status that ends the attempt after the timeout."""
        return _rejected_or_failed("PreBind", self.plugin, self.wait.timed_out)


class BindingStations:
    """Calls the plugins of one profile from Reserve to PostBind.

    Args:
        profile: The profile.
        extenders: The extenders; those that bind are called before the Bind plugins.
        verify: If above 0, plugins verify their reservations for every Nth pod.
    """

    def __init__(
        self,
        profile: Profile,
        extenders: Extenders = NO_EXTENDERS,
        verify: int = 0,
    ) -> None:
        self._extenders = extenders or None
        self._verify = verify
        self._reserved = 0
        reserve = _calls(profile, "reserve", "reserve")
        self._pre_bind = _calls(profile, "preBind", "pre_bind")
        pre_flights = dict(_calls(profile, "preBind", "pre_bind_pre_flight"))
        self._all_pre_bind = frozenset(plugin for plugin, _ in self._pre_bind)
        self._plan = _Plan(
            reserve=reserve,
            unreserve=_calls(profile, "reserve", "unreserve")[::-1],
            verify=_calls(profile, "reserve", "verify_reserve"),
            permit=_calls(profile, "permit", "permit"),
            pre_flight=[
                (plugin, pre_flights[plugin])
                for plugin, _ in self._pre_bind
                if plugin in pre_flights
            ],
            idle=frozenset(),
            pre_bind=self._all_pre_bind,
        )
        self._plans: dict[frozenset[str], _Plan] = {}
        self._skipping = frozenset(
            name for name, plugin in profile.plugins.items() if skips_binding(plugin)
        )
        self._bind = _calls(profile, "bind", "bind")
        blocking = {
            name for name, plugin in profile.plugins.items() if may_block(plugin)
        }
        self._pre_bind_blocks = self._all_pre_bind & blocking
        self._bind_blocks = extenders.binds or not blocking.isdisjoint(
            plugin for plugin, _ in self._bind
        )
        self._post_bind = _calls(profile, "postBind", "post_bind")

    def is_idle(self, state: CycleState) -> bool:
        """Whether no plugin has anything to do for a pod before it is bound.

        Then `reserve`, `permit`, `pre_flight` and `pre_bind` need not be called.
        """
        if not self._plan_for(state).is_idle:
            return False
        state.skip_pre_bind_plugins = self._all_pre_bind
        return True

    def reserves(self, state: CycleState) -> bool:
        """Whether any plugin reserves something for a pod."""
        plan = self._plan_for(state)
        return bool(plan.reserve or plan.unreserve)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Call every Reserve plugin; stop at the first failure.

        Raises:
            VerificationError: A plugin's `verify_reserve` found differences.
        """
        plan = self._plan_for(state)
        for plugin, function in plan.reserve:
            status: Status | None = function(state, pod, node_name)
            if status is not None:
                return _rejected_or_failed("Reserve", plugin, status)
        if self._verify and plan.verify:
            self._reserved += 1
            # By count and not at random, so that a repeated run verifies the same pods.
            if self._reserved % self._verify == 0:
                return _verified(plan.verify, state, pod, node_name)
        return None

    def _plan_for(self, state: CycleState) -> _Plan:
        """Return the calls for a pod, by the plugins that skip it."""
        skipped = state.skip_filter_plugins
        if type(skipped) is not frozenset:  # a plugin may have assigned anything
            return self._plan
        plan = self._plans.get(skipped)
        if plan is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            # Kept by the set of skips: pods of one template share it, so a pod costs
            # one look-up.
            plan = self._plan.without(skipped & self._skipping)
            self._plans[skipped] = plan
        return plan

    def unreserve(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Sequence[Status]:
        """Call every Unreserve plugin, in reverse order, even if some fail.

        Returns:
            The errors of plugins that failed although they must not.
        """
        errors = []
        for plugin, function in self._plan_for(state).unreserve:
            error: Status | None = function(state, pod, node_name)
            if error is not None:
                prefix = f'running Unreserve plugin "{plugin}"'
                errors.append(failed(prefix, plugin, error))
        return errors

    def permit(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Mapping[str, float] | Status:
        """Call every Permit plugin.

        Returns:
            Plugin -> timeout in seconds, for the plugins that return a wait; empty if
            the pod may be bound at once. Otherwise the first rejection or Error.
        """
        waits: dict[str, float] = {}
        for plugin, function in self._plan_for(state).permit:
            answer: PermitWait | Status | None = function(state, pod, node_name)
            if isinstance(answer, PermitWait):
                # The other plugins are called, too: ``RunPermitPlugins`` collects all
                # waits, and one rejection ends them.
                waits[plugin] = answer.timeout_seconds
            elif answer is not None:
                return _rejected_or_failed("Permit", plugin, answer)
        return waits

    def pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Find the PreBind plugins that have something to do.

        Returns:
            None if there are any, Skip if there are none, or the Error of a plugin.
        """
        plan = self._plan_for(state)
        skipped: list[str] = []
        for plugin, function in plan.pre_flight:
            answer: PreBindPreFlightResult | Status | None
            answer = function(state, pod, node_name)
            if answer is _SKIP:
                skipped.append(plugin)
            elif isinstance(answer, Status):
                prefix = f'running PreBindPreFlight "{plugin}"'
                return failed(prefix, plugin, answer)
        idle = plan.idle.union(skipped) if skipped else plan.idle
        if idle >= self._all_pre_bind:
            state.skip_pre_bind_plugins = self._all_pre_bind
            return _SKIP
        state.skip_pre_bind_plugins = idle
        return None

    def may_block(self, state: CycleState) -> bool:
        """Whether PreBind or Bind may wait for something but the cluster."""
        return self._bind_blocks or bool(
            self._pre_bind_blocks - state.skip_pre_bind_plugins
        )

    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str, start: int = 0
    ) -> PausedPreBind | Status | None:
        """Run the PreBind plugins that have something to do.

        Args:
            state: The pod's cycle state.
            pod: The assumed pod.
            node_name: The chosen node.
            start: The position of the first plugin to run.

        Returns:
            None when all are done, the first failure, or a wait with the next position.
        """
        skipped = state.skip_pre_bind_plugins
        # Identity: `is_idle` and `pre_flight` write this object if every plugin skips.
        if skipped is self._all_pre_bind:
            return None
        for position, (plugin, function) in enumerate(self._pre_bind[start:], start):
            if plugin in skipped:
                continue
            answer: PreBindWait | Status | None = function(state, pod, node_name)
            if isinstance(answer, PreBindWait):
                return PausedPreBind(plugin, answer, position + 1)
            if answer is not None:
                return _rejected_or_failed("PreBind", plugin, answer)
        return None

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Bind by the pod's extender, or by the first plugin that does not skip."""
        if self._extenders is not None:
            status = self._extenders.bind(pod, node_name, state.annotations)
            if status is None or not status.is_skip:
                return status
        for plugin, function in self._bind:
            status = function(state, pod, node_name)
            if status is None:
                return None
            if not status.is_skip:
                return _rejected_or_failed("Bind", plugin, status)
        # An error as in ``RunBindPlugins``: the pod has no binding then.
        return Status.from_error("all Bind plugins skipped this pod")

    def post_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Sequence[Status]:
        """Call every PostBind plugin; return the errors of those that failed."""
        if self._post_bind:
            state.end_annotations()
        errors = []
        for plugin, function in self._post_bind:
            error: Status | None = function(state, pod, node_name)
            if error is not None:
                prefix = f'running PostBind plugin "{plugin}"'
                errors.append(failed(prefix, plugin, error))
        return errors


def _calls(profile: Profile, key: str, hook: str) -> _Calls:
    return [
        (call.plugin, call.hooks[hook])
        for call in profile.plan(key)
        if hook in call.hooks
    ]


def _rejected_or_failed(point: str, plugin: str, status: Status) -> Status:
    if status.is_rejected:
        return status.with_plugin(plugin)
    return failed(f'running {point} plugin "{plugin}"', plugin, status)


def _verified(
    calls: _Calls, state: CycleState, pod: Pod, node_name: str
) -> Status | None:
    for plugin, function in calls:
        differences: Sequence[str] | Status = function(state, pod, node_name)
        if isinstance(differences, Status):
            return _rejected_or_failed("Reserve", plugin, differences)
        if differences:
            what = f"the reservation of {plugin} is wrong"
            raise VerificationError(pod.key, differences, what)
    return None
