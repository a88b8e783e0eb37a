"""Checks names, labels, annotations, owners and finalizers.

Mirrors ``pkg/api/validation/objectmeta.go`` and ``pkg/apis/meta/v1/validation``
(k8s.io/apimachinery v0.36).
"""

import re
from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import (
    ApiObject,
    Namespace,
    ObjectMeta,
    OwnerReference,
    PodDisruptionBudget,
    Service,
    StatefulSet,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    DNS_LABEL,
    LABEL_KEY,
    LABEL_VALUE,
    PATH_SEGMENT,
    SUBDOMAIN,
    Form,
    as_prefix,
)
from quaymaster._clusters.inmemory.durations import (
    RUN_SECONDS_ANNOTATION,
    STARTUP_SECONDS_ANNOTATION,
    TERMINATION_SECONDS_ANNOTATION,
    RunTimeError,
    run_seconds,
    startup_seconds,
    termination_seconds,
)

__all__ = [
    "MetadataChecks",
    "check_annotations",
    "check_labels",
    "check_pod_annotations",
]

# The names of all other kinds are DNS subdomains.
# These names become host names of pods or of services, so they need the stricter form.
_NAMES: Final[Mapping[type[ApiObject], Form]] = {
    Namespace: DNS_LABEL,
    PodDisruptionBudget: PATH_SEGMENT,
    Service: DNS_LABEL,
    StatefulSet: DNS_LABEL,
}
_MAX_ANNOTATIONS: Final = 256 * 1024
# ``names.SimpleNameGenerator``: 63 characters, less the five random ones.
_MAX_BEGINNING: Final = 58
_ENDING: Final = "xxxxx"  # a placeholder for the generated end of a name
_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")
_COST_ANNOTATION: Final = "controller.kubernetes.io/pod-deletion-cost"
# ``GetDeletionCostFromPodAnnotations`` rejects a leading plus or zero before it parses,
# so each positive number has one spelling.
_COST: Final = re.compile(r"-[0-9]+|0|[1-9][0-9]*", re.ASCII)


class MetadataChecks:
    """Checks the metadata of many objects.

    The pods of one template share their labels and annotations, and usually come one
    after the other. Values that were correct for the last pod are not checked again.
    """

    __slots__ = ("_annotations", "_beginning", "_labels", "_namespace")

    def __init__(self) -> None:
        self._beginning: tuple[str, Form, bool] | None = None
        self._namespace = ""
        self._labels: Mapping[str, str] = {}
        self._annotations: Mapping[str, str] = {}

    def check(self, obj: ApiObject, report: Report) -> None:
        """Check the metadata of a new object."""
        metadata = obj.metadata
        form = _NAMES.get(type(obj), SUBDOMAIN)
        self._check_name(metadata, form, report)
        namespace = metadata.namespace
        if obj.namespaced and namespace != self._namespace:
            report.formed(namespace, DNS_LABEL, "metadata.namespace")
        if metadata.generation is not None:
            report.at_least(metadata.generation, "metadata.generation")
        labels, annotations = metadata.labels, metadata.annotations
        # Identity: pods of one template share these objects, and values never change.
        if labels and labels is not self._labels:
            check_labels(labels, "metadata.labels", report)
        if annotations and annotations is not self._annotations:
            check_annotations(annotations, "metadata.annotations", report)
        if metadata.owner_references:
            _check_owners(metadata.owner_references, report)
        if metadata.finalizers:
            _check_finalizers(metadata.finalizers, report)
        # Only values of a correct object are remembered, or its second copy would be
        # accepted.
        if not report:
            self._labels, self._annotations = labels, annotations
            if obj.namespaced:
                self._namespace = namespace
            self._beginning = metadata.generate_name, form, bool(metadata.name)

    def _check_name(self, metadata: ObjectMeta, form: Form, report: Report) -> None:
        name, beginning = metadata.name, metadata.generate_name
        if beginning and (beginning, form, bool(name)) != self._beginning:
            _check_beginning(metadata, form, report)
        if (name or not beginning) and not form.fits(name):
            report.named(name, form, "metadata.name")


