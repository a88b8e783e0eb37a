"""Describes the origin of results: versions, hashes, machines, times."""

import json
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Final

from quaymaster._studies.experiments.experiment import Experiment, registry_with
from quaymaster._studies.experiments.fingerprints import Fingerprints, hash_of

__all__ = ["provenance"]

_LIBRARIES: Final = ("quaymaster", "numpy", "pyarrow", "msgspec", "attrs")


def provenance(
    experiment: Experiment, fingerprints: Fingerprints, session: Mapping[str, object]
) -> bytes:
    """Describe the origin of the results of an experiment, as JSON.

    Args:
        experiment: The experiment.
        fingerprints: The hashes of everything that results depend on.
        session: Facts about the sweep itself.
    """
    registry = registry_with(experiment.plugins)
    distributions = {
        **fingerprints.surroundings.distributions,
        **{name: metadata.version(name) for name in _LIBRARIES},
        **{
            plugin.distribution: plugin.version
            for plugin in registry.values()
            if plugin.distribution
        },
    }
    document = {
        "experiment": experiment.name,
        "file": experiment.file,
        "sha256": experiment.sha256,
        "kubernetes": experiment.kubernetes.version,
        "featureGates": dict(experiment.kubernetes.feature_gates),
        "configurations": [
            {
                "profile": profile.name,
                **profile.values,
                "sha256": hash_of(profile.config),
            }
            for profile in experiment.profiles
        ],
        "files": dict(sorted(fingerprints.files.items())),
        "code": fingerprints.surroundings.packages,
        "modules": fingerprints.surroundings.modules,
        "distributions": dict(sorted(distributions.items())),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "machine": platform.machine(),
        **session,
    }
    return json.dumps(document, indent=2, default=str).encode() + b"\n"
