"""A scheduler on a real cluster: its two processes, its lease, and its shutdown."""

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
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._surfaces.operation.suspects import hold_suspects

__all__ = ["ClusterLostError", "KubernetesScheduler"]

# Of the 30 s in which a pod must end; the rest is for the last writes.
_SECONDS_TO_DRAIN: Final = 20.0
_SECONDS_TO_LEAVE: Final = 3.0  # for waiting events


class ClusterLostError(QuaymasterError):
    """The lease is lost, or the I/O process has ended.

    A new scheduler reads the outcome of writes in flight from the cluster.
    """


class KubernetesScheduler:
    """Schedules the pods of a real cluster, as ``quaymaster run`` does.

    It starts an I/O process at once, which follows the cluster and takes part in the
    leader election of the configuration. As a context manager it shuts down at the end
    of the block: writes in flight are answered, and the lease is released. It needs the
    extra ``kubernetes``.

    Args:
        config: Profiles and settings.
        registry: The plugins; by default all that are installed.
        kubeconfig: The kubeconfig file; without one, that of the configuration, those
            of ``$KUBECONFIG``, ``~/.kube/config``, or the pod in which this runs.
        context: The context of the kubeconfig; empty for the current one.
        observer: Receives reports on the thread of `run`.
        options: Further options.
        metrics: Counts and times the scheduler's work, if given.
        logging_format: The log format of the I/O process: ``text`` or ``json``.

    Attributes:
        scheduler: The scheduler; its thread is that of `run`.
        cluster: The cluster, see `quaymaster.cluster.Cluster`.
        clock: The clock of the scheduler.
        stopping: Set when the scheduler must stop.

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
        # Imported here, because greenlet is missing without the extra.
        from quaymaster._clusters.driver.executor import (  # noqa: PLC0415 - above
            GreenletExecutor,
            wait_for,
        )

        self.clock = RealClock()
        self.stopping = threading.Event()
        begin = first_message(config, kubeconfig, context, logging_format)
        self.cluster = KubernetesCluster(begin, wait_for, is_watched=True)
        watch = self.cluster.engine_watch
        try:
            self.scheduler = Scheduler(
                self.cluster,
                config,
                registry or installed_plugins(),
                clock=self.clock,
                seed=random.SystemRandom().getrandbits(64),
                make_executor=GreenletExecutor,
                observer=observer,
                options=options,
                metrics=metrics,
                marks=watch.board if watch is not None else None,
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
        """Wait for the lease, if there is an election, or until `stop`.

        Raises:
            ClusterLostError: The I/O process has ended.
        """
        self.cluster.lead()
        self._check()

    def run(
        self,
        meanwhile: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Wait for the lease, then schedule on this thread until `stop`.

        It returns once binds in flight have ended, or after 20 seconds.

        Args:
            meanwhile: Returns a context manager that is entered once everything has
                been listed, and left at the end.

        Raises:
            ClusterLostError: The lease is lost, or the I/O process has ended.
        """
        self.lead()
        if not self.stopping.is_set():
            # Before the first pod is queued.
            hold_suspects(self.scheduler.queue, self.cluster)
            self.scheduler.start()
            self.cluster.attend(self.clock)
            with meanwhile():
                self.scheduler.run(self.stopping, self._drain_seconds)
        self._check()

    def stop(self) -> None:
        """Make `run` return; any thread and any signal handler may call it."""
        # On another thread: a signal handler may interrupt a thread that holds a lock.
        threading.Thread(target=self._end, name="stop", daemon=True).start()

    def close(self) -> None:
        """Close the plugins, and end the I/O process; a second call does nothing.

        Waiting writes have three seconds to be sent.
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
