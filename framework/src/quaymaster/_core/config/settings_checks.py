"""Checks of settings that depend on several fields."""

from quaymaster._core.config.document import Document
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.settings import Extender, ManagedResource

__all__ = ["check_settings"]


def check_settings(document: Document, findings: Findings) -> None:
    """Check the settings outside of profiles."""
    first, longest = (
        document.pod_initial_backoff_seconds,
        document.pod_max_backoff_seconds,
    )
    if longest < first:
        message = f"expected at least podInitialBackoffSeconds ({first}), got {longest}"
        findings.add("podMaxBackoffSeconds", message)
    _check_extenders(document, findings)


def _check_extenders(document: Document, findings: Findings) -> None:
    binder = ""
    managed: dict[str, str] = {}
    for index, extender in enumerate(document.extenders):
        path = f"extenders[{index}]"
        if not isinstance(extender, Extender):
            continue
        if extender.bind_verb and binder:
            message = f"only one extender may bind, and {binder} does already"
            findings.add(f"{path}.bindVerb", message)
        elif extender.bind_verb:
            binder = path
        for number, resource in enumerate(extender.managed_resources):
            at = f"{path}.managedResources[{number}].name"
            if not isinstance(resource, ManagedResource):
                continue
            if resource.name in managed:
                message = f"{resource.name!r} is managed by {managed[resource.name]}"
                findings.add(at, f"{message} already")
            managed.setdefault(resource.name, path)
