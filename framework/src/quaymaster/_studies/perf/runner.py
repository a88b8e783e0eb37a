"""Runs a workload in this process."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs

from quaymaster._base.errors import VerificationError
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.config.load import default_config, load_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.perf.cases import THROUGHPUT
from quaymaster._studies.perf.errors import WorkloadError
from quaymaster._studies.perf.gates import apply_gates, gated, ignored_gates
from quaymaster._studies.perf.left_out import why_left_out
from quaymaster._studies.perf.load import Workload
from quaymaster._studies.perf.measurement import Measurement
from quaymaster._studies.perf.model import StartCollectingProfile
from quaymaster._studies.perf.operations import Player
from quaymaster._studies.perf.world import World

if sys.platform != "win32":
    import resource

__all__ = [
    "DONE",
    "FAILED",
    "INCOMPLETE",
    "LEFT_OUT",
    "Outcome",
    "outcome_if_left_out",
    "run_workload",
]

DONE = "done"
INCOMPLETE = "incomplete"
FAILED = "failed"
LEFT_OUT = "left out"

_MEASURED = (
    "scheduler_pod_scheduling_sli_duration_seconds",
    "scheduler_scheduling_attempt_duration_seconds",
)
"""The metrics of kube-scheduler in every measurement."""


@attrs.frozen(kw_only=True)
class Outcome:
    """The outcome of a workload.

    Attributes:
        workload: Its name.
        topic: The name of its file's folder.
        threshold: The pods per second that upstream demands; 0 without a threshold.
        status: ``done``; ``incomplete`` if it could not be completed; ``failed`` if its
            process died, or a verified decision differs; ``left out`` if it cannot be
            played.
        reason: The reason for another status than ``done``.
        measurements: The measurements.
        peak_rss_bytes: The peak memory of its process.
        ignored_gates: Feature gates that it sets and that have no effect.
        notes: Other differences to upstream's runs.
        run: The number of the run, from 1.
    """

    workload: str
    topic: str
    threshold: float
    status: str
    reason: str = ""
    measurements: tuple[Measurement, ...] = ()
    peak_rss_bytes: int = 0
    ignored_gates: Mapping[str, bool] = {}
    notes: tuple[str, ...] = ()
    run: int = 1


def outcome_if_left_out(workload: Workload, kubernetes: Kubernetes) -> Outcome | None:
    """Return the outcome of a workload that cannot be played, or None if it can be.

    Args:
        workload: The workload.
        kubernetes: The simulated version of Kubernetes.
    """
    reason = why_left_out(workload, kubernetes)
    if not reason:
        return None
    return Outcome(
        workload=workload.name,
        topic=workload.topic,
        threshold=workload.threshold,
        status=LEFT_OUT,
        reason=reason,
    )


def run_workload(
    workload: Workload,
    *,
    config_file: str | None = None,
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    seed: int = 0,
    verify: int = 0,
    on_progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Run a workload in this process.

    Args:
        workload: The workload.
        config_file: A configuration, or the name of a shipped profile; by default what
            the workload names, or the default profile.
        kubernetes: The Kubernetes whose decisions are made.
        seed: Decides the choice between equally good nodes, and generated names.
        verify: If above 0, every Nth decision is repeated with scalar hooks only; a
            difference stops the workload.
        on_progress: Called repeatedly with the number of bound pods.

    Raises:
        ConfigErrors: The configuration is wrong.
        PerfErrors: A template is wrong.
        ProfileError: A profile's plugins cannot be built.
    """
    left_out = outcome_if_left_out(workload, kubernetes)
    if left_out is not None:
        return left_out
    status, reason = DONE, ""
    registry = installed_plugins()
    config = _config(workload, config_file, registry, kubernetes)
    options = SchedulerOptions(verify=verify)
    world = World(config, registry, seed, on_progress, options)
    player = Player(workload, world, seed)
    try:
        player.play()
    except WorkloadError as error:
        status, reason = INCOMPLETE, str(error)
    except VerificationError as error:
        status, reason = FAILED, str(error)
    finally:
        world.close()
    return Outcome(
        workload=workload.name,
        topic=workload.topic,
        threshold=workload.threshold,
        status=status,
        reason=reason,
        measurements=tuple(player.measurements),
        peak_rss_bytes=peak_rss_bytes(),
        ignored_gates=ignored_gates(workload.feature_gates, kubernetes),
        notes=tuple(_notes(workload, verify)),
    )


def peak_rss_bytes() -> int:
    """Return the peak memory of this process so far."""
    # ru_maxrss also counts the process before it executed this program.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _notes(workload: Workload, verify: int) -> Iterator[str]:
    if verify:
        which = "every decision" if verify == 1 else f"one in {verify} decisions"
        yield f"{which} was made a second time to verify it, which costs measured time"
    if workload.declared_features:
        yield (
            f"all nodes declare {workload.declared_features} made-up features, but no "
            "pod is taken to need them: the features that pods need are not made up"
        )
    others = [name for name in workload.metrics if name not in _MEASURED]
    if others:
        yield f"{_case(workload)}: not measured here: {', '.join(others)}"
    if workload.threshold_metric != THROUGHPUT:
        metric = workload.threshold_metric
        yield f"{workload.name}: its threshold is for {metric}, which is not compared"
    if any(
        isinstance(operation, StartCollectingProfile)
        for operation in workload.operations
    ):
        yield f"{_case(workload)}: no profile of a Go program is written"


def _case(workload: Workload) -> str:
    return workload.name.partition("/")[0]


def _config(
    workload: Workload,
    config_file: str | None,
    registry: PluginRegistry,
    kubernetes: Kubernetes,
) -> SchedulerConfig:
    kubernetes = gated(kubernetes, workload.feature_gates)
    file: str | Path | None = config_file
    if file is None and workload.scheduler_config is not None:
        file = workload.path(workload.scheduler_config)
    if file is None:
        config = default_config(registry, kubernetes=kubernetes)
    else:
        config = load_config(file, registry, kubernetes=kubernetes)
    return apply_gates(config, workload.feature_gates)
