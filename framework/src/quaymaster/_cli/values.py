"""The types of arguments, and their completion in shells."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from quaymaster._clusters.manifests.shipped_mappings import shipped_mappings
from quaymaster._clusters.manifests.validation import Validation
from quaymaster._core.config.load import shipped_profiles
from quaymaster._studies.simulation.kinds import POD_KINDS

__all__ = [
    "MANIFEST",
    "complete_config",
    "complete_custom_kinds",
    "complete_pod",
    "complete_validation",
]

MANIFEST: Final = click.Path(allow_dash=True)
"""A file, a directory, or ``-``; whether it exists is checked later."""

_CONFIG_ENDINGS: Final = (".yaml", ".yml", ".json")


def complete_config(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Propose shipped profiles and configuration files."""
    return _names_and_files(shipped_profiles(), incomplete)


def complete_custom_kinds(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Propose shipped mappings of custom kinds and files with others."""
    return _names_and_files(shipped_mappings(), incomplete)


def complete_validation(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Propose the values of ``--validate``."""
    return _items(
        choice.value for choice in Validation if choice.value.startswith(incomplete)
    )


def complete_pod(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Propose the kinds that can name pods."""
    kinds = (f"{kind.lower()}/" for kind in (*POD_KINDS, "PodGroup"))
    return _items(kind for kind in kinds if kind.startswith(incomplete))


def _names_and_files(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    matching = [name for name in names if name.startswith(incomplete)]
    if not matching:
        return [CompletionItem(incomplete, type="file")]
    # Shells propose files themselves only without other proposals.
    return _items([*matching, *_files(incomplete)])


def _items(values: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(value) for value in values]


def _files(incomplete: str) -> Iterator[str]:
    """The configuration files and the directories whose path begins like this."""
    for path in sorted(Path().glob("*")):
        if path.name.startswith(incomplete) and not path.name.startswith("."):
            if path.is_dir():
                yield f"{path}/"
            elif path.name.endswith(_CONFIG_ENDINGS):
                yield str(path)
