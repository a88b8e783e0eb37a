"""Runs PreBind while the calls of the cluster fail."""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    content_of,
    open_nodes,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.rejections import fail_rejected
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status

__all__ = ["ask_failing"]

_FAULTS: Final = (Fault.ERROR, Fault.LOST_CALL)
"""Any call fails, or only the writes: a plugin may handle the first error alone."""


def ask_failing(subject: Subject, cluster: SmallCluster) -> None:
    """Check that PreBind neither hides a failed call nor rejects the pod for it.

    Raises:
        Finding: It does.
    """
    for pod in cluster.pending:
        for node_name in open_nodes(Bench(subject, cluster), pod)[:1]:
            bench = Bench(subject, cluster)
            run = begin(bench, pod, node_name)
            if run is None or isinstance(run.pre_bind(), Status) or not run.written:
                continue
            before = Bench(subject, cluster)
            is_needed = any(_is_changed(before, obj) for obj in run.written)
            for fault in _FAULTS:
                _ask(
                    Bench(subject, cluster), pod, node_name, fault, is_needed=is_needed
                )


def _is_changed(before: Bench, obj: ApiObject) -> bool:
    """Return whether an object is new, or differs in more than its status.

    A status may only report what the plugin does.
    """
    old = before.stored(obj)
    if old is None or not hasattr(obj, "status"):
        return old is None or content_of(old) != content_of(obj)
    return content_of(replace(obj, status=getattr(old, "status", None))) != (
        content_of(old)
    )


def _ask(
    bench: Bench, pod: Pod, node_name: str, fault: Fault, *, is_needed: bool
) -> None:
    run = begin(bench, pod, node_name)
    if run is None:
        return
    bench.cluster.set_rates({fault: 1.0})
    answer = run.pre_bind()
    bench.cluster.set_rates({})
    if isinstance(answer, Status) and answer.is_rejected:
        fail_rejected("pre_bind", answer, pod)
    is_success = answer is None or (
        isinstance(answer, PreBindWait) and answer.check() is True
    )
    if is_needed and is_success and not run.written:
        text = (
            f"returned success, but its calls failed ({fault.value}) and it has "
            "written nothing, so the pod is bound without its objects: return "
            "Status.from_error(error), or let the exception pass"
        )
        fail("pre_bind", text, pod)
