"""Changes of single objects, and what a plugin reports when it gets one."""

from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import Step
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["apply", "requeues_itself"]


def apply(bench: Bench, step: Step) -> None:
    """Change one object of the cluster of a bench, as a watch delivers it.

    Raises:
        HookFailedError: A callback for changes of objects failed.
    """
    if step.new is not None:
        bench.add(step.new)
    elif step.old is not None:
        bench.remove(step.old)


def requeues_itself(subject: Subject, cluster: SmallCluster, step: Step) -> bool:
    """Return whether a plugin requeues pods by its handle when it gets a change.

    Args:
        subject: The plugin.
        cluster: The cluster before the change.
        step: The change.
    """
    bench = Bench(subject, cluster)
    if not bench.handle.callbacks.kinds:
        return False
    subject.wakes.clear()
    apply(bench, step)
    return bool(subject.wakes)
