"""Finds the specs of pods in new objects, and checks what they do not keep."""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects.part import Part
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.unread.pods import check_pod_spec
from quaymaster._api.objects.unread.profiles import ANNOTATIONS
from quaymaster._base.errors import Problem

__all__ = ["pod_problems", "template_problems"]

_HOST_NAMES: Final = ("hostname", "subdomain")
_NEW_PHASES: Final = ("", "Pending")


def pod_problems(
    spec: object, annotations: Mapping[str, str], *, phase: str, node_name: str
) -> tuple[Problem, ...]:
    """Return the problems of a new pod, in fields that it does not keep.

    Args:
        spec: The tree of its spec.
        annotations: Its annotations.
        phase: The phase of its status. A pod that runs is not new.
        node_name: The node that it is bound to.
    """
    if phase not in _NEW_PHASES:
        return ()
    profiles = _profiles_among(annotations)
    report = Report()
    part = Part(spec, "spec", report)
    # A dump without the metadata of its server has the node's name.
    check_pod_spec(part, annotations=profiles, allows_ephemeral=bool(node_name))
    return report.problems("") if report else ()


def template_problems(
    tree: object, *, names_hosts: bool = False
) -> tuple[Problem, ...]:
    """Return the problems of a new workload, in fields that its template drops.

    Args:
        tree: The tree of the workload.
        names_hosts: Whether its controller replaces the host names of its pods, as that
            of StatefulSets does. They are not checked then.
    """
    report = Report()
    whole = Part(tree, "", report)
    spec = whole.part("spec")
    template = spec.part("template") if spec else None
    pod = template.part("spec") if template else None
    if spec is not None and template is not None and pod is not None:
        claims = [
            Part(claim.mapping("metadata"), "", report).text("name")
            for claim in spec.parts("volumeClaimTemplates")
        ]
        if names_hosts:
            pod.tree = {k: v for k, v in pod.tree.items() if k not in _HOST_NAMES}
        metadata = template.part("metadata")
        annotations = metadata.mapping("annotations") if metadata else {}
        profiles = _profiles_among(annotations)
        check_pod_spec(pod, annotations=profiles, claims=claims)
    return report.problems("") if report else ()


def _profiles_among(annotations: Mapping[str, object]) -> dict[str, str]:
    return {
        key: str(value)
        for key, value in annotations.items()
        if key.startswith(ANNOTATIONS)
    }
