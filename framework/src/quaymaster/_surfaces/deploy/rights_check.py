"""A check of rights, with one review per right."""

from collections.abc import Iterator
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._surfaces.deploy.findings import Finding, State, fine, worrying
from quaymaster._surfaces.deploy.patient import Patient
from quaymaster._surfaces.deploy.rights import Right

__all__ = ["rights_given"]

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def rights_given(patient: Patient) -> Iterator[Finding]:
    """Check that the current user has the rights that the configuration needs."""
    lacking = 0
    for need in patient.needs:
        try:
            is_given = _may(patient, need.right)
        except ApiError as error:
            if not error.code:
                raise
            yield worrying("rights", f"the server does not review rights: {error}")
            return
        if not is_given:
            lacking += 1
            text = f"{need.right}: needed by {', '.join(need.who)}"
            yield Finding("rights", State.MISSING, text, need)
    if not lacking:
        yield fine("rights", f"{counted(len(patient.needs), 'right')}, all given")


def _may(patient: Patient, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": right.namespace,
        "name": right.name,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = patient.post(_REVIEWS, review)
    return bool(answer.get("status", {}).get("allowed"))
