"""Harnesses that run one plugin under test in a small cluster."""

from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._clusters.inmemory.admission.problems import AdmissionError

__all__ = ["admitted_harness"]


def admitted_harness(subject: Subject, cluster: SmallCluster) -> PluginHarness | None:
    """Return a harness whose cluster also stores the pending pods.

    Returns:
        None if no API server would accept the objects of the cluster.
    """
    try:
        return PluginHarness(
            subject.plugin,
            args=subject.args,
            kubernetes=subject.kubernetes,
            nodes=cluster.nodes,
            pods=cluster.pods,
            objects=[*cluster.objects, *cluster.pending],
        )
    except AdmissionError:
        return None
