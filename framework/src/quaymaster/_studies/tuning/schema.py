"""The JSON Schema of tuning files, for editors."""

from quaymaster._core.config.type_schema import DIALECT, Definitions
from quaymaster._studies.experiments.model import API_VERSION
from quaymaster._studies.tuning.model import KIND, Document

__all__ = ["tuning_schema"]


def tuning_schema() -> dict[str, object]:
    """Describe tuning files.

    Returns:
        A JSON Schema, draft 2020-12, made of the classes that files are read into.
    """
    definitions = Definitions()
    document = definitions.of(Document)
    definitions.amend(Document, "apiVersion", {"const": API_VERSION})
    definitions.amend(Document, "kind", {"const": KIND})
    return {"$schema": DIALECT, "title": KIND, **document, "$defs": definitions.named}
