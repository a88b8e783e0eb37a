"""A scheduler on a real cluster: two processes, the lease, and a clean end."""

import random
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Self

from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.driver.cluster import KubernetesCluster
from quaymaster._clusters.driver.first_message import first_message
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import RealClock
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.engine.reports import Observer
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.metrics import SchedulerMetrics

__all__ = ["ClusterLostError", "KubernetesScheduler"]

# Of the 30 s that a pod has to end; the rest is for what the cluster is still told.
_SECONDS_TO_DRAIN: Final = 20.0
_SECONDS_TO_LEAVE: Final = 3.0  # for events that wait


class ClusterLostError(QuaymasterError):
    """The lease is lost, or the connection to the cluster for good.

    A new scheduler reads from the cluster what became of what was under way.
    """


class KubernetesScheduler:
    """Schedules the pods of a real cluster, as ``quaymaster run`` does.

    A process for input and output is started at once, which follows the cluster and
    takes part in the leader election that the configuration asks for. As a context
    manager it ends with what is inside: what is under way is answered, and the lease
    given back. It needs the extra ``kubernetes``.

    Args:
        config: Profiles and settings.
        registry: Where plugins are found; by default all that are installed.
        kubeconfig: The kubeconfig file; without one, that of the configuration, those
            of ``$KUBECONFIG``, ``~/.kube/config``, or the pod that this runs in.
        context: The context of the kubeconfig; empty for the current one.
        observer: Is told what happens, on the thread of `run`.
        options: What else can be set.
        metrics: Takes numbers about all that happens, if given.
        logging_format: How the other process writes its log: ``text`` or ``json``.

    Attributes:
        scheduler: The scheduler; its thread is that of `run`.
        cluster: The cluster, see `quaymaster.cluster.Cluster`.
        clock: The clock of the scheduler.
        stopping: Is set when the scheduler is to stop.

    Raises:
        ObserverError: An installed observer cannot be used.
        ProfileError: A profile's plugins cannot be built.
        ExtenderError: An extender's URL or certificates cannot be used.
    """

    def __init__(
        self,
        config: SchedulerConfig,
        registry: PluginRegistry | None = None,
        *,
        kubeconfig: str | None = None,
        context: str = "",
        observer: Observer | None = None,
        options: SchedulerOptions | None = None,
        metrics: SchedulerMetrics | None = None,
        logging_format: str = "text",
    ) -> None:
        # Only here: it is not there without the extra.
        from quaymaster._clusters.driver.executor import (  # noqa: PLC0415 - above
            GreenletExecutor,
            wait_for,
        )

        self.clock = RealClock()
        self.stopping = threading.Event()
        begin = first_message(config, kubeconfig, context, logging_format)
        self.cluster = KubernetesCluster(begin, wait_for)
        try:
            self.scheduler = Scheduler(
                self.cluster,
                config,
                registry or PluginRegistry.discover(),
                clock=self.clock,
                seed=random.SystemRandom().getrandbits(64),
                make_executor=GreenletExecutor,
                observer=observer,
                options=options,
                metrics=metrics,
            )
        except BaseException:
            self.cluster.close()
            raise
        self.cluster.at_end(self._end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lead(self) -> None:
        """Wait for the lease, if there is one to be had, or until `stop`.

        Raises:
            ClusterLostError: There is no connection to the cluster any more.
        """
        self.cluster.lead()
        self._check()

    def run(
        self,
        meanwhile: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Schedule, on this thread, until `stop`; once the lease is there.

        Pods that are being bound then are waited for, for up to 20 seconds.

        Args:
            meanwhile: Makes what is entered once everything has been listed, and left
                at the end.

        Raises:
            ClusterLostError: The lease is lost, or the connection for good.
        """
        self.lead()
        if not self.stopping.is_set():
            self.scheduler.start()
            self.cluster.attend(self.clock)
            with meanwhile():
                self.scheduler.run(self.stopping, self._drain_seconds)
        self._check()

    def stop(self) -> None:
        """Have `run` end well; from any thread, and from handlers of signals."""
        # By another thread: a handler may have interrupted who holds a lock.
        threading.Thread(target=self._end, name="stop", daemon=True).start()

    def close(self) -> None:
        """Close the plugins, and end the other process well; again does no harm.

        What waits to be told to the cluster has three seconds for that.
        """
        self.scheduler.close()
        self.cluster.close(_SECONDS_TO_LEAVE)

    def _end(self) -> None:
        self.stopping.set()
        self.cluster.stop_waiting()
        self.scheduler.wake()

    def _check(self) -> None:
        if self.cluster.end:
            raise ClusterLostError(self.cluster.end)

    def _drain_seconds(self) -> float:
        return 0.0 if self.cluster.end else _SECONDS_TO_DRAIN
