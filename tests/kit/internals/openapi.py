"""What tests see of ``quaymaster._api.openapi``."""

from quaymaster._api.openapi.duplicates import find_duplicates, path_text
from quaymaster._api.openapi.scalars import Scalar
from quaymaster._api.openapi.table import FieldTable, Reference, field_table
from quaymaster._api.openapi.unknown import find_odd_fields
from quaymaster._api.openapi.wrong import find_wrong

__all__ = [
    "FieldTable",
    "Reference",
    "Scalar",
    "field_table",
    "find_duplicates",
    "find_odd_fields",
    "find_wrong",
    "path_text",
]
