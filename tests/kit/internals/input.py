"""What tests see of ``quaymaster._base.input``, and of what it is built on."""

from quaymaster._base.block_lines import BlockLines
from quaymaster._base.gunzip import gunzip
from quaymaster._base.input.reading import UnreadableError, read_file
from quaymaster._base.input.yaml.blocks import NotPlainError, read_block
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.literals import unfolded
from quaymaster._base.input.yaml.reading import documents, read
from quaymaster._base.input.yaml.shapes import Shapes

__all__ = [
    "BUILD_VALUES",
    "LONGEST_STREAM",
    "MAPPED_FROM",
    "PATIENCE_MS",
    "BlockLines",
    "NotPlainError",
    "Shapes",
    "UnreadableError",
    "YamlError",
    "documents",
    "gunzip",
    "read",
    "read_block",
    "read_file",
    "unfolded",
]

LONGEST_STREAM = "quaymaster._base.input.reading._LONGEST_STREAM"
"""The number of bytes that are read of an endless input."""

MAPPED_FROM = "quaymaster._base.input.reading._MAPPED_FROM"
"""The size in bytes from which a file is mapped."""

PATIENCE_MS = "quaymaster._base.input.reading._PATIENCE_MS"
"""The seconds after which a silent stream is given up."""

BUILD_VALUES = "quaymaster._base.input.yaml.values.Values.build"
"""Makes the values of the full reader."""
