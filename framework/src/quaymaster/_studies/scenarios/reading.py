"""Reads what a scenario refers to: manifests, nodes, configurations, run times.

Every mistake is recorded with its place in the scenario or in the other file.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from quaymaster._api.objects import ApiObject, Node
from quaymaster._base.errors import KindError, ManifestErrors, Problem
from quaymaster._base.input.reading import UnreadableError, read_file
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.durations import (
    RUN_SECONDS_ANNOTATION,
    RunTimeError,
    run_seconds,
)
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._clusters.manifests.load import load
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import default_config, load_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["PartReader"]


class PartReader:
    """Reads parts of one scenario, and collects their mistakes.

    Args:
        file: The scenario's file; other files are relative to it.
        registry: The installed plugins.
        findings: Receives mistakes in the scenario itself.
        kubernetes: The simulated version of Kubernetes.

    Attributes:
        problems: Mistakes in other files.
        notices: What was left out or assumed.
        kinds: The kinds that plugins declare, in addition to those of Kubernetes.
    """

    def __init__(
        self,
        file: str,
        registry: PluginRegistry,
        findings: Findings,
        kubernetes: Kubernetes,
    ) -> None:
        self._file = file
        self._folder = Path(file).parent
        self._registry = registry
        self._findings = findings
        self._kubernetes = kubernetes
        self._read_for = kubernetes
        self._configs: dict[str, SchedulerConfig | None] = {}
        self.problems: list[Problem] = []
        self.notices: list[Notice] = []
        self.kinds: Sequence[type[ApiObject]] = ()

    def path_of(self, name: str) -> str:
        """Return the path of a file, relative to the scenario."""
        return os.path.normpath(self._folder / name)

    def config(self, name: str | None) -> SchedulerConfig | None:
        """Read a configuration by its file, or by the name of a shipped profile."""
        source = "" if name is None else self._config_source(name)
        if source not in self._configs:
            self._configs[source] = self._read_config(source)
        return self._configs[source]

    def knows_kinds_of(self, config: SchedulerConfig) -> None:
        """Allow objects of the kinds that a configuration's plugins and gates allow."""
        self._read_for = config.kubernetes
        try:
            self.kinds = tuple(declared_kinds(config, self._registry))
        except KindError as error:
            self.problems.append(Problem(where=self._file, message=str(error)))

    def nodes(self, specs: Sequence[str], place: str) -> list[Node]:
        """Return the nodes that lines describe."""
        nodes: list[Node] = []
        for index, spec in enumerate(specs):
            try:
                nodes += make_nodes([spec], taken=[node.name for node in nodes])
            except NodesSpecError as error:
                self._findings.add(f"{place}[{index}]", str(error))
        return nodes

    def objects(
        self,
        files: Sequence[str],
        inline: Sequence[Mapping[str, object]],
        place: str,
        *,
        namespace: str | None = None,
        custom_kinds: Sequence[str] = (),
        run_cron_jobs: bool = False,
    ) -> list[ApiObject]:
        """Read objects from files and from the scenario itself."""
        paths = self._existing(files, f"{place}.files")
        try:
            loaded = load(
                paths,
                stored=self._texts(inline, f"{place}.objects"),
                kinds=self.kinds,
                default_namespace=namespace or "default",
                custom_kinds=map(self._config_source, custom_kinds),
                run_cron_jobs=run_cron_jobs,
                kubernetes=self._read_for,
            )
        except (ConfigErrors, ManifestErrors) as error:
            self.problems += error.problems
            return []
        self.notices += loaded.notices
        return list(loaded.objects)

    def run_times(self, name: str, place: str) -> list[float]:
        """Read the run times of a file, in seconds."""
        path = self.path_of(name)
        try:
            text = bytes(read_file(path)).decode()
        except (OSError, UnreadableError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            self._findings.add(place, f"{path}: {why.lower()}")
            return []
        times = []
        for number, line in enumerate(text.splitlines(), 1):
            entry = line.partition("#")[0].strip()
            if entry:
                times += self._run_time(entry, f"{path}: line {number}")
        if not times and not self.problems:
            self._findings.add(place, f"{path}: expected run times, got none")
        return times

    def _run_time(self, entry: str, where: str) -> list[float]:
        try:
            seconds = run_seconds({RUN_SECONDS_ANNOTATION: entry})
        except RunTimeError as error:
            self.problems.append(Problem(where=where, message=str(error)))
            return []
        return [] if seconds is None else [seconds]

    def _read_config(self, source: str) -> SchedulerConfig | None:
        try:
            if not source:
                return default_config(self._registry, kubernetes=self._kubernetes)
            return load_config(source, self._registry, kubernetes=self._kubernetes)
        except ConfigErrors as error:
            self.problems += error.problems
            return None

    def _config_source(self, name: str) -> str:
        """Return a file relative to the scenario, or else the name unchanged."""
        path = self.path_of(name)
        return path if Path(path).exists() or Path(name).suffix else name

    def _existing(self, files: Iterable[str], place: str) -> list[str]:
        paths = []
        for index, name in enumerate(files):
            path = self.path_of(name)
            if Path(path).exists():
                paths.append(path)
            else:
                message = f"expected a file or directory, got {path!r}: there is none"
                self._findings.add(f"{place}[{index}]", message)
        return paths

    def _texts(
        self, inline: Sequence[Mapping[str, object]], place: str
    ) -> list[tuple[str, bytes]]:
        return [
            (f"{self._file}: {place}[{index}]", msgspec.json.encode(tree))
            for index, tree in enumerate(inline)
        ]
