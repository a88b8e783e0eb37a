"""The feature gates that a configuration sets."""

from collections.abc import Mapping

import attrs

from quaymaster._base.versions.kubernetes import Kubernetes, KubernetesError
from quaymaster._core.config.document import Document
from quaymaster._core.config.findings import Findings

__all__ = ["gated"]

_KEY = "featureGates"


def gated(kubernetes: Kubernetes, settings: Document, findings: Findings) -> Kubernetes:
    """Return Kubernetes with the feature gates of a configuration.

    Args:
        kubernetes: The version and the gates that the caller has chosen; these override
            the gates of the configuration.
        settings: The configuration.
        findings: Collects mistakes.
    """
    own: object = settings.feature_gates
    # A value of another type is reported already.
    if not isinstance(own, Mapping) or not own:
        return kubernetes
    gates = {**own, **kubernetes.feature_gates}
    try:
        return attrs.evolve(kubernetes, feature_gates=gates)
    except KubernetesError as error:
        findings.add(_KEY, error.problem)
        return kubernetes
