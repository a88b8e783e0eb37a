"""Checks references to fields and resources of a pod, in its environment and files.

Mirrors ``validateObjectFieldSelector`` and ``validateContainerResourceFieldSelector``
(Kubernetes v1.37, ``pkg/apis/core/validation/validation.go``).
"""

import re
from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects.part import Part
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.syntax import LABEL_KEY
from quaymaster._base.errors import QuantityError

__all__ = ["check_field_reference", "check_resource_reference"]

_SUBSCRIPT: Final = re.compile(r"((?:(?!\[').)+)\['(.*)'\]", re.DOTALL)
_RESOURCE: Final = re.compile(
    r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)", re.DOTALL
)
_CPU_DIVISORS: Final = frozenset(("1m", "1"))
_DIVISORS: Final = frozenset(
    f"1{unit}" for unit in ("", *"kMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
)


def check_field_reference(reference: Part, fields: Sequence[str]) -> None:
    """Check a reference to one of some fields, or to one label or annotation."""
    version = reference.text("apiVersion")
    if version not in ("", "v1"):
        reference.expect(False, "fieldPath", "the version v1", version)
        return
    text = reference.text("fieldPath")
    # An old name of the field (pkg/apis/core/v1/conversion.go).
    if text == "spec.host":
        text = "spec.nodeName"
    subscript = _SUBSCRIPT.fullmatch(text)
    if subscript is None:
        reference.report.one_of(text, fields, reference.at("fieldPath"))
        return
    field, key = subscript.groups()
    if field not in ("metadata.annotations", "metadata.labels"):
        expected = "metadata.annotations or metadata.labels before ['...']"
        reference.expect(False, "fieldPath", expected, field)
        return
    key = key.lower() if field == "metadata.annotations" else key
    reference.report.formed(key, LABEL_KEY, reference.path)


def check_resource_reference(reference: Part, *, names_container: bool) -> None:
    """Check a reference to a resource, and by what it is divided.

    Args:
        reference: The reference.
        names_container: Whether it must name a container.
    """
    if names_container and not reference.text("containerName"):
        reference.require("containerName")
        return
    text = reference.text("resource")
    resource = _RESOURCE.fullmatch(text)
    if resource is None:
        expected = "a resource such as limits.cpu or requests.memory"
        reference.expect(False, "resource", expected, text)
        return
    _check_divisor(reference, _CPU_DIVISORS if resource[2] == "cpu" else _DIVISORS)


def _check_divisor(reference: Part, allowed: frozenset[str]) -> None:
    given = reference.tree.get("divisor")
    if not isinstance(given, str | int | float):
        return
    try:
        divisor = Quantity(given)
    except QuantityError as error:
        reference.add("divisor", str(error))
        return
    if divisor != Quantity(0) and str(divisor) not in allowed:
        expected = f"one of {', '.join(sorted(allowed))}"
        reference.expect(False, "divisor", expected, divisor)
