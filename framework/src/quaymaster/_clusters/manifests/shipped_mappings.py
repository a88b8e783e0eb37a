"""The shipped mappings of custom kinds.

They are listed in the help of commands, whereas few inputs need their content.
"""

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from quaymaster._core.config.shipped import shipped_files

__all__ = ["shipped_mappings"]


def shipped_mappings() -> Mapping[str, Traversable]:
    """Return the shipped mappings, by name."""
    return shipped_files(
        resources.files("quaymaster._clusters.manifests") / "custom_kinds"
    )
