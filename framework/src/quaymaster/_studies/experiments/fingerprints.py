"""Identifies a run by hashes of everything that its result depends on."""

import functools
import hashlib
import importlib.util
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from quaymaster._base.errors import Problem
from quaymaster._base.versions.kubernetes import written_gates
from quaymaster._core.config.kinds import profile_plugins
from quaymaster._core.config.load import parse_config
from quaymaster._studies.experiments.autoscalers import AutoscalerFile
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import (
    Cell,
    Experiment,
    Part,
    registry_with,
)
from quaymaster._studies.experiments.offers import INPUTS
from quaymaster._studies.experiments.used_code import (
    distribution_versions,
    python_version,
    used_code,
)

__all__ = ["Code", "Fingerprints", "Surroundings", "code_of", "hash_of"]

_OWN: Final = "quaymaster"
# 128 bits: more than enough for any number of runs, and short as names of files.
_DIGITS: Final = 32


@attrs.frozen(kw_only=True)
class Code:
    """The code of a package that an experiment uses.

    Attributes:
        package: The package, or the module.
        sha256: The hash of its Python files.
    """

    package: str
    sha256: str


@attrs.frozen(kw_only=True)
class Surroundings:
    """The code and the versions that an experiment uses, which its results depend on.

    Attributes:
        python: The implementation and the version of Python.
        packages: Package -> hash of its Python files, for the packages of the inputs,
            metrics and plugins.
        modules: Module -> hash of its file, for the modules that these import and that
            no distribution has installed.
        distributions: Distribution -> version, for all that this code needs.
    """

    python: str
    packages: Mapping[str, str]
    modules: Mapping[str, str]
    distributions: Mapping[str, str]

    def difference(self) -> str:
        """Compare with this process; return what differs, or an empty text."""
        python = python_version()
        if python != self.python:
            return f"has {python}, and not {self.python}"
        for name, digest in self.packages.items():
            if code_of(name).sha256 != digest:
                return f"has another version of package {name!r}"
        modules = used_code(self.modules).modules
        for name, digest in self.modules.items():
            if modules.get(name) != digest:
                return f"has another version of module {name!r}"
        versions = distribution_versions(self.distributions, ())
        for name, version in self.distributions.items():
            if versions.get(name) != version:
                present = versions.get(name, "no version")
                return f"has {present} of distribution {name!r}, and not {version}"
        return ""


