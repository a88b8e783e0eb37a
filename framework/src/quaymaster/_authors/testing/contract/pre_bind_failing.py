"""Runs PreBind while the calls of the cluster fail."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import begin, open_nodes
from quaymaster._authors.testing.contract.rejections import fail_rejected
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault
from quaymaster._core.contract.status import Status

__all__ = ["ask_failing"]

_FAULTS: Final = (Fault.ERROR, Fault.LOST_CALL)
"""Any call fails, or only the writes: a plugin may handle the first error alone."""


def ask_failing(subject: Subject, cluster: SmallCluster) -> None:
    """Check that PreBind does not reject a pod because a call has failed.

    Raises:
        Finding: It does.
    """
    for pod in cluster.pending:
        for node_name in open_nodes(Bench(subject, cluster), pod)[:1]:
            run = begin(Bench(subject, cluster), pod, node_name)
            if run is None or isinstance(run.pre_bind(), Status) or not run.written:
                continue
            for fault in _FAULTS:
                _ask(Bench(subject, cluster), pod, node_name, fault)


def _ask(bench: Bench, pod: Pod, node_name: str, fault: Fault) -> None:
    run = begin(bench, pod, node_name)
    if run is None:
        return
    bench.cluster.set_rates({fault: 1.0})
    answer = run.pre_bind()
    bench.cluster.set_rates({})
    if isinstance(answer, Status) and answer.is_rejected:
        fail_rejected("pre_bind", answer, pod)
