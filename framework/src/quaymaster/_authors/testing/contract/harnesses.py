"""Harnesses that run one plugin under test in a small cluster."""

from typing import TypeVar

from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._clusters.inmemory.admission.problems import AdmissionError

__all__ = ["admitted_harness"]


_HarnessT = TypeVar("_HarnessT", bound=PluginHarness)


def admitted_harness(
    subject: Subject, cluster: SmallCluster, kind: type[_HarnessT]
) -> _HarnessT | None:
    """Return a harness whose cluster also stores the pending pods.

    Args:
        subject: The plugin.
        cluster: The cluster.
        kind: The class of the harness.

    Returns:
        None if no API server would accept the objects of the cluster.
    """
    try:
        return kind(
            subject.plugin,
            args=subject.args,
            kubernetes=subject.kubernetes,
            nodes=cluster.nodes,
            pods=cluster.pods,
            objects=[*cluster.objects, *cluster.pending],
        )
    except AdmissionError:
        return None
