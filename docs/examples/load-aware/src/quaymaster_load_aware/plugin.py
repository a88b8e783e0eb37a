"""Scores nodes by their measured load, which is fetched beside the scheduling.

Mirrors ``TargetLoadPacking`` (sigs.k8s.io/scheduler-plugins v0.34.7,
``pkg/trimaran/targetloadpacking``).
"""

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

import numpy as np
from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)

from quaymaster_load_aware import curve, watcher
from quaymaster_load_aware.args import LoadAwareArgs
from quaymaster_load_aware.loads import Loads
from quaymaster_load_aware.watcher import BadAnswerError, Reading

__all__ = ["LoadAware"]

_TOO_BUSY: Final = Status.unschedulable("node(s) would be too busy")

_log = logging.getLogger(__name__)


class LoadAware:
    """Packs pods up to a target load, and spreads them above it.

    Args:
        args: Where measures are from, and what to make of them.
        handle: The framework.
    """

    Args = LoadAwareArgs
    reads = ()
    scope = Scope.NODE
    pod_use = PodUse.SUMS

    def __init__(self, args: LoadAwareArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self.loads = Loads(args.requests_multiplier)
        self._window_end: float | None = None
        self._cancel_expiry: Callable[[], None] | None = None
        self._is_failing = False

    @hookimpl
    def start(self) -> None:
        self._handle.run_in_background(self._ask, self._arrive)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # New measures wake pods by handle.changed().
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_ALLOCATABLE),
            on_pod(Change.DELETE | Change.UPDATE_POD_SCALE_DOWN),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return self.loads.expected(pod)

    @hookimpl
    def pre_filter(self) -> Status | None:
        return Status.skip() if self._args.limit_percent is None else None

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        limit, loads = self._args.limit_percent, self.loads
        if limit is None or not loads.measured(node):
            return None
        is_over = loads.with_pod(loads.expected(pod), node) > limit
        return _TOO_BUSY if is_over else None

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        limit, loads = self._args.limit_percent, self.loads
        if limit is None:
            return None
        percent = loads.with_pod_on_rows(loads.expected(pod), nodes, rows)
        is_measured = ~np.isnan(loads.measured_on_rows(nodes, rows))
        return NodeVerdicts.reject_where(is_measured & (percent > limit), _TOO_BUSY)

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        percent = self.loads.with_pod(self.loads.expected(pod), node)
        return curve.score(percent, self._args.target_utilization)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        expected = self.loads.expected(pod)
        percent = self.loads.with_pod_on_rows(expected, nodes, rows)
        return curve.scores(percent, self._args.target_utilization)

    def fetch(self) -> bytes:
        """Ask the server, on a worker; tests answer for it.

        Raises:
            OSError: There is no answer.
            BadAnswerError: It is none that load-watcher gives.
        """
        return watcher.fetch(self._args.metrics_url, self._args.timeout_seconds)

    def _ask(self) -> Reading | str:
        """Fetch and read on a worker; return the problem if there is one."""
        try:
            return watcher.parse(self.fetch())
        except (OSError, BadAnswerError) as error:
            return f"{error}"
        except Exception as error:  # http.client has errors of its own kind
            return f"{type(error).__name__}: {error}"

    def _arrive(self, found: Reading | str) -> None:
        """Take over what was read, on the scheduling thread."""
        clock, args = self._handle.clock, self._args
        clock.call_later(args.period_seconds, self.start, background=True)
        self._report(found)
        if isinstance(found, str):
            return
        # A repeated response is not new: its age does not start again.
        if found.window_end is not None and found.window_end == self._window_end:
            return
        self._window_end = found.window_end
        if self._cancel_expiry is not None:
            self._cancel_expiry()
        timer = clock.call_later(args.max_age_seconds, self._expire, background=True)
        self._cancel_expiry = timer.cancel
        self._learn(found.percent)

    def _expire(self) -> None:
        _log.warning("%s: the measures are too old", self._handle.plugin_name)
        self._learn({})

    def _learn(self, percent: Mapping[str, float]) -> None:
        if percent or self.loads.percent:
            self.loads.take(percent, self._handle.snapshot)
            self._handle.changed()

    def _report(self, found: Reading | str) -> None:
        """Log when it begins to fail, and when that is over."""
        url, name = self._args.metrics_url, self._handle.plugin_name
        if isinstance(found, str) and not self._is_failing:
            _log.warning("%s: no measures from %s: %s", name, url, found)
        elif isinstance(found, Reading) and self._is_failing:
            _log.warning("%s: measures again from %s", name, url)
        self._is_failing = isinstance(found, str)
