"""Finds the notices for objects that are skipped."""

from collections.abc import Mapping
from typing import Final

import attrs

from quaymaster._api.objects import KINDS
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import GROUP_KINDS, group_of
from quaymaster._api.openapi.table import structure_of
from quaymaster._base.notices import NoticeReason
from quaymaster._base.suggestions import did_you_mean
from quaymaster._clusters.manifests.acting_kinds import effect_of
from quaymaster._clusters.manifests.builtin_kinds import (
    BUILTIN_KINDS,
    is_builtin_group,
)
from quaymaster._clusters.manifests.custom_kinds import mapping_for
from quaymaster._clusters.manifests.types import ObjectType

__all__ = ["CRON_JOB_NOT_RUN", "Finding", "examine"]

_CRON_JOB: Final = "CronJob"
_CRON_JOB_VERSION: Final = "batch/v1"
_RUNS_PODS: Final = frozenset(
    (
        _CRON_JOB,
        "DaemonSet",
        "Deployment",
        "Job",
        "Pod",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    )
)
_TEMPLATE: Final = "template"
_DEEPEST: Final = 16
"""How deep in an object a pod template is searched for; real ones are 6 deep."""


@attrs.frozen
class Finding:
    """A finding about one object, and others like it.

    Attributes:
        reason: The reason of the notice.
        path: The field that shows it.
        message: The effect of it.
    """

    reason: NoticeReason
    path: str
    message: str


CRON_JOB_NOT_RUN: Final = Finding(
    NoticeReason.MISSING_PODS,
    "",
    "CronJobs do not run, so the pods of their Jobs are missing; "
    "--run-cronjobs makes one Job of each",
)


_OTHER_FILES: Final = {
    "kustomize.config.k8s.io": Finding(
        NoticeReason.MISSING_PODS,
        "",
        "the objects of this kustomization are missing; "
        "kubectl kustomize DIR | quaymaster simulate - reads it",
    ),
    "kubescheduler.config.k8s.io": Finding(
        NoticeReason.UNKNOWN_KIND,
        "",
        "the configuration of a scheduler, which --config reads, was left out",
    ),
}
"""The notices for files of other programs, by their group."""


def examine(
    tree: Mapping[str, object], typed: ObjectType, kinds: KindSet
) -> Finding | None:
    """Return the finding about an object whose kind has no class, or None.

    Args:
        tree: The object.
        typed: The type that it names.
        kinds: The kinds that have a class.
    """
    group = group_of(typed.api_version)
    if group in _OTHER_FILES:
        return _OTHER_FILES[group]
    declared = kinds.declared_as(group, typed.kind)
    if declared is not None:
        return _of_declared(tree, typed, declared.api_version)
    if typed.kind in BUILTIN_KINDS and (
        is_builtin_group(group) or group.endswith(".k8s.io")
    ):
        return _other_version(typed)
    if is_builtin_group(group) and effect_of(*typed) is None:
        has_template = _find_template(tree) is not None
        return _unknown_kind(typed, has_template=has_template)
    return _unrun_pods(tree, typed)


def _of_declared(
    tree: Mapping[str, object], typed: ObjectType, version: str
) -> Finding | None:
    """Return the finding about a declared kind under another version."""
    if typed.kind in BUILTIN_KINDS and is_builtin_group(group_of(version)):
        # A PodTemplate runs no pods.
        return None
    unrun = _unrun_pods(tree, typed)
    if unrun is not None and unrun.reason is not NoticeReason.UNFOLLOWED_KINDS:
        return unrun
    # The plugin that declares the kind follows it.
    if typed.api_version == version:
        return None
    return Finding(
        NoticeReason.UNKNOWN_VERSION,
        "apiVersion",
        f"expected {version!r} for a {typed.kind}, got {typed.api_version!r}; "
        "it was left out",
    )


