"""Counts and times calls of hooks, for the metrics of plugins.

The guards of hooks take the time anyway, to detect slow calls. So a call that is not
measured costs only one more lookup, of the limit for slow calls.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from quaymaster._core.contract.pod_groups import PodGroupPostFilterResult
from quaymaster._core.contract.results import PermitWait, PostFilterResult
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.runtime.generated import compiled
from quaymaster._core.runtime.guards import MAY_WAIT
from quaymaster._core.runtime.metrics import ONE_IN, SchedulerMetrics
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["MeasuredHooks", "status_label"]

RunHere: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls a function on the engine's thread; at once if that is the current thread."""

_POINTS: Final[Mapping[str, str]] = {
    "pre_enqueue": "PreEnqueue",
    "sign_pod": "Sign",
    "pre_filter": "PreFilter",
    "add_pod": "PreFilterExtensionAddPod",
    "remove_pod": "PreFilterExtensionRemovePod",
    "filter": "Filter",
    "filter_nodes": "Filter",
    "post_filter": "PostFilter",
    "placement_generate": "PlacementGenerate",
    "placement_feasible": "PlacementFeasible",
    "placement_score": "PlacementScore",
    "placement_scores": "PlacementScore",
    "normalize_placement_score": "PlacementScoreExtensionNormalize",
    "pod_group_post_filter": "PodGroupPostFilter",
    "pre_score": "PreScore",
    "score": "Score",
    "score_nodes": "Score",
    "normalize_score": "ScoreExtensionNormalize",
    "reserve": "Reserve",
    "unreserve": "Unreserve",
    "permit": "Permit",
    "pre_bind_pre_flight": "PreBindPreFlight",
    "pre_bind": "PreBind",
    "bind": "Bind",
    "post_bind": "PostBind",
}
"""Hook -> upstream's extension point."""

_COUNTED: Final = frozenset({"PreFilter", "Filter", "PreScore", "Score"})
"""The extension points whose calls upstream counts."""

_MEASURED: Final = """
def make(function, now, states, record):
    def measured({offered}):
        if id(state) not in states:
            return function({offered})
        start = now()
        answer = function({offered})
        record(answer, now() - start)
        return answer
    measured.__wrapped__ = function
    return measured
"""


class MeasuredHooks:
    """Measures the hooks of one profile; implements `HookListener` and `Watch`.

    Args:
        metrics: Receives the numbers.
        profile: The profile's name.
        run_here: Records calls of hooks that run on other threads.
        slow: Called with plugin, hook, the pod's key and the seconds of a hook that
            exceeds its limit.

    Attributes:
        limit: Below 0 while hooks are measured.
    """

    def __init__(
        self,
        metrics: SchedulerMetrics,
        profile: str,
        run_here: RunHere,
        slow: Callable[[str, str, str, float], None],
    ) -> None:
        # The same object: switching it on lowers the limit of all compiled hooks at
        # once.
        self.limit = self._sampling = metrics.sampling
        self._metrics = metrics
        self._profile = profile
        self._run_here = run_here
        self._slow = slow

    def heard(
        self, plugin: str, hook: str, pod: str, seconds: float, answer: object
    ) -> None:
        """See `HookListener`."""
        sampling = self._sampling
        if seconds > sampling.slow_seconds:
            self._slow(plugin, hook, pod, seconds)
        point = _POINTS.get(hook)
        if sampling.is_on and point is not None:
            self._take(plugin, point, seconds, answer)

    def around(
        self, plugin: str, hook: str, offered: Sequence[str], function: HookFunction
    ) -> HookFunction:
        """See `Watch`; hooks that may run on other threads have no listener."""
        if hook not in MAY_WAIT:
            return function

        def record(answer: object, seconds: float) -> None:
            # On the engine's thread, because one thread writes the histograms.
            point = _POINTS[hook]
            self._run_here(lambda: self._take(plugin, point, seconds, answer))

        make = _maker(hook, tuple(offered))
        return make(function, self._metrics.now, self._sampling.states, record)

    def _take(self, plugin: str, point: str, seconds: float, answer: object) -> None:
        metrics, weight = self._metrics, self._sampling.weight
        status = status_label(answer)
        # Upstream measures one attempt in ten, and counts it once.
        durations = metrics.plugins[plugin, point, status]
        durations.observe(seconds, max(1, weight // ONE_IN))
        if point in _COUNTED:
            metrics.calls[plugin, point, self._profile] += weight


def status_label(answer: object) -> str:
    """Return upstream's name of the status that corresponds to an answer of a hook."""
    if isinstance(answer, PostFilterResult | PodGroupPostFilterResult):
        answer = answer.status
    if isinstance(answer, Status):
        return answer.code.label
    code = Code.WAIT if isinstance(answer, PermitWait) else Code.SUCCESS
    return code.label


@functools.cache
def _maker(hook: str, offered: tuple[str, ...]) -> Callable[..., HookFunction]:
    """Generate a function that measures hooks with these arguments."""
    parameters = ", ".join(offered)
    names: dict[str, Any] = {"__name__": __name__}  # the module that tracebacks show
    source = _MEASURED.format(offered=parameters)
    exec(compiled(source, f"measured hook with ({parameters}): {hook}"), names)
    make: Callable[..., HookFunction] = names["make"]
    return make
