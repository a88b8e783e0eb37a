"""What tests see of ``quaymaster._input``."""

from quaymaster._input.reading import UnreadableError, read_file
from quaymaster._input.yaml.blocks import NotPlainError, read_block
from quaymaster._input.yaml.errors import YamlError
from quaymaster._input.yaml.reading import documents, read
from quaymaster._input.yaml.shapes import Shapes

__all__ = [
    "NotPlainError",
    "Shapes",
    "UnreadableError",
    "YamlError",
    "documents",
    "read",
    "read_block",
    "read_file",
]