def _unrun_pods(tree: Mapping[str, object], typed: ObjectType) -> Finding | None:
    """Return the finding about an object with a pod template whose pods do not run."""
    template = _find_template(tree)
    if template is None:
        return _unfollowed(typed)
    message = f"the pods of this {typed.kind} ({typed.api_version}) are missing"
    shipped = mapping_for(group_of(typed.api_version), typed.kind)
    hint = (
        f"--custom-kinds {shipped} runs them"
        if shipped
        else "--custom-kinds FILE describes how many there are"
    )
    return Finding(NoticeReason.MISSING_PODS, template, f"{message}; {hint}")


def _unfollowed(typed: ObjectType) -> Finding | None:
    """Return the finding about an object whose controller acts on pods, or None."""
    effect = effect_of(*typed)
    if effect is None:
        return None
    message = f"this {typed.kind} ({typed.api_version}) is not followed: {effect}"
    shipped = mapping_for(group_of(typed.api_version), typed.kind)
    if shipped:
        message += f"; --custom-kinds {shipped} makes a PodGroup of it"
    return Finding(NoticeReason.UNFOLLOWED_KINDS, "", message)


def _other_version(typed: ObjectType) -> Finding | None:
    """Return the finding about a kind under another ``apiVersion`` than the usual."""
    version = _version_of(typed.kind)
    if version is None or version == typed.api_version or _is_namesake(typed, version):
        return None
    reason, effect = NoticeReason.UNKNOWN_VERSION, "it was left out"
    if typed.kind in _RUNS_PODS:
        reason, effect = NoticeReason.MISSING_PODS, "its pods are missing"
    expected = f"expected {version!r} for a {typed.kind}"
    return Finding(
        reason, "apiVersion", f"{expected}, got {typed.api_version!r}; {effect}"
    )


def _version_of(kind: str) -> str | None:
    """Return the ``apiVersion`` of a kind that matters; None for other kinds."""
    if kind == _CRON_JOB:
        return _CRON_JOB_VERSION
    cls = KINDS.get(kind)
    # Groups of other versions are skipped, as all groups are while their gate is off.
    return None if cls is None or cls in GROUP_KINDS else cls.api_version


def _is_namesake(typed: ObjectType, version: str) -> bool:
    """Return whether another group has this kind, too, as the core one has Events."""
    return group_of(typed.api_version) != group_of(version) and bool(
        structure_of(*typed)
    )


def _unknown_kind(typed: ObjectType, *, has_template: bool) -> Finding:
    hint = did_you_mean(typed.kind, BUILTIN_KINDS)
    runs_pods = has_template or any(f"{kind!r}" in hint for kind in _RUNS_PODS)
    return Finding(
        NoticeReason.MISSING_PODS if runs_pods else NoticeReason.UNKNOWN_KIND,
        "kind",
        f"no kind {typed.kind!r} in version {typed.api_version!r}{hint}; "
        + ("its pods are missing" if runs_pods else "it was left out"),
    )


def _find_template(tree: Mapping[str, object]) -> str | None:
    """Return the path of the first pod template in an object of any kind."""
    # Level by level, so that an outer template is found before those inside it.
    level: list[tuple[str, object]] = [("", tree)]
    for _ in range(_DEEPEST):
        deeper: list[tuple[str, object]] = []
        for path, value in level:
            if isinstance(value, Mapping):
                if path and _is_template(value, path):
                    return path
                dot = f"{path}." if path else ""
                deeper += ((f"{dot}{key}", part) for key, part in value.items())
            elif isinstance(value, list):
                deeper += ((f"{path}[{n}]", part) for n, part in enumerate(value))
        level = deeper
    return None


def _is_template(value: Mapping[str, object], path: str) -> bool:
    """Return whether this is a pod template; operators may fill in its images."""
    spec = value.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    fields = {"image", "name"} if path.lower().endswith(_TEMPLATE) else {"image"}
    return (
        isinstance(containers, list)
        and bool(containers)
        and all(
            isinstance(container, Mapping) and fields & container.keys()
            for container in containers
        )
    )
