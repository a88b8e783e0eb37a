"""Our decisions in the format of the records (EXPECT)."""

from collections.abc import Collection, Mapping

import numpy as np

from quaymaster import Code, NominatingInfo, PreFilterResult, Status
from quaymaster.preemption import Candidate, best_candidates
from tests.kit.internals.engine import Framework
from tests.kit.internals.runtime import Profile
from tests.parity.cases import Json
from tests.parity.driver import Played
from tests.parity.observation import (
    Examination,
    NodeSums,
    Observation,
    Preemption,
    Scores,
)

__all__ = ["answerable", "entry", "profiles", "record"]

_LISTED_POINTS = (
    "preEnqueue",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
)
_ALL_PLUGINS_FIELDS = ("preFilter", "score", "fitErrorWithPostFilter")
"""Fields to which every plugin of a profile contributes."""


def record(played: Played) -> Json:
    """Return the record of a played case."""
    written: Json = {"id": played.case.case_id}
    if played.config_error:
        return written | {"error": played.config_error, "pods": []}
    if played.case.config is not None:
        written["profiles"] = profiles(played.frameworks)
    pods = [entry(attempt) for attempt in played.attempts]
    if not played.case.has_devices:
        for pod in pods:
            pod.pop("errorNodes", None)  # only cases with devices record it
    return written | {
        "pods": pods,
        "finalPodsByNode": dict(played.final_pods),
    }


def answerable(written: Json, missing: Collection[str]) -> Json:
    """Return a record without the fields that missing plugins make incomplete."""
    kept = {key: value for key, value in written.items() if key != "error"}
    if missing:
        kept.pop("profiles", None)
        kept["pods"] = [
            {key: value for key, value in pod.items() if key not in _ALL_PLUGINS_FIELDS}
            for pod in written["pods"]
        ]
    return kept


def profiles(frameworks: Mapping[str, Framework]) -> Json:
    """Return the plugin lists and weights of profiles, by scheduler name."""
    return {name: _lists(framework.profile) for name, framework in frameworks.items()}


def entry(seen: Observation) -> Json:
    """Return the record of a pod; empty, false and unreached fields are absent."""
    written: Json = {"pod": seen.pod, "outcome": seen.outcome, "feasible": []}
    optional: Json = {
        "retry": seen.retry,
        "error": seen.error,
        "preEnqueue": seen.pre_enqueue and _status(seen.pre_enqueue),
        "nominatedPods": {
            node: pods for node, pods in seen.nominated_pods.items() if pods
        },
        "podRequest": seen.pod_sums and _pod_request(seen.pod_sums),
        "nodeState": {
            node: _node_state(sums) for node, sums in (seen.node_sums or {}).items()
        },
        "winner": seen.winner,
        "reserve": seen.reserve and _plain_status(seen.reserve),
        "fitError": seen.fit_error,
        "fitErrorWithPostFilter": seen.final_fit_error,
        "postFilter": seen.preemption and _post_filter(seen.preemption),
        "op": seen.operation,
        "preBind": seen.pre_bind,
        "failedAfter": seen.failed_after,
        "claims": seen.claims,
        "extendedResourceClaimStatus": seen.extended_resources,
        "inFlight": list(seen.in_flight),
        "unavailableClaims": list(seen.unavailable),
        "deallocatable": list(seen.deallocatable),
        "apiCalls": list(seen.calls),
    }
    if seen.examination is not None:
        written["feasible"] = list(seen.examination.feasible)
        optional |= _examined(seen.examination, seen.has_score_plugins)
        volumes = seen.examination.volumes
        optional["volumesByNode"] = dict(volumes)
        optional["volumes"] = volumes.get(seen.winner)
        optional["allocations"] = dict(seen.examination.allocations)
        if seen.outcome == "error":
            optional["errorNodes"] = _error_nodes(seen.examination)
    return written | {key: value for key, value in optional.items() if value}


def _error_nodes(seen: Examination) -> list[str]:
    return sorted(
        node
        for node, status in (seen.filter or {}).items()
        if status and status.is_error
    )


def _examined(seen: Examination, has_score_plugins: bool) -> Json:
    scores = seen.scores
    written: Json = {
        "preFilter": _pre_filter(seen),
        "filter": _rejections(seen.filter or {}),
        "filterByPlugin": {
            node: rejections
            for node, answers in seen.alone_filter.items()
            if (rejections := _plain_rejections(answers))
        },
        "excludedByPreFilter": list(seen.excluded),
        "viaNominatedNode": seen.via_nominated_node,
        "singleFeasible": len(seen.feasible) == 1,
        "unschedulablePlugins": sorted(seen.unschedulable_plugins),
    }
    if scores is not None:
        written |= {
            "noScorePlugins": not has_score_plugins,
            "score": _score(scores),
            "top": _top(scores),
        }
    return written


