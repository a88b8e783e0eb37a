"""Collects the PodGroups of custom objects whose pods run as Jobs."""

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from quaymaster._clusters.manifests.custom_groups import (
    GroupShare,
    has_topology,
    merged_groups,
    pod_group,
)
from quaymaster._clusters.manifests.custom_jobs import CustomJob, metadata_of_part
from quaymaster._clusters.manifests.loaded import Source
from quaymaster._clusters.manifests.paths import Tree, field_at

__all__ = ["OwnedGroups"]

_TEMPLATE: Final = "spec.template.spec"


class OwnedGroups:
    """The groups of all custom objects."""

    def __init__(self) -> None:
        self._shares: list[tuple[Tree, Source, str, GroupShare]] = []

    def with_group(self, job: CustomJob, owner: Tree, source: Source) -> CustomJob:
        """Return a Job whose pods are members of their group, if they have one.

        Args:
            job: The Job.
            owner: The custom object.
            source: The place of the custom object.
        """
        template = field_at(job.tree, _TEMPLATE)
        if job.share is None or not isinstance(template, Mapping):
            return job
        if template.get("schedulingGroup") is not None:
            return job
        priority_class = str(template.get("priorityClassName") or "")
        self._shares.append((owner, source, priority_class, job.share))
        member = {"podGroupName": job.share.name}
        return attrs.evolve(job, tree=_with_group(job.tree, member))

    def groups(self) -> Iterator[tuple[Tree, Source]]:
        """Yield the PodGroups in wire form, with the sources of their objects."""
        by_owner: dict[int, list[tuple[Tree, Source, str, GroupShare]]] = {}
        for entry in self._shares:
            by_owner.setdefault(id(entry[0]), []).append(entry)
        for entries in by_owner.values():
            owner, source, _, _ = entries[0]
            classes = {share.name: name for _, _, name, share in reversed(entries)}
            for group in merged_groups(share for _, _, _, share in entries):
                metadata = metadata_of_part(owner)
                yield pod_group(group, metadata, classes[group.name]), source

    def has_topology(self) -> bool:
        """Return whether a group must share a topology domain."""
        return any(has_topology(group) for group, _ in self.groups())


def _with_group(job: Tree, member: Mapping[str, str]) -> Tree:
    spec = job["spec"]
    assert isinstance(spec, Mapping)
    template = spec["template"]
    pod_spec = {**template["spec"], "schedulingGroup": member}
    template = {**template, "spec": pod_spec}
    return {**job, "spec": {**spec, "template": template}}
