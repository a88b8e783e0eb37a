"""The Kubernetes whose scheduler is played: a minor version with its feature gates."""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from quaymaster._errors import QuaymasterError
from quaymaster._suggestions import did_you_mean
from quaymaster._versions.release import Release
from quaymaster._versions.v1_36 import V1_36
from quaymaster._versions.v1_37 import V1_37

__all__ = [
    "DEFAULT_KUBERNETES",
    "KUBERNETES_VERSIONS",
    "Kubernetes",
    "KubernetesError",
]

_RELEASES: Final[Mapping[str, Release]] = {
    release.version: release for release in (V1_36, V1_37)
}
"""From the oldest on."""

KUBERNETES_VERSIONS: Final = tuple(_RELEASES)
"""The minor versions whose scheduler can be played, from the oldest on."""

_DEFAULT_VERSION: Final = V1_36.version

_PLAYED: Final = frozenset({"StorageCapacityScoring", "VolumeLimitScaling"})
"""The gates that are played with both values."""

_WITHOUT_EFFECT: Final = frozenset(
    {
        "InterPodAffinityHostnameFastPath",
        "OpportunisticBatching",
        "SchedulerAsyncAPICalls",
        "SchedulerPreQueueingHints",
    }
)
"""The gates of how upstream computes or writes, which change no decision here."""


class KubernetesError(QuaymasterError, ValueError):
    """A version or a feature gate of Kubernetes that cannot be played.

    Attributes:
        where: What was given: ``kubernetes_version`` or ``feature_gates``.
        problem: What is wrong with it.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


@attrs.frozen
class Kubernetes:
    """A minor version of Kubernetes with its feature gates.

    Every configuration is completed for one; plugins ask for it when they are built, by
    `Handle.kubernetes`.

    Args:
        version: One of `KUBERNETES_VERSIONS`.
        feature_gates: The gates that are set otherwise than by default, as with the
            flag ``--feature-gates`` of kube-scheduler.

    Raises:
        KubernetesError: There is no such version or gate, a gate is locked, or its
            other value is not played.
    """

    version: str = _DEFAULT_VERSION
    feature_gates: Mapping[str, bool] = attrs.field(factory=dict, hash=False)

    def __attrs_post_init__(self) -> None:
        if self.version not in _RELEASES:
            known = ", ".join(KUBERNETES_VERSIONS)
            problem = f"expected one of {known}, got {self.version!r}"
            raise KubernetesError("kubernetes_version", problem)
        for gate, is_on in self.feature_gates.items():
            problem = _gate_problem(self._release, gate, is_on)
            if problem:
                raise KubernetesError("feature_gates", f"{gate}: {problem}")

    def since(self, version: str) -> bool:
        """Whether it is this version, or a later one.

        Args:
            version: One of `KUBERNETES_VERSIONS`.
        """
        known = KUBERNETES_VERSIONS
        return known.index(self.version) >= known.index(version)

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; one that the version does not know is off."""
        default = self._release.feature_gates.get(gate, False)
        return self.feature_gates.get(gate, default)

    @property
    def default_profile(self) -> str:
        """The name of the shipped profile that is merged under every configuration."""
        return self._release.default_profile

    @property
    def _release(self) -> Release:
        return _RELEASES[self.version]

    def __str__(self) -> str:
        """The version, and what is set: ``1.37 (VolumeLimitScaling=false)``."""
        gates = written_gates(self.feature_gates)
        return f"{self.version} ({gates})" if gates else self.version


DEFAULT_KUBERNETES: Final = Kubernetes()
"""The Kubernetes that is played where nobody says which."""


def written_gates(gates: Mapping[str, bool]) -> str:
    """Write gates as the flag ``--feature-gates`` takes them."""
    return ",".join(f"{gate}={str(gates[gate]).lower()}" for gate in sorted(gates))


def _gate_problem(release: Release, gate: str, is_on: object) -> str:
    """What is wrong with a gate, or empty."""
    known: Iterable[str] = release.feature_gates
    if gate not in release.feature_gates:
        hint = did_you_mean(gate, known)
        return f"the scheduler of {release.version} reads no such feature gate{hint}"
    if not isinstance(is_on, bool):
        return f"expected true or false, got {is_on!r}"
    default = release.feature_gates[gate]
    if is_on == default or gate in _WITHOUT_EFFECT or gate in _PLAYED:
        return ""
    always = str(default).lower()
    if gate in release.locked:
        return f"Kubernetes {release.version} locks it to {always}"
    return f"only {always} is played, its default in {release.version}"
