"""Checks the metadata of claims that are made for pods, as far as it is not kept.

Mirrors ``ValidateTemplateObjectMeta`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``): only labels and annotations are allowed.
Admission rejects the other fields that objects keep.
"""

from quaymaster._api.objects.part import Part

__all__ = ["check_claim_metadata"]


def check_claim_metadata(volume: Part) -> None:
    """Check the metadata of the claim of an ephemeral volume."""
    source = volume.part("ephemeral")
    template = source.part("volumeClaimTemplate") if source else None
    metadata = template.part("metadata") if template else None
    if metadata is None:
        return
    for field, is_set in (
        ("managedFields", bool(metadata.items("managedFields"))),
        ("selfLink", bool(metadata.text("selfLink"))),
    ):
        if is_set:
            metadata.add(field, "expected none, only labels and annotations")
