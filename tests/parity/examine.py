"""Examines an attempt: each plugin alone, then the stations together."""

from collections.abc import Mapping, Sequence

import numpy as np

from quaymaster import CycleState, NodeTable, Pod, PreFilterResult, Rows, Status
from tests.kit.internals.cycle import (
    Attempt,
    Feasible,
    FilterStation,
    FitError,
    PreFilterOutcome,
    PreFilterStation,
)
from tests.kit.internals.engine import Framework
from tests.parity.devices import device_allocations
from tests.parity.observation import Answers, Examination, Scores
from tests.parity.volumes import volume_plans

__all__ = ["Examiner"]


class Examiner:
    """Examines attempts of one profile, and changes nothing.

    Args:
        framework: The built profile.
        nodes: The cluster's nodes.
    """

    def __init__(self, framework: Framework, nodes: NodeTable) -> None:
        self._framework = framework
        self._handle = framework.handle
        self._algorithm = framework.plain
        self._nodes = nodes
        nothing = PreFilterStation(())
        self._filters = {
            call.plugin: FilterStation([call], nothing)
            for call in framework.profile.plan("filter")
        }

    def examine(self, pod: Pod) -> Examination:
        """Examine an attempt. There must be at least one node."""
        alone_pre_filter, alone_filter = self._alone(pod)
        apart = CycleState()
        outcome = self._algorithm.pre_filter.run(Attempt.begin(apart, pod, self._nodes))
        excluded = self._excluded(outcome)
        state = CycleState()
        attempt = Attempt.begin(state, pod, self._nodes)
        found = self._algorithm.find_feasible(attempt)
        statuses = None
        if outcome.status is None:
            statuses = self._statuses(state, pod, found)
        feasible = self._feasible(found, statuses or {}, excluded)
        diagnosis = found.diagnosis if isinstance(found, FitError) else None
        return Examination(
            pre_filter=outcome,
            skipped_filters=apart.skip_filter_plugins,
            alone_pre_filter=alone_pre_filter,
            alone_filter=alone_filter,
            filter=statuses,
            excluded=excluded,
            via_nominated_node=(
                isinstance(found, Feasible) and found.via_nominated_node
            ),
            feasible=feasible,
            fit_error="" if diagnosis is None else diagnosis.message(),
            unschedulable_plugins=(
                frozenset() if diagnosis is None else diagnosis.unschedulable_plugins
            ),
            scores=self._scores(state, pod, found, feasible),
            volumes=volume_plans(self._framework, state, feasible),
            allocations=device_allocations(
                self._framework, state, pod, statuses or {}, excluded
            ),
        )

    def _alone(
        self, pod: Pod
    ) -> tuple[Mapping[str, PreFilterResult | Status | None], Answers]:
        state, station = CycleState(), self._algorithm.pre_filter
        attempt = Attempt.begin(state, pod, self._nodes)
        prepared = {
            plugin: station.run_one(plugin, attempt) for plugin in station.plugins
        }
        judged: dict[str, dict[str, Status | None]] = {
            info.name: {} for info in self._nodes
        }
        for plugin, filters in self._filters.items():
            if isinstance(prepared.get(plugin), Status):
                continue
            for node, status in self._judge(filters, state, pod).items():
                judged[node][plugin] = status and _unprefixed(plugin, status)
        return prepared, judged

    def _judge(
        self, filters: FilterStation, state: CycleState, pod: Pod
    ) -> Mapping[str, Status | None]:
        nodes = self._nodes
        attempt = Attempt.begin(state, pod, nodes)
        passed = filters.run_on_rows(attempt, nodes.rows)
        if isinstance(passed, Status):
            # An error ends the batch: call the filters node by node.
            return {info.name: filters.run(state, pod, info) for info in nodes}
        rejected = attempt.diagnosis.by_node()
        return {info.name: rejected.get(info.name) for info in nodes}

    def _excluded(self, outcome: PreFilterOutcome) -> Sequence[str]:
        names = outcome.node_names
        if outcome.status is not None or names is None:
            return ()
        return sorted(info.name for info in self._nodes if info.name not in names)

    def _statuses(
        self, state: CycleState, pod: Pod, found: Feasible | FitError
    ) -> Mapping[str, Status | None]:
        """Return the statuses of all nodes; nodes without one are filtered now."""
        statuses: dict[str, Status | None] = {}
        if found.diagnosis is not None:
            statuses.update(found.diagnosis.by_node())
        if isinstance(found, Feasible):
            statuses.update(dict.fromkeys(self._nodes.names_at(found.rows)))
        filters = self._handle.filters.run_with_nominated_pods
        return {
            info.name: (
                statuses[info.name]
                if info.name in statuses
                else filters(state, pod, info)
            )
            for info in self._nodes
        }

    def _feasible(
        self,
        found: Feasible | FitError,
        statuses: Mapping[str, Status | None],
        excluded: Sequence[str],
    ) -> Sequence[str]:
        if isinstance(found, FitError):
            return ()
        if self._algorithm.score or found.via_nominated_node:
            return sorted(self._nodes.names_at(found.rows))
        # Without scores the search ends at the first feasible node; the record has all.
        passed = {node for node, status in statuses.items() if status is None}
        return sorted(passed.difference(excluded))

    def _scores(
        self,
        state: CycleState,
        pod: Pod,
        found: Feasible | FitError,
        feasible: Sequence[str],
    ) -> Scores | None:
        if isinstance(found, FitError):
            return None
        nodes, station = self._nodes, self._algorithm.score
        attempt = Attempt.begin(state, pod, nodes)
        rows: Rows = found.rows if station else nodes.rows_of(feasible)
        if station:
            status = station.prepare(attempt, rows)
            if status is not None:
                return _failed(state, feasible, status)
        plugins = station.by_plugin(attempt, rows)
        if isinstance(plugins, Status):
            return _failed(state, feasible, plugins)
        total = station.totals(attempt, rows)
        if isinstance(total, Status):
            return _failed(state, feasible, total)
        return Scores(
            nodes=nodes.names_at(rows),
            skipped=state.skip_score_plugins,
            plugins=plugins,
            total=total,
        )


def _failed(
    state: CycleState, feasible: Sequence[str], status: Status
) -> Scores | None:
    if len(feasible) > 1:
        return None
    return Scores(
        nodes=feasible,
        skipped=state.skip_score_plugins,
        plugins=(),
        total=np.empty(0, dtype=np.int64),
        error=status.message,
    )


def _unprefixed(plugin: str, status: Status) -> Status:
    """Return an error without the prefix that names the plugin."""
    if not status.is_error:
        return status
    return Status.from_error(
        status.message.removeprefix(f'running "{plugin}" filter plugin: ')
    )
