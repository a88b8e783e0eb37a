"""What tests see of ``quaymaster._openapi``."""

from quaymaster._openapi.duplicates import find_duplicates, path_text
from quaymaster._openapi.scalars import Scalar
from quaymaster._openapi.table import Reference, fields_of, structure_of
from quaymaster._openapi.unknown import find_unknown
from quaymaster._openapi.wrong import find_wrong

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
