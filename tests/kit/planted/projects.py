"""A plugin that gates pods until their project is approved, and mistakes in it."""

from collections.abc import Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.objects import ApiValue
from quaymaster.testing import clusters, make_metadata, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "PROJECT_MISTAKES", "Projects"]

PROJECT = "example.com/project"


class ProjectSpec(ApiValue, frozen=True, kw_only=True):
    approved: bool = False


class Project(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Project"
    plural: ClassVar[str] = "projects"
    spec: ProjectSpec = ProjectSpec()


class Projects(Plugin):
    """Correct: pods wait until the project of their namespace is approved."""

    kinds = (Project,)
    reads = ()

    def is_of(self, project: Project, pod: Pod) -> bool:
        """Return whether a pod belongs to a project."""
        is_near = project.namespace == pod.namespace
        return is_near and project.name == pod.labels.get(PROJECT)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        projects = self.handle.informers.list(Project)
        own = [project for project in projects if self.is_of(project, pod)]
        if PROJECT not in pod.labels or any(each.spec.approved for each in own):
            return None
        return Status.unresolvable("the project is not approved")

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(Project)(Change.ADD | Change.UPDATE, self.after_change),
            on_pod.target(Change.UPDATE_POD_LABEL),
        ]

    def after_change(self, pod: Pod, old: Project | None, new: Project) -> QueueingHint:
        """Queue the pods of a project that is approved."""
        helps = new.spec.approved and self.is_of(new, pod)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP


class SkipsUpdates(Projects):
    def after_change(self, pod: Pod, old: Project | None, new: Project) -> QueueingHint:
        return QueueingHint.SKIP if old else super().after_change(pod, old, new)


class IgnoresNamespacesOfObjects(Projects):
    def is_of(self, project: Project, pod: Pod) -> bool:
        return project.name == pod.labels.get(PROJECT)


class IgnoresNamespacesOfNames(Projects):
    def is_of(self, project: Project, pod: Pod) -> bool:
        return project.name == pod.name


def _project(name: str, approved: bool) -> Project:
    metadata = make_metadata(Project, name=name, namespace="default")
    return Project(metadata=metadata, spec=ProjectSpec(approved=approved))


OWN = clusters(
    pods=pods({"labels": {PROJECT: "red"}}, {"labels": {PROJECT: "blue"}}),
    objects=st.builds(_project, st.sampled_from(["red", "blue", "w0"]), st.booleans()),
)
PROJECT_MISTAKES: Sequence[Mistake] = (
    Mistake(SkipsUpdates, ["events"], OWN),
    Mistake(IgnoresNamespacesOfObjects, ["namespaces"], OWN),
    Mistake(IgnoresNamespacesOfNames, ["namespaces"], OWN),
)
