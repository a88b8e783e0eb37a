"""Checks seccomp and AppArmor profiles, as fields and as annotations.

Mirrors ``validateSeccompProfileField``, ``ValidateAppArmorProfileField``,
``validateSeccompAnnotationsAndFields`` and
``validateAppArmorAnnotationsAndFieldsMatchOnCreate`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from quaymaster._api.objects.file_paths import check_descending
from quaymaster._api.objects.part import Part

__all__ = ["ANNOTATIONS", "check_annotated_profiles", "check_profiles"]

_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_MAX_PATH: Final = 4095
_LOCALHOST: Final = "localhost/"
_SECCOMP_OF_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "Unconfined": ("unconfined",),
    "RuntimeDefault": ("runtime/default", "docker/default"),
}
_APP_ARMOR_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "Unconfined": ("unconfined",),
    "RuntimeDefault": ("runtime/default",),
}

ANNOTATIONS: Final = (_SECCOMP_OF_POD, _SECCOMP, _APP_ARMOR)
"""The beginnings of annotations that must agree with the fields."""


def check_profiles(context: Part) -> None:
    """Check the profiles of a security context."""
    seccomp = context.part("seccompProfile")
    if seccomp is not None:
        _check_type(seccomp)
        if seccomp.has("localhostProfile") and seccomp.text("type") == "Localhost":
            path = seccomp.at("localhostProfile")
            check_descending(seccomp.text("localhostProfile"), path, seccomp.report)
    app_armor = context.part("appArmorProfile")
    if app_armor is not None:
        _check_type(app_armor)
        if app_armor.has("localhostProfile") and app_armor.text("type") == "Localhost":
            _check_name(app_armor)


def check_annotated_profiles(
    spec: Part, containers: Iterable[Part], annotations: Mapping[str, str]
) -> None:
    """Check that annotations and fields of a pod agree."""
    context = spec.part("securityContext")
    seccomp = context.part("seccompProfile") if context else None
    value = annotations.get(_SECCOMP_OF_POD)
    if seccomp is not None and value is not None:
        _check_match(seccomp, value, _SECCOMP_VALUES)
    app_armor = context.part("appArmorProfile") if context else None
    for container in containers:
        _check_container(container, app_armor, annotations)


def _check_container(
    container: Part, app_armor: Part | None, annotations: Mapping[str, str]
) -> None:
    name, context = container.text("name"), container.part("securityContext")
    seccomp = context.part("seccompProfile") if context else None
    own = context.part("appArmorProfile") if context else None
    value = annotations.get(f"{_SECCOMP}{name}")
    if seccomp is not None and value is not None:
        _check_match(seccomp, value, _SECCOMP_VALUES)
    profile, value = own or app_armor, annotations.get(f"{_APP_ARMOR}{name}")
    if profile is not None and value is not None:
        _check_match(profile, value, _APP_ARMOR_VALUES)


def _check_type(profile: Part) -> None:
    kind, has_file = profile.text("type"), profile.has("localhostProfile")
    profile.report.one_of(kind, _TYPES, profile.at("type"))
    if kind == "Localhost":
        if not has_file:
            profile.add("localhostProfile", "expected one for the type Localhost")
    elif has_file and kind in _TYPES:
        profile.add("localhostProfile", "expected none but for the type Localhost")


def _check_name(profile: Part) -> None:
    name = profile.text("localhostProfile")
    is_name = bool(name) and name == name.strip()
    profile.expect(is_name, "localhostProfile", "a name without space around it", name)
    if len(name.encode()) > _MAX_PATH:
        expected = f"at most {_MAX_PATH} bytes"
        profile.expect(False, "localhostProfile", expected, len(name.encode()))


def _check_match(
    profile: Part, value: str, values: Mapping[str, tuple[str, ...]]
) -> None:
    kind, expected = profile.text("type"), "the profile of the annotation"
    if kind == "Localhost":
        name = profile.text("localhostProfile")
        if not value.startswith(_LOCALHOST):
            profile.expect(False, "type", expected, kind)
        elif value.removeprefix(_LOCALHOST) != name:
            profile.expect(False, "localhostProfile", expected, name)
    elif kind in values:
        profile.expect(value in values[kind], "type", expected, kind)
