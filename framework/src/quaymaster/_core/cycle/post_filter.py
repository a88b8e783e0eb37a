"""The PostFilter station: plugins try to make room for a pod that fits no node.

Mirrors ``RunPostFilterPlugins`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import (
    NominatingInfo,
    NominatingMode,
    PostFilterResult,
)
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.cycle.errors import failed, reasons_of
from quaymaster._core.runtime.profile import Call
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["PostFilterStation"]

# Python 3.11 takes five times as long to read a member of an enumeration as to read a
# constant, and pods that wait for a node are tried again and again.
_UNSCHEDULABLE: Final = Code.UNSCHEDULABLE
_UNRESOLVABLE: Final = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
_NOOP: Final = NominatingMode.NOOP

# Chosen, not measured: waiting pods of a few kinds have fewer answers at a time.
_MOST_KEPT: Final = 256


class PostFilterStation:
    """Calls ``post_filter`` of one profile's plugins."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = [(call.plugin, call.hooks["post_filter"]) for call in calls]
        self._explaining = [
            call.hooks["explain_post_filter"]
            for call in calls
            if "explain_post_filter" in call.hooks
        ]
        self._rejections: dict[tuple[tuple[str, ...], str, int], PostFilterResult] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def run(
        self,
        state: CycleState,
        pod: Pod,
        diagnosis: Diagnosis,
        answers: list[PostFilterResult],
    ) -> PostFilterResult:
        """Run the plugins until one succeeds or fails with an Error.

        Equal rejections are the same object.

        Args:
            state: The cycle state of the attempt.
            pod: The pod.
            diagnosis: Why each node was rejected.
            answers: The answers of the first plugins for an equal attempt on the same
                nodes, which may hold again; afterwards those of this attempt.
        """
        nominating: NominatingInfo | None = None
        reasons: list[str] = []
        rejector = ""
        for place, (plugin, function) in enumerate(self._calls):
            result = answers[place] if place < len(answers) else None
            # A failed function returns a status.
            if result is None or not (
                result.repeats is not None and result.repeats(pod) is True
            ):
                answer = function(state, pod, diagnosis)
                # By exact type: nearly all answers need no conversion.
                if type(answer) is not PostFilterResult:
                    answer = _result_of(plugin, answer)
                result = answer
                answers[place:] = [result]
            status = result.status
            if status is None:
                return result
            code = status.code
            if code is _UNRESOLVABLE:
                return PostFilterResult(status.with_plugin(plugin), result.nominating)
            # Identity first: nearly all answers are this one, and a property is a call.
            if code is not _UNSCHEDULABLE and not status.is_rejected:
                error = Status(Code.ERROR, reasons_of(status), plugin, status.error)
                return PostFilterResult(error)
            own = result.nominating
            if own is not None and own.mode is not _NOOP:
                nominating = own
            reasons.extend(status.reasons)
            rejector = rejector or plugin
        return self._rejection(tuple(reasons), rejector, nominating)

    def _rejection(
        self,
        reasons: tuple[str, ...],
        rejector: str,
        nominating: NominatingInfo | None,
    ) -> PostFilterResult:
        """Return the result of plugins that could not help: the same one for equals."""
        # Not by the nomination itself, which may be unhashable in a plugin. The kept
        # result refers to it, so that no other one gets its identity.
        key = reasons, rejector, id(nominating)
        result = self._rejections.get(key)
        if result is None:
            if len(self._rejections) >= _MOST_KEPT:
                self._rejections.clear()
            status = Status(Code.UNSCHEDULABLE, reasons, rejector)
            result = self._rejections[key] = PostFilterResult(status, nominating)
        return result

    def explain(
        self, state: CycleState, pod: Pod, node: NodeInfo, diagnosis: Diagnosis
    ) -> tuple[str, ...]:
        """Return what the plugins can do on a node, for an explanation."""
        facts: list[str] = []
        for explain in self._explaining:
            answer: Sequence[str] | Status = explain(state, pod, node, diagnosis)
            if not isinstance(answer, Status):
                facts += answer
        return tuple(facts)


def _result_of(
    plugin: str, answer: PostFilterResult | Status | None
) -> PostFilterResult:
    if isinstance(answer, Status):
        prefix = f'running PostFilter plugin "{plugin}"'
        return PostFilterResult(failed(prefix, plugin, answer))
    return PostFilterResult() if answer is None else answer
