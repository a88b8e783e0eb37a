"""The policies of the study, and experiments with them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
from quaymaster.experiments import Experiment, parse_experiment

__all__ = ["POLICIES", "SEEDS", "WORKLOADS", "Policy", "experiment"]

_PACKAGE: Final = "quaymaster_openb"
_PROFILES: Final = Path(__file__).parent / "profiles"
_SHARING: Final = ("GpuShare", "RandomGpuShare", "FGDGpuShare")

WORKLOADS: Final = (
    "default",
    *("cpu050", "cpu100", "cpu200", "cpu250"),
    *("gpushare40", "gpushare60", "gpushare80", "gpushare100"),
    *("gpuspec10", "gpuspec20", "gpuspec25", "gpuspec33"),
    *("multigpu20", "multigpu30", "multigpu40", "multigpu50"),
)
"""The lists of pods with which results were published."""

SEEDS: Final = tuple(range(42, 52))
"""The seeds with which results were published."""


@attrs.frozen
class Policy:
    """A policy.

    Attributes:
        number: Its number in the study.
        name: Its name there, which is also that of its profile.
        plugin: The Score plugin.
    """

    number: str
    name: str
    plugin: str

    @property
    def published(self) -> str:
        """The name in the published tables."""
        return f"{self.number}-{self.name}"

    @property
    def profile(self) -> Path:
        """The file of its configuration."""
        return _PROFILES / f"{self.published}.yaml"


POLICIES: Final = (
    Policy("01", "Random", "RandomScore"),
    Policy("02", "DotProd", "DotProductScore"),
    Policy("03", "GpuClustering", "GpuClusteringScore"),
    Policy("04", "GpuPacking", "GpuPackingScore"),
    Policy("05", "BestFit", "BestFitScore"),
    Policy("06", "FGD", "FGDScore"),
)


def experiment(
    data: Path,
    *,
    workloads: Sequence[str] = WORKLOADS,
    policies: Sequence[Policy] = POLICIES,
    seeds: Sequence[int] = SEEDS,
    with_decisions: bool = False,
) -> Experiment:
    """Make the experiment: each workload with each policy and each seed.

    Args:
        data: The folder of the published lists.
        workloads: The lists of pods.
        policies: The policies.
        seeds: The seeds.
        with_decisions: Whether each decision is noted; of one policy only.

    Raises:
        ExperimentErrors: A seed is given twice, or something else cannot be run.
    """
    plugins = [*_SHARING, *(policy.plugin for policy in POLICIES)]
    metrics: list[Mapping[str, object]] = [_used("openb", "Figures")]
    if with_decisions:
        [policy] = policies
        metrics.append(_used("decisions", "Decisions", policy=policy.plugin))
    document = {
        "apiVersion": "simulation.quaymaster.io/v1alpha1",
        "kind": "Experiment",
        "name": "openb",
        "plugins": {name: f"{_PACKAGE}:{name}" for name in plugins},
        "inputs": [
            _used(name, "OpenB", data=str(data.absolute()), workload=name)
            for name in workloads
        ],
        "profiles": [
            {"name": policy.name, "config": str(policy.profile)} for policy in policies
        ],
        "seeds": list(seeds),
        "metrics": metrics,
    }
    return parse_experiment(json.dumps(document))


def _used(name: str, what: str, **parameters: object) -> Mapping[str, object]:
    return {"name": name, "use": f"{_PACKAGE}:{what}", "parameters": parameters}
