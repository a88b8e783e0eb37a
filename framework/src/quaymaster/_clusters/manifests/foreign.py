"""Objects without a class: they run as Jobs, get a notice, or are skipped."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import group_of
from quaymaster._base.errors import Problem
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.manifests.custom_groups import has_topology
from quaymaster._clusters.manifests.custom_jobs import (
    CustomJob,
    custom_jobs,
    job_of_cron_job,
    name_of,
    unfollowed_fields,
)
from quaymaster._clusters.manifests.custom_kinds import CustomKind
from quaymaster._clusters.manifests.loaded import Source
from quaymaster._clusters.manifests.missing import CRON_JOB_NOT_RUN, Finding, examine
from quaymaster._clusters.manifests.named_groups import NamedGroups
from quaymaster._clusters.manifests.owned_groups import OwnedGroups
from quaymaster._clusters.manifests.types import ObjectType

__all__ = ["ForeignObjects"]

_CRON_JOB: Final = ObjectType("batch/v1", "CronJob")
_POD: Final = "Pod"
_GROUPS: Final = "GenericWorkload"
_TOPOLOGY: Final = "TopologyAwareWorkloadScheduling"
_ONE_BY_ONE: Final = Finding(
    NoticeReason.GATED_OBJECTS,
    "",
    "its pods are scheduled one by one, and not as a group, while the feature gate "
    f"{_GROUPS} is off; --feature-gates {_GROUPS}=true or --config groups sets it",
)
_NO_GROUP: Final = (
    "is not followed here: the pods share a topology domain; only pods that name a "
    "group do so here, and Jobs with spec.scheduling"
)
_ANYWHERE: Final = Finding(
    NoticeReason.DROPPED_FIELDS,
    "spec.schedulingConstraints",
    "its pods may be in several topology domains while the feature gate "
    f"{_TOPOLOGY} is off",
)


@attrs.frozen
class _Custom:
    """An object whose pods run as Jobs."""

    tree: Mapping[str, object]
    source: Source
    kind: CustomKind | None
    """The paths of its templates; None for a CronJob."""


class ForeignObjects:
    """Collects the objects that have no class here.

    Args:
        custom_kinds: Custom kinds whose pods run, by group and kind.
        kinds: The kinds that have a class.
        run_cron_jobs: Whether each CronJob runs once.
        kubernetes: The Kubernetes version; it has groups or not.
    """

    def __init__(
        self,
        custom_kinds: Mapping[tuple[str, str], CustomKind],
        kinds: KindSet,
        *,
        run_cron_jobs: bool,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
    ) -> None:
        self._kubernetes = kubernetes
        self._has_groups = kubernetes.enabled(_GROUPS)
        self._owned = OwnedGroups()
        self._kinds = kinds
        self._custom_kinds = custom_kinds
        self._run_cron_jobs = run_cron_jobs
        self._custom: list[_Custom] = []
        self._places: dict[Finding, list[str]] = {}

    def add(
        self, tree: Mapping[str, object], typed: ObjectType, source: Source
    ) -> bool:
        """Add an object, and return whether it runs as a Job or gets a notice."""
        tree = {**tree, "apiVersion": typed.api_version, "kind": typed.kind}
        kind = self._custom_kinds.get((group_of(typed.api_version), typed.kind))
        if kind is not None or (typed == _CRON_JOB and self._run_cron_jobs):
            self._custom.append(_Custom(tree, source, kind))
            return True
        is_cron_job = typed == _CRON_JOB and job_of_cron_job(tree) is not None
        finding = CRON_JOB_NOT_RUN if is_cron_job else examine(tree, typed, self._kinds)
        if finding is None:
            return False
        place = f"{source} ({name_of(tree)})"
        self._places.setdefault(finding, []).append(place)
        return True

    def jobs(
        self, objects: Iterable[ApiObject], problems: list[Problem]
    ) -> Iterator[tuple[CustomJob, Source]]:
        """Yield the Jobs to run, with their sources.

        If the input is the dump of a cluster, it already has the Jobs of a custom
        object: then no more Jobs are created for that object.

        Args:
            objects: All other objects of the input.
            problems: Receives the problems of the custom objects.
        """
        owners = _owners(objects) if self._custom else frozenset()
        for custom in self._custom:
            if custom.kind is None:
                job = job_of_cron_job(custom.tree)
                if job is not None:
                    yield job, custom.source
            elif _uid(custom.tree) not in owners:
                mistakes: list[Problem] = []
                for job in _own_jobs(custom.tree, custom.kind, mistakes):
                    yield self._in_group(job, custom), custom.source
                where = _place(custom)
                self._warn_of_fields(custom.tree, custom.kind, where)
                problems += (attrs.evolve(problem, where=where) for problem in mistakes)

    def _in_group(self, job: CustomJob, custom: _Custom) -> CustomJob:
        """Return a Job whose pods are members of their group, if there are groups."""
        if job.share is None or self._has_groups:
            return self._owned.with_group(job, custom.tree, custom.source)
        self._add_finding(_ONE_BY_ONE, _place(custom))
        return job

    def groups(
        self, objects: Iterable[ApiObject], problems: list[Problem]
    ) -> tuple[list[tuple[Mapping[str, object], Source | int]], dict[int, ApiObject]]:
        """Return the PodGroups of custom objects, and the objects of their pods.

        Call it after `jobs`.

        Args:
            objects: All objects of the input, with the Jobs of custom objects.
            problems: Receives the problems of the custom objects.

        Returns:
            Each PodGroup in wire form, with its source or the index of an object with
            that source; and by index, the objects whose pods are members of a group
            now.
        """
        groups: list[tuple[Mapping[str, object], Source | int]] = []
        groups += self._owned.groups()
        named = NamedGroups(objects)
        for custom in self._custom:
            if custom.kind is not None and custom.kind.members is not None:
                mistakes: list[Problem] = []
                group = named.of_object(custom.tree, custom.kind, mistakes)
                problems += (
                    attrs.evolve(problem, where=_place(custom)) for problem in mistakes
                )
                if group is not None and self._may_group(_place(custom)):
                    groups.append((group, custom.source))
        for kind in self._custom_kinds.values():
            if kind.kind == _POD:
                self._warn_of_lone_pods(named, kind)
                for group, index, tree in named.of_pods(kind, problems):
                    where = f"pods of group {_name(group)}"
                    self._warn_of_fields(tree, kind, where)
                    if self._may_group(where):
                        groups.append((group, index))
        for group, source in groups:
            self._warn_of_topology(group, source)
        return groups, named.changed if self._has_groups else {}

    def _warn_of_lone_pods(self, named: NamedGroups, kind: CustomKind) -> None:
        """Warn of pods with a topology but without a group, if there are groups."""
        if not self._has_groups:
            return
        for obj, path in named.without_group(kind):
            finding = Finding(NoticeReason.UNFOLLOWED_FIELDS, path, _NO_GROUP)
            self._add_finding(finding, f"{obj.kind} {obj.key}")

    def _may_group(self, where: str) -> bool:
        """Return whether there are groups; otherwise pods are scheduled singly."""
        if not self._has_groups:
            self._add_finding(_ONE_BY_ONE, where)
        return self._has_groups

    def _warn_of_topology(
        self, group: Mapping[str, object], source: Source | int
    ) -> None:
        if has_topology(group) and not self._kubernetes.enabled(_TOPOLOGY):
            where = f"PodGroup {_name(group)}"
            self._add_finding(
                _ANYWHERE, where if isinstance(source, int) else f"{source} ({where})"
            )

    def _add_finding(self, finding: Finding, where: str) -> None:
        places = self._places.setdefault(finding, [])
        # An object may have several Jobs with the same finding.
        if where not in places:
            places.append(where)

    def _warn_of_fields(
        self, tree: Mapping[str, object], kind: CustomKind, where: str
    ) -> None:
        for path, effect in unfollowed_fields(tree, kind):
            message = f"is not followed here: {effect}"
            finding = Finding(NoticeReason.UNFOLLOWED_FIELDS, path, message)
            self._places.setdefault(finding, []).append(where)

    def notices(self) -> list[Notice]:
        """Return the notices; objects with the same message share one."""
        return [
            Notice(
                reason=finding.reason,
                where=places[0] + _more(len(places) - 1),
                path=finding.path,
                message=finding.message,
            )
            for finding, places in self._places.items()
        ]


def _own_jobs(
    tree: Mapping[str, object], kind: CustomKind, problems: list[Problem]
) -> Iterator[CustomJob]:
    """Yield the Jobs of an object, unless its controller runs its pods."""
    metadata = tree.get("metadata")
    if kind.runs_for_owner and isinstance(metadata, Mapping):
        references = metadata.get("ownerReferences")
        if references:
            return
    yield from custom_jobs(tree, kind, problems)


def _place(custom: _Custom) -> str:
    return f"{custom.source} ({name_of(custom.tree)})"


def _name(group: Mapping[str, object]) -> str:
    metadata = group["metadata"]
    assert isinstance(metadata, Mapping)
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _owners(objects: Iterable[ApiObject]) -> frozenset[str]:
    return frozenset(
        reference.uid for obj in objects for reference in obj.metadata.owner_references
    )


def _uid(tree: Mapping[str, object]) -> object:
    metadata = tree.get("metadata")
    return metadata.get("uid") if isinstance(metadata, Mapping) else None