def check_labels(labels: Mapping[str, str], path: str, report: Report) -> None:
    """Check the keys and values of labels, or of a selector that names some."""
    for key, value in labels.items():
        report.formed(key, LABEL_KEY, path)
        report.formed(value, LABEL_VALUE, path)


def check_annotations(
    annotations: Mapping[str, str], path: str, report: Report
) -> None:
    """Check the keys of annotations, and their total size."""
    for key in annotations:
        # Keys of annotations may have capitals in their prefix: upstream lowers them
        # before it checks (``ValidateAnnotations``).
        if not LABEL_KEY.fits(key.lower()):
            report.expect(False, path, LABEL_KEY.expected, key)
    size = sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items())
    if size > _MAX_ANNOTATIONS:
        expected = f"at most {_MAX_ANNOTATIONS} bytes of annotations"
        report.expect(False, path, expected, size)


_DURATIONS: Final = (
    (RUN_SECONDS_ANNOTATION, run_seconds),
    (STARTUP_SECONDS_ANNOTATION, startup_seconds),
    (TERMINATION_SECONDS_ANNOTATION, termination_seconds),
)


def check_pod_annotations(
    annotations: Mapping[str, str], path: str, report: Report
) -> None:
    """Check the annotations of a pod that the server or a simulation reads."""
    for annotation, read in _DURATIONS:
        try:
            read(annotations)
        except RunTimeError as error:
            report.add(f"{path}[{annotation}]", str(error))
    cost = annotations.get(_COST_ANNOTATION, "0")
    # The length is checked first: ``int`` takes quadratic time for long texts, and
    # Python limits it to 4,300 digits with an error.
    is_cost = len(cost) < 12 and _COST.fullmatch(cost) and -(2**31) <= int(cost) < 2**31
    report.expect(
        bool(is_cost), f"{path}[{_COST_ANNOTATION}]", "an integer of 32 bits", cost
    )


def _check_beginning(metadata: ObjectMeta, form: Form, report: Report) -> None:
    beginning = metadata.generate_name
    if not form.fits(as_prefix(beginning)):
        report.expect(False, "metadata.generateName", form.expected, beginning)
    name = beginning[:_MAX_BEGINNING] + _ENDING
    if not (metadata.name or form.fits(name)):
        report.expect(False, "metadata.name", form.expected, name)


def _check_owners(owners: tuple[OwnerReference, ...], report: Report) -> None:
    """Check that owners are named in full; their uids may be missing, as in dumps."""
    path = "metadata.ownerReferences"
    for owner in owners:
        for field, text in (
            ("apiVersion", owner.api_version.rpartition("/")[2]),
            ("kind", owner.kind),
            ("name", owner.name),
        ):
            # Uids are not required, unlike upstream: exported manifests lose them, and
            # owners are then found by name.
            if not text:
                report.add(f"{path}.{field}", "expected a text, got none")
        # An owner takes its dependents along, and Events expire after an hour.
        if owner.kind == "Event" and owner.api_version == "v1":
            report.add(path, "expected an owner that lasts, got an Event")
    controllers = [owner for owner in owners if owner.controller]
    if len(controllers) > 1:
        names = " and ".join(f"{owner.kind}/{owner.name}" for owner in controllers)
        report.add(path, f"expected one controller, got {names}")


def _check_finalizers(finalizers: tuple[str, ...], report: Report) -> None:
    path = "metadata.finalizers"
    for index, name in enumerate(finalizers):
        report.formed(name, LABEL_KEY, path)
        if "/" not in name and name not in _FINALIZERS:
            expected = f"a name with a domain, or {' or '.join(_FINALIZERS)}"
            report.expect(False, f"{path}[{index}]", expected, name)
    # Both decide what happens to dependents, in opposite ways.
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        report.add(path, "expected orphan or foregroundDeletion, got both")