def _pre_filter(seen: Examination) -> Json:
    outcome = seen.pre_filter
    succeeded = outcome.status is None
    written = _status(outcome.status) | {
        "skip": sorted(seen.skipped_filters) if succeeded else [],
        "plugins": {
            plugin: _pre_filter_answer(answer)
            for plugin, answer in seen.alone_pre_filter.items()
            if answer is not None
        },
    }
    if succeeded and outcome.node_names is not None:
        written["nodes"] = sorted(outcome.node_names)
    if outcome.restricting_plugins:
        written["nodesPlugins"] = sorted(outcome.restricting_plugins)
    return written


def _pre_filter_answer(answer: PreFilterResult | Status) -> Json:
    if isinstance(answer, PreFilterResult):
        return {"code": Code.SUCCESS.label, "nodes": sorted(answer.node_names)}
    return _plain_status(answer)


def _post_filter(seen: Preemption) -> Json:
    nominating = seen.result.nominating or NominatingInfo()
    candidates = {
        candidate.node_name: _candidate(candidate) for candidate in seen.candidates
    }
    chosen = candidates.get(nominating.node_name, {})
    written = _status(seen.result.status) | {
        "mode": nominating.mode.value,
        "nominatedNode": nominating.node_name,
        "victims": chosen.get("victims", []),
        "numPDBViolations": chosen.get("numPDBViolations", 0),
        "candidates": [candidates[name] for name in sorted(candidates)],
        "best": [
            candidate.node_name
            for candidate in seen.candidates and best_candidates(seen.candidates)
        ],
        "dryRun": {name: _status(status) for name, status in seen.dry_run.items()},
    }
    if seen.result.message:
        written["reasons"] = [seen.result.message]
    if seen.cleared:
        written["clearedNominations"] = sorted(seen.cleared)
    return written


def _candidate(candidate: Candidate) -> Json:
    return {
        "node": candidate.node_name,
        "victims": [victim.key for victim in candidate.victims],
        "numPDBViolations": candidate.violations,
    }


def _score(scores: Scores) -> Json:
    order = [] if scores.error else _by_name(scores)
    return {
        "nodes": sorted(scores.nodes),
        "skip": sorted(scores.skipped),
        "raw": {plugin.plugin: plugin.raw[order].tolist() for plugin in scores.plugins},
        "weighted": {
            plugin.plugin: plugin.weighted[order].tolist() for plugin in scores.plugins
        },
        "total": scores.total[order].tolist(),
    }


def _top(scores: Scores) -> list[str]:
    if scores.error:
        return list(scores.nodes)
    best = np.flatnonzero(scores.total == scores.total.max()).tolist()
    return sorted(scores.nodes[index] for index in best)


def _by_name(scores: Scores) -> list[int]:
    return sorted(range(len(scores.nodes)), key=scores.nodes.__getitem__)


def _rejections(statuses: Mapping[str, Status | None]) -> Json:
    return {key: _status(status) for key, status in statuses.items() if status}


def _plain_rejections(statuses: Mapping[str, Status | None]) -> Json:
    return {key: _plain_status(status) for key, status in statuses.items() if status}


def _status(status: Status | None) -> Json:
    if status is None:
        return {"code": Code.SUCCESS.label}
    written = _plain_status(status)
    return written | {"plugin": status.plugin} if status.plugin else written


def _plain_status(status: Status) -> Json:
    """Return a status without its plugin, which the record has elsewhere."""
    written: Json = {"code": status.code.label}
    return written | {"reasons": list(status.reasons)} if status.reasons else written


def _pod_request(sums: NodeSums) -> Json:
    written: Json = {
        "cpu": sums.milli_cpu,
        "memory": sums.memory,
        "nonZeroCPU": sums.non_zero_milli_cpu,
        "nonZeroMemory": sums.non_zero_memory,
    }
    optional = {"ephemeral": sums.ephemeral_storage, "scalar": dict(sums.scalars)}
    return written | {key: value for key, value in optional.items() if value}


def _node_state(sums: NodeSums) -> Json:
    written = _pod_request(sums)
    return written | {"pods": sums.pods} if sums.pods else written


def _lists(profile: Profile) -> Json:
    lists: Json = {
        key: [call.plugin for call in profile.plan(key)] for key in _LISTED_POINTS
    }
    lists["weights"] = {call.plugin: call.weight for call in profile.plan("score")}
    return lists
