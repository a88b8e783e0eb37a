"""Reads the file of an autoscaler.

The ``kind`` of the file names the autoscaler. Packages provide more of them by the
entry point ``quaymaster.autoscalers``: the name is the kind, and the object is a
function that gets the content of the file and its name, and returns an
`AutoscalerFactory`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias, cast

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.yaml_file import read_content, read_yaml
from quaymaster._core.registry.offers import Offer, offers
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory

__all__ = ["API_VERSION", "autoscaler_of", "offer_of", "read_autoscaler"]

API_VERSION: Final = "simulation.quaymaster.io/v1alpha1"
_ENTRY_POINT: Final = "quaymaster.autoscalers"
_Reader: TypeAlias = Callable[[Mapping[str, object], str], AutoscalerFactory]


def read_autoscaler(source: str) -> AutoscalerFactory:
    """Read the file of an autoscaler, in YAML or JSON.

    Args:
        source: The file.

    Raises:
        ConfigErrors: The file is unreadable or invalid.
        AutoscalerError: Its kind is unknown, or it describes no autoscaler.
    """
    return autoscaler_of(read_yaml(read_content(Path(source), source), source), source)


def autoscaler_of(document: object, source: str) -> AutoscalerFactory:
    """Return the autoscaler that the content of a file describes.

    Args:
        document: The content.
        source: The name of the file, for messages.

    Raises:
        ConfigErrors: The content is invalid.
        AutoscalerError: Its kind is unknown, or it describes no autoscaler.
    """
    reader = cast(_Reader, offer_of(document, source).entry.load())
    return reader(cast(Mapping[str, object], document), source)


def offer_of(document: object, source: str) -> Offer:
    """Return the entry point that reads the content of a file.

    Args:
        document: The content.
        source: The name of the file, for messages.

    Raises:
        AutoscalerError: Its kind is unknown, or it describes no autoscaler.
    """
    if not isinstance(document, Mapping):
        raise AutoscalerError(source, f"expected a mapping, got {document!r}")
    version = document.get("apiVersion")
    if version != API_VERSION:
        raise AutoscalerError(
            source, f"apiVersion: expected {API_VERSION!r}, got {version!r}"
        )
    readers = {offer.entry.name: offer for offer in offers(_ENTRY_POINT)}
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in readers:
        expected = ", ".join(sorted(readers))
        hint = did_you_mean(kind, readers) if isinstance(kind, str) else ""
        raise AutoscalerError(
            source, f"kind: expected one of {expected}, got {kind!r}{hint}"
        )
    return readers[kind]
