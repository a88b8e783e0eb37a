"""Objects without a class: they run as Jobs, get a notice, or are skipped."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import group_of
from quaymaster._base.errors import Problem
from quaymaster._base.notices import Notice, NoticeReason
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
from quaymaster._clusters.manifests.types import ObjectType

__all__ = ["ForeignObjects"]

_CRON_JOB: Final = ObjectType("batch/v1", "CronJob")


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
    """

    def __init__(
        self,
        custom_kinds: Mapping[tuple[str, str], CustomKind],
        kinds: KindSet,
        *,
        run_cron_jobs: bool,
    ) -> None:
        self._kinds = kinds
        self._custom_kinds = custom_kinds
        self._run_cron_jobs = run_cron_jobs
        self._custom: list[_Custom] = []
        self._found: dict[Finding, list[str]] = {}

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
        self._found.setdefault(finding, []).append(place)
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
                for job in custom_jobs(custom.tree, custom.kind, mistakes):
                    yield job, custom.source
                where = f"{custom.source} ({name_of(custom.tree)})"
                self._warn_of_fields(custom.tree, custom.kind, where)
                problems += (attrs.evolve(problem, where=where) for problem in mistakes)

    def _warn_of_fields(
        self, tree: Mapping[str, object], kind: CustomKind, where: str
    ) -> None:
        for path, effect in unfollowed_fields(tree, kind):
            message = f"is not followed here: {effect}"
            finding = Finding(NoticeReason.UNFOLLOWED_FIELDS, path, message)
            self._found.setdefault(finding, []).append(where)

    def notices(self) -> list[Notice]:
        """Return the notices; objects with the same message share one."""
        return [
            Notice(
                reason=finding.reason,
                where=places[0] + _more(len(places) - 1),
                path=finding.path,
                message=finding.message,
            )
            for finding, places in self._found.items()
        ]


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _owners(objects: Iterable[ApiObject]) -> frozenset[str]:
    return frozenset(
        reference.uid for obj in objects for reference in obj.metadata.owner_references
    )


def _uid(tree: Mapping[str, object]) -> object:
    metadata = tree.get("metadata")
    return metadata.get("uid") if isinstance(metadata, Mapping) else None
