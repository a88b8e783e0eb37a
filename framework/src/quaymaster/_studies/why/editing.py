"""Makes changes of the spec of a subject's pods."""

import attrs

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.why.changes import (
    Apply,
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
)
from quaymaster._studies.why.subject import EditSpec, Subject

__all__ = ["Editing"]


@attrs.frozen(eq=False)
class Editing:
    """Makes changes of the spec of a subject's pods.

    Attributes:
        subject: The subject.
        cluster: The cluster, to look up the owners of pods.
    """

    subject: Subject
    cluster: InMemoryCluster

    def field(self, path: str, old: str, new: str) -> FieldChange:
        """Describe the change of a field of the spec.

        Args:
            path: Its path in the spec.
            old: The current value; empty if the field is missing.
            new: The required value; empty if the field must be removed.
        """
        return FieldChange(
            object=str(self.subject),
            namespace=self.subject.namespace,
            path=f"{self.subject.path}.{path}",
            old=old,
            new=new,
        )

    def apply(self, edit: EditSpec) -> Apply:
        """Return the function that makes the change of an input."""
        subject, cluster = self.subject, self.cluster
        return lambda objects: subject.edited(objects, edit, cluster)

    def candidate(
        self, kind: ChangeKind, text: str, field: FieldChange, edit: EditSpec
    ) -> Candidate:
        """Make a candidate that changes one field."""
        change = SuggestedChange(
            kinds=(kind,), text=text, fields=(field,), apply=self.apply(edit)
        )
        return single(change)
