"""What tests see of ``quaymaster._api.openapi``."""

from quaymaster._api.openapi.duplicates import find_duplicates, path_text
from quaymaster._api.openapi.scalars import Scalar
from quaymaster._api.openapi.table import Reference, fields_of, structure_of
from quaymaster._api.openapi.unknown import find_unknown
from quaymaster._api.openapi.wrong import find_wrong

__all__ = [
    "Reference",
    "Scalar",
    "fields_of",
    "find_duplicates",
    "find_unknown",
    "find_wrong",
    "path_text",
    "structure_of",
]
