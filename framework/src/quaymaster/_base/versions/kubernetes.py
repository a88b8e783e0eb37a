"""The simulated Kubernetes: a minor version with its feature gates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.suggestions import did_you_mean
from quaymaster._base.versions.release import Change, Release
from quaymaster._base.versions.v1_36 import V1_36
from quaymaster._base.versions.v1_37 import PLUGIN_ORDER, V1_37

__all__ = [
    "CHANGES",
    "DEFAULT_KUBERNETES",
    "GATED_PLUGINS",
    "KIND_GATES",
    "KUBERNETES_VERSIONS",
    "RELEASES",
    "Kubernetes",
    "KubernetesError",
    "written_gates",
]

RELEASES: Final[Mapping[str, Release]] = {
    release.version: release for release in (V1_36, V1_37)
}
"""The minor versions, from the oldest on, by name."""

KUBERNETES_VERSIONS: Final = tuple(RELEASES)
"""The minor versions that can be simulated, from the oldest on."""

CHANGES: Final[Mapping[str, Change]] = {
    change.name: change for release in RELEASES.values() for change in release.changes
}
"""The changes that versions made, by name."""

GATED_PLUGINS: Final[Mapping[str, str]] = {
    name: gate
    for release in RELEASES.values()
    for name, gate in release.gated_plugins.items()
}
"""Plugins of kube-scheduler that exist only with a gate, and that gate."""

_SINCE: Final[Mapping[str, str]] = {
    change.name: release.version
    for release in RELEASES.values()
    for change in release.changes
}
"""Change -> the version that introduced it."""

_DEFAULT_VERSION: Final = KUBERNETES_VERSIONS[-1]

_PLAYED: Final = frozenset(
    {
        "CompositePodGroup",
        "DRADeviceCompatibilityGroups",
        "DRADeviceTaintRules",
        "DRADeviceTaints",
        "DRAFractionalCapacityRange",
        "DRAListTypeAttributes",
        "DRAOptionalNodeOperations",
        "DRAWorkloadResourceClaims",
        "GenericWorkload",
        "MaxUnavailableStatefulSet",
        "PodGroupPreemptionPolicy",
        "PodLevelResourcesFixDefaulting",
        "PodLevelResourcesFixKubeletQOSClass",
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "TopologyAwareWorkloadScheduling",
        "VolumeLimitScaling",
        "WorkloadWithJob",
    }
)
"""The gates that can be simulated with both values."""

_PLAYED_SINCE: Final[Mapping[str, str]] = {
    "CompositePodGroup": "1.37",
    "DRAListTypeAttributes": "1.37",
    "DRAWorkloadResourceClaims": "1.37",
    "GenericWorkload": "1.37",
    "PodGroupPreemptionPolicy": "1.37",
    "TopologyAwareWorkloadScheduling": "1.37",
    "WorkloadWithJob": "1.37",
}
"""Gate -> the first version in which both values work; by default all versions."""

_WITHOUT_EFFECT: Final = frozenset(
    {
        "InterPodAffinityHostnameFastPath",
        "OpportunisticBatching",
        "SchedulerAsyncAPICalls",
        "SchedulerPreQueueingHints",
    }
)
"""The gates of how upstream computes or writes, which change no decision here."""


_DEPENDENCIES: Final[Mapping[str, Sequence[str]]] = {
    "CompositePodGroup": ("GenericWorkload", "TopologyAwareWorkloadScheduling"),
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRAWorkloadResourceClaims": ("DynamicResourceAllocation", "GenericWorkload"),
    "PodGroupPreemptionPolicy": ("GenericWorkload",),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
    "WorkloadWithJob": ("GenericWorkload",),
}
"""Gate -> the gates that it requires, among the simulated ones.

Mirrors ``defaultKubernetesFeatureGateDependencies`` (Kubernetes v1.37,
``pkg/features/kube_features.go``).
"""

KIND_GATES: Final[Mapping[str, str]] = {
    "CompositePodGroup": "CompositePodGroup",
    "DeviceTaintRule": "DRADeviceTaintRules",
    "PodGroup": "GenericWorkload",
    "Workload": "GenericWorkload",
}
"""Kind of Kubernetes itself -> the gate without which it is not read."""


class KubernetesError(QuaymasterError, ValueError):
    """A version or a feature gate of Kubernetes cannot be simulated.

    Attributes:
        where: The argument with the mistake: ``kubernetes_version``, ``feature_gates``
            or ``change``.
        problem: What is wrong with it.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


