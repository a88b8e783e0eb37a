"""What tests see of ``quaymaster._input``."""

from quaymaster._input.reading import UnreadableError, read_file
from quaymaster._input.yaml.blocks import NotPlainError, read_block
from quaymaster._input.yaml.errors import YamlError
from quaymaster._input.yaml.literals import unfolded
from quaymaster._input.yaml.reading import documents, read
from quaymaster._input.yaml.shapes import Shapes

__all__ = [
    "BUILD_VALUES",
    "LONGEST_STREAM",
    "MAPPED_FROM",
    "PATIENCE_MS",
    "NotPlainError",
    "Shapes",
    "UnreadableError",
    "YamlError",
    "documents",
    "read",
    "read_block",
    "read_file",
    "unfolded",
]

LONGEST_STREAM = "quaymaster._input.reading._LONGEST_STREAM"
"""How many bytes are read of what has no end."""

MAPPED_FROM = "quaymaster._input.reading._MAPPED_FROM"
"""From how many bytes on a file is mapped."""

PATIENCE_MS = "quaymaster._input.reading._PATIENCE_MS"
"""How long a stream may say nothing."""

BUILD_VALUES = "quaymaster._input.yaml.values.Values.build"
"""How the full reader makes values."""