class Fingerprints:
    """Hashes the parts of the runs of an experiment, each part once.

    Args:
        experiment: The experiment.

    Attributes:
        files: Path -> hash, for the files that inputs and autoscalers read.
        surroundings: The code and the versions that the experiment uses.
    """

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self.files: dict[str, str] = {}
        self._of_autoscalers: dict[str, Mapping[str, str]] = {}
        self.surroundings = _surroundings(experiment)
        # By identity, as parameters of parts may lack a hash.
        self._inputs = {id(part): self._input(part) for part in experiment.inputs}
        self._common = hash_of(
            {
                "kubernetes": experiment.kubernetes.version,
                "gates": written_gates(experiment.kubernetes.feature_gates),
                "options": repr(experiment.options),
                "plugins": dict(experiment.plugins),
                "departures first": experiment.departures_first,
                "period": [str(experiment.period.horizon), experiment.period.warm_up],
                "workload seed": experiment.workload_seed,
                "node failures": [str(entry) for entry in experiment.node_failures],
                "restarts": str(experiment.restarts),
                "interference": None
                if experiment.interference is None
                else [
                    experiment.interference.origin,
                    dict(experiment.interference.parameters),
                ],
                "metrics": {
                    name: [used.origin, dict(used.parameters)]
                    for name, used in experiment.metrics.items()
                },
                "surroundings": attrs.asdict(self.surroundings),
            }
        )

    def of(self, cell: Cell) -> str:
        """Return the hash of a run: runs with equal hashes have the same results."""
        content = {
            "common": self._common,
            "input": self._inputs[id(cell.input)],
            "config": cell.profile.config,
            "seed": cell.seed,
            "repetition": cell.repetition,
        }
        autoscaler = cell.profile.autoscaler
        if autoscaler is not None:
            content["autoscaler"] = autoscaler.document
            content["autoscaler files"] = self._autoscaler_files(autoscaler)
        return hash_of(content)[:_DIGITS]

    def _autoscaler_files(self, autoscaler: AutoscalerFile) -> Mapping[str, str]:
        """Return the hashes of what an autoscaler reads, such as its catalogue."""
        text = hash_of(autoscaler.document)
        if text not in self._of_autoscalers:
            self._of_autoscalers[text] = self._hashes(autoscaler.files())
        return self._of_autoscalers[text]

    def _input(self, part: Part) -> str:
        try:
            return self._read_input(part)
        except OSError as error:
            file, reason = error.filename or "a file", error.strerror or str(error)
            message = f"cannot read {file}: {reason.lower()}"
            problem = Problem(
                where=self._experiment.file, path=f"input {part.name}", message=message
            )
            raise ExperimentErrors([problem]) from error

    def _read_input(self, part: Part) -> str:
        assert part.used is not None
        folder = self._experiment.folder
        files = self._hashes(INPUTS.build(part.used).reads(folder))
        return hash_of([part.used.origin, dict(part.used.parameters), files])

    def _hashes(self, reads: Iterable[Path]) -> Mapping[str, str]:
        """Return the hashes of files and of all files in folders, by relative path."""
        files = {}
        for path in sorted(_files(reads)):
            text = str(path)
            if text not in self.files:
                self.files[text] = hashlib.sha256(path.read_bytes()).hexdigest()
            # Relative, so that results stay valid when the folder is moved or copied.
            files[os.path.relpath(path, self._experiment.folder)] = self.files[text]
        return files


@functools.cache
def code_of(package: str) -> Code:
    """Hash the Python files of an installed package or module."""
    digest = hashlib.sha256()
    # File systems list a folder in different orders.
    for path in sorted(_sources(package)):
        # Hashes of the files, not their texts: code that moves from the end of one file
        # to the beginning of the next must count.
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return Code(package=package, sha256=digest.hexdigest())


def _surroundings(experiment: Experiment) -> Surroundings:
    """Return the code and the versions that an experiment uses."""
    registry = registry_with(experiment.plugins)
    origins = [
        *(part.used.origin for part in experiment.inputs if part.used is not None),
        *(metric.origin for metric in experiment.metrics.values()),
    ]
    if experiment.interference is not None:
        origins.append(experiment.interference.origin)
    plugins: set[str] = set()
    for part in experiment.profiles:
        config = parse_config(part.config, registry, kubernetes=experiment.kubernetes)
        # Plugins that no profile uses may change without making results invalid.
        plugins.update(profile_plugins(config))
    origins += [registry[name].origin for name in plugins]
    scaled = [each.autoscaler for each in experiment.profiles if each.autoscaler]
    origins += [each.offer.entry.value for each in scaled]
    modules = [origin.partition(":")[0] for origin in origins]
    code = used_code(modules)
    distributions = {
        _OWN,
        *(registry[name].distribution for name in plugins),
        *(each.offer.distribution for each in scaled),
    }
    return Surroundings(
        python=python_version(),
        packages={
            name: code_of(name).sha256
            # The whole package, not only the module, since a class may use any of it.
            for name in sorted({_OWN, *(name.partition(".")[0] for name in modules)})
        },
        modules=code.modules,
        distributions=distribution_versions(filter(None, distributions), code.packages),
    )


def _sources(package: str) -> Iterator[Path]:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from Path(folder).rglob("*.py")
    if spec is not None and spec.origin and not spec.submodule_search_locations:
        yield Path(spec.origin)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (file for file in path.rglob("*") if file.is_file())
        else:
            yield path


def hash_of(value: object) -> str:
    """Hash plain data, independent of the order of keys."""
    text = json.dumps(value, sort_keys=True, default=str, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