@attrs.frozen
class Kubernetes:
    """A minor version of Kubernetes with its feature gates.

    Every configuration is completed for one version. Plugins read it from
    `Handle.kubernetes` when they are built.

    Args:
        version: One of `KUBERNETES_VERSIONS`.
        feature_gates: The gates that differ from their defaults, as in the flag
            ``--feature-gates`` of kube-scheduler.
        left_out: Changes of versions to leave out, which no kube-scheduler can do; the
            difference shows the effect of a change.

    Raises:
        KubernetesError: There is no such version, gate or change, a gate is locked, or
            its other value cannot be simulated.
    """

    version: str = _DEFAULT_VERSION
    feature_gates: Mapping[str, bool] = attrs.field(factory=dict, hash=False)
    left_out: frozenset[str] = frozenset()

    def __attrs_post_init__(self) -> None:
        if self.version not in RELEASES:
            versions = ", ".join(KUBERNETES_VERSIONS)
            problem = f"expected one of {versions}, got {self.version!r}"
            raise KubernetesError("kubernetes_version", problem)
        for gate, is_on in self.feature_gates.items():
            problem = _gate_problem(self._release, gate, is_on)
            if problem:
                raise KubernetesError("feature_gates", f"{gate}: {problem}")
        for gate, needed in _DEPENDENCIES.items():
            self._check_dependencies(gate, needed)
        for change in self.left_out:
            _known_change(change)

    def since(self, version: str) -> bool:
        """Return whether this is the given version or a later one.

        Args:
            version: One of `KUBERNETES_VERSIONS`.
        """
        versions = KUBERNETES_VERSIONS
        return versions.index(self.version) >= versions.index(version)

    def enabled(self, gate: str) -> bool:
        """Return whether a feature gate is on; a gate that the version lacks is off."""
        default = self._release.feature_gates.get(gate, False)
        return self.feature_gates.get(gate, default)

    def reads(self, kind: str) -> bool:
        """Return whether the scheduler reads a kind, such as ``DeviceTaintRule``.

        Args:
            kind: The name of the kind.
        """
        gate = KIND_GATES.get(kind)
        return gate is None or self.enabled(gate)

    def has(self, change: str) -> bool:
        """Return whether a change is in effect; earlier versions behave differently.

        Plugins call this when they are built, and not for each pod.

        Args:
            change: Its name, such as ``resize-totals``; docs/reference lists them.

        Raises:
            KubernetesError: There is no such change.
        """
        gate = _known_change(change).gate
        if gate:
            return self.enabled(gate)
        return change not in self.left_out and self.since(_SINCE[change])

    def without(self, change: str) -> "Kubernetes":
        """Return the same without a change; its feature gate is off, if it has one.

        Raises:
            KubernetesError: There is no such change.
        """
        gate = _known_change(change).gate
        if gate:
            return attrs.evolve(self, feature_gates={**self.feature_gates, gate: False})
        return attrs.evolve(self, left_out=self.left_out | {change})

    @property
    def default_profile(self) -> str:
        """The shipped profile that is merged under every configuration."""
        release = self._release if self.has(PLUGIN_ORDER) else V1_36
        return release.default_profile

    @property
    def gated_plugins(self) -> Mapping[str, str]:
        """Plugin -> the gate that adds it to the end of the default profile, in order.

        Mirrors ``applyFeatureGates`` (Kubernetes v1.37,
        ``pkg/scheduler/apis/config/v1/default_plugins.go``).
        """
        return self._release.gated_plugins

    def _check_dependencies(self, gate: str, needed: Sequence[str]) -> None:
        """Reject a gate that is on while a gate that it depends on is off."""
        missing = [name for name in needed if not self.enabled(name)]
        if missing and self.enabled(gate):
            text = f"is on, but depends on gates that are off: {', '.join(missing)}"
            raise KubernetesError("feature_gates", f"{gate}: {text}")

    @property
    def _release(self) -> Release:
        return RELEASES[self.version]

    def __str__(self) -> str:
        """Return the version and its set gates: ``1.37 (VolumeLimitScaling=false)``."""
        gates = written_gates(self.feature_gates)
        text = f"{self.version} ({gates})" if gates else self.version
        left_out = ", ".join(sorted(self.left_out))
        return f"{text} without {left_out}" if left_out else text


DEFAULT_KUBERNETES: Final = Kubernetes()
"""The simulated Kubernetes unless the caller chooses one."""


def written_gates(gates: Mapping[str, bool]) -> str:
    """Format gates for the flag ``--feature-gates``."""
    return ",".join(f"{gate}={str(gates[gate]).lower()}" for gate in sorted(gates))


def _known_change(name: str) -> Change:
    change = CHANGES.get(name)
    if change is None:
        hint = did_you_mean(name, CHANGES)
        raise KubernetesError("change", f"there is no change {name!r}{hint}")
    return change


def _is_played(release: Release, gate: str) -> bool:
    """Return whether both values of a gate can be simulated in a version."""
    first = _PLAYED_SINCE.get(gate, KUBERNETES_VERSIONS[0])
    versions = KUBERNETES_VERSIONS
    return gate in _PLAYED and versions.index(release.version) >= versions.index(first)


def _gate_problem(release: Release, gate: str, is_on: object) -> str:
    """Describe what is wrong with a gate, or return an empty text."""
    gates: Iterable[str] = release.feature_gates
    if gate not in release.feature_gates:
        hint = did_you_mean(gate, gates)
        return f"the scheduler of {release.version} reads no such feature gate{hint}"
    if not isinstance(is_on, bool):
        return f"expected true or false, got {is_on!r}"
    default = release.feature_gates[gate]
    if is_on == default or gate in _WITHOUT_EFFECT or _is_played(release, gate):
        return ""
    always = str(default).lower()
    if gate in release.locked:
        return f"Kubernetes {release.version} locks it to {always}"
    return f"only {always} is played, its default in {release.version}"
