"""The stations of a group: each calls one extension point's plugins.

Mirrors ``RunPlacementFeasiblePlugins`` and ``RunPodGroupPostFilterPlugins`` (Kubernetes
v1.37, ``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Sequence

from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupInfo,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.errors import failed, reasons_of
from quaymaster._core.runtime.profile import Profile

__all__ = ["PlacementFeasibleStation", "PodGroupPostFilterStation"]


class PlacementFeasibleStation:
    """Calls ``placement_feasible`` of one profile's plugins."""

    def __init__(self, profile: Profile) -> None:
        self._calls = profile.placement_feasible

    def run(
        self, state: CycleState, group: PodGroupInfo, progress: PlacementProgress
    ) -> Status | None:
        """Return None, a Wait of any plugin, an Unschedulable, or an Error status."""
        waiting: Status | None = None
        for plugin, function in self._calls:
            status: Status | None = function(state, group, progress)
            if status is None:
                continue
            if status.is_wait:
                # Its plugin is not read, and most calls for a gang end here.
                waiting = status
                continue
            if status.code is Code.UNSCHEDULABLE:
                return status.with_plugin(plugin)
            if status.is_error:
                return failed("running PlacementFeasible plugin", plugin, status)
            text = (
                f"unexpected status from PlacementFeasible plugin: {status.code.label}"
            )
            return Status(Code.ERROR, (text,), plugin)
        return waiting


class PodGroupPostFilterStation:
    """Calls ``pod_group_post_filter`` of one profile's plugins."""

    def __init__(self, profile: Profile) -> None:
        self._calls = [
            (call.plugin, call.hooks["pod_group_post_filter"])
            for call in profile.plan("podGroupPostFilter")
        ]

    @property
    def has_plugins(self) -> bool:
        """Whether a plugin is called at all."""
        return bool(self._calls)

    def run(
        self,
        state: CycleState,
        group: PodGroupInfo,
        attempts: Sequence[MemberAttempt],
        place: PlaceGroup,
    ) -> PodGroupPostFilterResult:
        """Run the plugins until one succeeds, ends the round, or fails."""
        reasons: list[str] = []
        rejector = ""
        for plugin, function in self._calls:
            result = _answer(function(state, group, attempts, place))
            status = result.status
            if status is None:
                return result
            # No other plugin is called: an answer that nothing can help overrides those
            # that came before.
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PodGroupPostFilterResult(status=status.with_plugin(plugin))
            if status.code is not Code.UNSCHEDULABLE:
                return PodGroupPostFilterResult(status=_error(plugin, status))
            reasons.extend(status.reasons)
            rejector = rejector or plugin
        status = Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)
        return PodGroupPostFilterResult(status=status)


def _answer(
    answer: PodGroupPostFilterResult | Status | None,
) -> PodGroupPostFilterResult:
    if answer is None:
        return PodGroupPostFilterResult()
    if isinstance(answer, Status):  # only a failed hook returns one
        return PodGroupPostFilterResult(status=answer)
    return answer


def _error(plugin: str, status: Status) -> Status:
    message = status.message or reasons_of(status)[0]
    text = f'error in "{plugin}" PodGroupPostFilter plugins: {message}'
    return Status(Code.ERROR, (text,), plugin, status.error)
