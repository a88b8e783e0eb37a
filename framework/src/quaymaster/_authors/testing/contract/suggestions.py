"""A check: suggestions are sentences with changed objects, and change no verdict."""

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.answers import (
    changed_verdict,
    filter_all,
    is_open,
)
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import Suggestion
from quaymaster._core.contract.status import Status

__all__ = ["SUGGESTIONS"]

_HOOK = "suggest_changes"


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster, is_guarded=True)
    for pod in cluster.pending:
        state = CycleState()
        prepared = bench.pre_filter(state, pod)
        if isinstance(prepared, Status) and prepared.is_skip:
            continue
        is_filtered = is_open(prepared) and not isinstance(prepared, Status)
        rejected = filter_all(bench, state, pod) if is_filtered else {}
        _check(bench, state, pod, cluster)
        again = filter_all(bench, state, pod) if is_filtered else {}
        if text := changed_verdict(rejected, again):
            fail(_HOOK, text, pod, cluster.nodes, cluster.pods)


def _check(bench: Bench, state: CycleState, pod: Pod, cluster: SmallCluster) -> None:
    try:
        suggestions = bench.ask(_HOOK, state, pod)
    except HookFailedError as failure:
        fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)
    assert isinstance(suggestions, tuple), "other answers are failures"
    for suggestion in suggestions:
        problem = _problem(suggestion, pod)
        if problem:
            fail(_HOOK, f"returned {problem}", pod, cluster.nodes, cluster.pods)


def _problem(suggestion: Suggestion, pod: Pod) -> str:
    text = suggestion.text
    if not text.strip() or len(text.splitlines()) > 1:
        return f"the text {text!r}, expected one line"
    if not suggestion.objects:
        return f"no objects with {text!r}: the changed objects are missing"
    for obj in suggestion.objects:
        if not isinstance(obj, ApiObject):
            return f"{obj!r} among the objects of {text!r}, expected an API object"
        if obj == pod:
            return f"the pod without any change with {text!r}"
    return ""


SUGGESTIONS = Check(
    name="suggestions",
    promise="suggest_changes returns sentences with changed objects, and changes "
    "nothing",
    ask=_ask,
    hooks=frozenset({_HOOK}),
)
