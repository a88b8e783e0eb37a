"""Checks the annotations of pods that name profiles, and that of static pods.

Mirrors ``ValidatePodSpecificAnnotations`` and what it calls (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``). That profiles agree with the fields of the
same purpose is checked when a pod is read.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import PodSpec
from quaymaster._api.objects.file_paths import check_descending
from quaymaster._api.objects.report import Report

__all__ = ["check_profiles", "names_profiles"]

_SECCOMP: Final = (
    "seccomp.security.alpha.kubernetes.io/pod",
    "container.seccomp.security.alpha.kubernetes.io/",
)
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_MIRROR: Final = "kubernetes.io/config.mirror"
_ALL: Final = (*_SECCOMP, _APP_ARMOR, _MIRROR)
_LOCALHOST: Final = "localhost/"
_SECCOMP_PROFILES: Final = ("runtime/default", "docker/default", "unconfined")
_APP_ARMOR_PROFILES: Final = ("", "runtime/default", "unconfined")


def names_profiles(annotations: Mapping[str, str]) -> bool:
    """Return whether there are annotations that `check_profiles` checks."""
    return any(key.startswith(_ALL) for key in annotations)


def check_profiles(
    annotations: Mapping[str, str],
    spec: PodSpec,
    node_name: str,
    path: str,
    report: Report,
) -> None:
    """Check the annotations with profiles, and that of static pods.

    Args:
        annotations: The annotations.
        spec: The pod's spec.
        node_name: The node that the pod is bound to.
        path: The path of the annotations.
        report: Collects the problems.
    """
    if _MIRROR in annotations and not node_name:
        expected, value = "none, since the pod has no nodeName", annotations[_MIRROR]
        report.expect(False, f"{path}[{_MIRROR}]", expected, value)
    containers = {c.name for c in (*spec.containers, *spec.init_containers)}
    for key, profile in annotations.items():
        # One check covers pods and containers: upstream does not compare the name in a
        # seccomp annotation with the containers, as it does for AppArmor.
        if key.startswith(_SECCOMP):
            _check_seccomp(profile, f"{path}.{key}", report)
        elif key.startswith(_APP_ARMOR):
            name = key.removeprefix(_APP_ARMOR)
            expected = "the name of one of the pod's containers"
            report.expect(name in containers, f"{path}[{key}]", expected, name)
            is_profile = profile in _APP_ARMOR_PROFILES or profile.startswith(
                _LOCALHOST
            )
            expected = "runtime/default, unconfined or localhost/..."
            report.expect(is_profile, f"{path}[{key}]", expected, profile)


def _check_seccomp(profile: str, path: str, report: Report) -> None:
    if profile.startswith(_LOCALHOST):
        check_descending(profile.removeprefix(_LOCALHOST), path, report)
    else:
        report.one_of(profile, (*_SECCOMP_PROFILES, f"{_LOCALHOST}..."), path)
