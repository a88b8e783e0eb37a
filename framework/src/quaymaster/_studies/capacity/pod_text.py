"""Reads a pod from a line of text, such as ``cpu=2,memory=4Gi``."""

from typing import Final, TypeVar

import attrs

from quaymaster._api.objects import (
    Container,
    ObjectMeta,
    Pod,
    PodSpec,
    ResourceRequirements,
    Toleration,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    is_scalar_resource,
)
from quaymaster._base.errors import QuantityError, QuaymasterError

__all__ = ["PodTextError", "pod_of_text"]

T = TypeVar("T")

_FORM: Final = "expected KEY=VALUE,..., such as cpu=2,memory=4Gi"
_KEYS: Final = (
    "expected cpu, memory, ephemeral-storage, an extended resource such as "
    "nvidia.com/gpu, label:KEY, selector:KEY or toleration:KEY"
)
_FIXED: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
_LABEL: Final = "label:"
_SELECTOR: Final = "selector:"
_TOLERATION: Final = "toleration:"
_NAME: Final = "more"


class PodTextError(QuaymasterError, ValueError):
    """A line that does not describe a pod.

    Attributes:
        text: The line.
    """

    def __init__(self, text: str, message: str) -> None:
        super().__init__(f"pod {text!r}: {message}")
        self.text = text


@attrs.define
class _Parts:
    requests: dict[str, Quantity] = attrs.Factory(dict)
    labels: dict[str, str] = attrs.Factory(dict)
    selector: dict[str, str] = attrs.Factory(dict)
    tolerations: list[Toleration] = attrs.Factory(list)


def pod_of_text(text: str, *, namespace: str = "", scheduler: str = "") -> Pod:
    """Make the pod that a line describes.

    A line has, in any order and with commas in between:

    - ``cpu=2``, ``memory=4Gi``, ``ephemeral-storage=1Gi`` or an extended resource such
      as ``nvidia.com/gpu=1``: what it requests, and for extended resources its limit;
    - ``label:app=web``: a label of it;
    - ``selector:disk=ssd``: a label that its node must have;
    - ``toleration:dedicated=ml`` or ``toleration:dedicated``: a taint that it
    tolerates, with any effect.

    Args:
        text: The line.
        namespace: Its namespace; empty for ``default``.
        scheduler: Its scheduler name; empty for ``default-scheduler``.

    Raises:
        PodTextError: The line cannot be read.
    """
    parts = _Parts()
    for setting in text.split(","):
        key, equals, value = (part.strip() for part in setting.partition("="))
        is_toleration = key.startswith(_TOLERATION)
        if not key or not (is_toleration or (equals and value)):
            got = repr(setting.strip()) if setting.strip() else "nothing"
            raise PodTextError(text, f"{_FORM}; got {got}")
        _set(parts, text, key, value)
    whole = {name: it for name, it in parts.requests.items() if name not in _FIXED}
    container = Container(
        name=_NAME,
        image=_NAME,
        resources=ResourceRequirements(requests=parts.requests, limits=whole),
    )
    return Pod(
        metadata=ObjectMeta(
            name=_NAME, namespace=namespace or "default", labels=parts.labels
        ),
        spec=PodSpec(
            containers=(container,),
            node_selector=parts.selector,
            tolerations=tuple(parts.tolerations),
            scheduler_name=scheduler,
        ),
    )


def _set(parts: _Parts, text: str, key: str, value: str) -> None:
    if key.startswith(_LABEL):
        _add(parts.labels, text, key, key.removeprefix(_LABEL), value)
    elif key.startswith(_SELECTOR):
        _add(parts.selector, text, key, key.removeprefix(_SELECTOR), value)
    elif key.startswith(_TOLERATION):
        operator = "Equal" if value else "Exists"
        taint = key.removeprefix(_TOLERATION)
        if not taint:
            raise PodTextError(text, f"{key}: expected the key of a taint, got nothing")
        parts.tolerations.append(Toleration(key=taint, operator=operator, value=value))
    elif key in _FIXED or is_scalar_resource(key):
        _add(parts.requests, text, key, key, _amount(text, key, value))
    else:
        raise PodTextError(text, f"{key}: {_KEYS}")


def _add(values: dict[str, T], text: str, key: str, name: str, value: T) -> None:
    if name in values:
        raise PodTextError(text, f"{key}: expected once, came twice")
    values[name] = value


def _amount(text: str, key: str, value: str) -> Quantity:
    try:
        amount = Quantity(value)
    except QuantityError as error:
        raise PodTextError(text, f"{key}: {error}") from error
    if amount < Quantity(0):
        message = f"{key}: expected an amount of at least 0, got {value!r}"
        raise PodTextError(text, message)
    return amount
