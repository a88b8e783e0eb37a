"""The inputs and the runs that the live page works with."""

import io
import threading
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.nodes_spec import make_nodes
from quaymaster._clusters.manifests.load import load
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import parse_config, shipped_profiles
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.wrapped import read_wrapped
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.calls import observe
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.explaining import explain_pod
from quaymaster._studies.simulation.sampled_attempts import shortened
from quaymaster._studies.why.summary import explain_pending
from quaymaster._surfaces.reporting.columns import attempt_document
from quaymaster._surfaces.reporting.report import report_document
from quaymaster._surfaces.reporting.studies import Study, StudyInput
from quaymaster._surfaces.reporting.suggested import suggestions_document

__all__ = [
    "DEFAULT_PROFILE",
    "BusyError",
    "ExtendersError",
    "Request",
    "Run",
    "Workbench",
]

DEFAULT_PROFILE: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
"""
"""The configuration to edit if none is given: all defaults."""


class BusyError(QuaymasterError):
    """Something is being simulated; the next has to wait."""


class ExtendersError(QuaymasterError):
    """A configuration asks programs elsewhere."""


@attrs.frozen(kw_only=True)
class Run:
    """A configuration to run with.

    Attributes:
        name: What to call it.
        config: The text of a ``KubeSchedulerConfiguration``.
    """

    name: str
    config: str


@attrs.frozen(kw_only=True)
class Request:
    """What is to be simulated.

    Attributes:
        runs: The configurations, one or several.
        seed: Decides the choice between equally good nodes, and generated names.
        manifests: The text of manifests, instead of the input of the beginning.
        nodes: Lines that describe more nodes.
        study: The name of a study of the first configuration; empty for the runs
            themselves.
        lines: What the study needs, such as the changes of a cluster.
    """

    runs: tuple[Run, ...]
    seed: int = 0
    manifests: str = ""
    nodes: tuple[str, ...] = ()
    study: str = ""
    lines: tuple[str, ...] = ()


class Workbench:
    """Simulates requests, one after another.

    Args:
        objects: The input to begin with.
        registry: The installed plugins.
        config: The text of the configuration to begin with.
        seed: The seed to begin with.
        max_pods: How many pods workloads may ask for in all.
        kubernetes: The Kubernetes whose decisions all configurations make.
        studies: The studies that the page offers beside runs, by name.
        without_missing: Whether plugins that are not installed are left out.
    """

    def __init__(
        self,
        objects: Sequence[ApiObject],
        *,
        registry: PluginRegistry,
        config: str = DEFAULT_PROFILE,
        seed: int = 0,
        max_pods: int,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
        studies: Mapping[str, Study] | None = None,
        without_missing: bool = False,
    ) -> None:
        self._objects = objects
        self._registry = registry
        self._config = config
        self._seed = seed
        self._max_pods = max_pods
        self._kubernetes = kubernetes
        self._studies = studies or {}
        self._without_missing = without_missing
        self._lock = threading.Lock()
        self._last: dict[str, tuple[Sequence[ApiObject], SchedulerConfig, int]] = {}
        self._progress = (0, 0)

    def state(self) -> dict[str, object]:
        """Return what there is to begin with."""
        return {
            "version": metadata.version("quaymaster"),
            "nodes": sum(isinstance(obj, Node) for obj in self._objects),
            "pods": sum(isinstance(obj, Pod) for obj in self._objects),
            "objects": len(self._objects),
            "config": self._config,
            "seed": self._seed,
            "kubernetes": str(self._kubernetes),
            "studies": list(self._studies),
            "profiles": {
                name: file.read_text(encoding="utf-8")
                for name, file in sorted(shipped_profiles().items())
            },
        }

    def progress(self) -> dict[str, int]:
        """Return how many pods have a node, of how many; from any thread."""
        done, total = self._progress
        return {"done": done, "total": total}

    def run(self, request: Request) -> dict[str, object]:
        """Simulate, and return the document that a page shows.

        Raises:
            QuaymasterError: The request is invalid.
        """
        with self._alone():
            self._progress = 0, 0
            prepared = [
                (run.name, self._read(run.config, run.name)) for run in request.runs
            ]
            if request.study:
                [(_, config), *_] = prepared
                return self._studied(request, config)
            observed = []
            self._last.clear()
            for name, config in prepared:
                objects = self._input(request, config)
                self._last[name] = objects, config, request.seed
                observed.append(
                    observe(
                        objects,
                        config=config,
                        registry=self._registry,
                        name=name,
                        seed=request.seed,
                        on_progress=self._report_progress,
                        max_pods=self._max_pods,
                    )
                )
            return report_document(observed, title="Quaymaster", tables=())

    def _studied(self, request: Request, config: SchedulerConfig) -> dict[str, object]:
        study = self._studies.get(request.study)
        if study is None:
            expected = ", ".join(self._studies) or "none"
            raise QuaymasterError(
                f"there is no study {request.study!r}; expected one of: {expected}"
            )
        page = study(
            StudyInput(
                objects=self._input(request, config),
                config=config,
                seed=request.seed,
                lines=tuple(line for line in request.lines if line.strip()),
                on_progress=self._report_progress,
            )
        )
        return report_document(
            page.runs, title=page.title, tables=page.tables, steps=page.steps
        )

    def suggest(self, run: str) -> dict[str, object]:
        """Simulate again, and search for changes that place pending pods.

        Args:
            run: The name of one of the last runs.

        Raises:
            QuaymasterError: There is no such run.
        """
        with self._alone():
            objects, config, seed = self._of_run(run)
            self._progress = 0, 0
            summary = explain_pending(
                objects,
                config=config,
                registry=self._registry,
                seed=seed,
                suggest=True,
                on_trial=self._report_progress,
                max_pods=self._max_pods,
            )
            return suggestions_document(summary)

    def _of_run(self, run: str) -> tuple[Sequence[ApiObject], SchedulerConfig, int]:
        if run not in self._last:
            raise QuaymasterError(f"run {run!r} no longer exists: run it again")
        return self._last[run]

    def explain(self, run: str, pod: str) -> list[dict[str, object]]:
        """Simulate again, and take every attempt of a pod apart.

        Args:
            run: The name of one of the last runs.
            pod: The pod's key.

        Raises:
            QuaymasterError: There is no such run or pod.
        """
        with self._alone():
            objects, config, seed = self._of_run(run)
            explained = explain_pod(
                pod,
                objects,
                config=config,
                registry=self._registry,
                seed=seed,
                attempt=WhichAttempt.ALL,
                on_progress=self._report_progress,
                max_pods=self._max_pods,
            )
            return [
                attempt_document(shortened(pod, attempt))
                for attempt in explained.attempts
            ]

    def _report_progress(self, done: int, total: int) -> None:
        self._progress = done, total

    def _alone(self) -> "_Alone":
        return _Alone(self._lock)

    def _read(self, text: str, name: str) -> SchedulerConfig:
        source = f"configuration {name}"
        document, source = read_wrapped(text.encode(), source)
        config = parse_config(
            document,
            self._registry,
            source=source,
            kubernetes=self._kubernetes,
            without_missing=self._without_missing,
        )
        if config.extenders:
            what = "these are programs elsewhere, which this page does not ask"
            raise ExtendersError(f"{source}: extenders: {what}")
        return config

    def _input(self, request: Request, config: SchedulerConfig) -> list[ApiObject]:
        made = make_nodes([line for line in request.nodes if line.strip()])
        if not request.manifests.strip():
            return [*made, *self._objects]
        # As a stream: a `str` of one line would be a path on this machine.
        text = io.StringIO(request.manifests)
        kinds = declared_kinds(config, self._registry)
        loaded = load([text], kinds=kinds, kubernetes=config.kubernetes)
        return [*made, *loaded.objects]


class _Alone:
    """Holds a lock, or fails at once if it is held."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise BusyError("something is being simulated: wait for its end")

    def __exit__(self, *_error: object) -> None:
        self._lock.release()
