"""Checks that the selector of a workload selects the pods of its template."""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import LabelSelector, PodTemplateSpec
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._base.errors import SelectorError

__all__ = ["LABELS_PATH", "POLICY_PATH", "check_selects", "selects"]

LABELS_PATH: Final = "spec.template.metadata.labels"
POLICY_PATH: Final = "spec.template.spec.restartPolicy"


def check_selects(
    selector: LabelSelector | None, template: PodTemplateSpec, report: Report
) -> None:
    """Check that a selector selects the labels of a template."""
    labels = template.metadata.labels
    if selects(selector, labels) is False:
        message = f"expected labels that spec.selector selects, got {labels}"
        report.add(LABELS_PATH, message)


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool | None:
    """Return whether a selector selects labels; None if it cannot be evaluated."""
    try:
        return compile_label_selector(selector).matches(labels)
    except SelectorError:
        return None
