"""What ``simulate`` and ``explain`` read: manifests, made-up nodes, a configuration."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from quaymaster._cli.output import stderr
from quaymaster.config import SchedulerConfig, default_config, load_config
from quaymaster.manifests import load
from quaymaster.memory import make_nodes
from quaymaster.objects import ApiObject
from quaymaster.registry import PluginRegistry

__all__ = [
    "ConfigOption",
    "NodesOption",
    "PathsArgument",
    "SeedOption",
    "read_config",
    "read_objects",
]

PathsArgument: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Manifests: files, directories, or - for standard input.",
        show_default=False,
    ),
]
NodesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes",
        metavar="SPEC",
        help="Add nodes, such as 100:cpu=4,memory=16Gi,zones=3. May be repeated.",
    ),
]
ConfigOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A KubeSchedulerConfiguration, or the name of a profile that is shipped.",
    ),
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seeds the choice between equals.")
]


def read_objects(paths: Sequence[str], specs: Iterable[str] | None) -> list[ApiObject]:
    """Load manifests and made-up nodes; say in one line what was left out."""
    made = make_nodes(list(specs or ()))
    loaded = load(paths)
    if loaded.skipped:
        counts = ", ".join(
            f"{kind} x{count}" if count > 1 else kind
            for kind, count in sorted(loaded.skipped.items())
        )
        total = sum(loaded.skipped.values())
        stderr().print(
            f"skipped {total} object(s) that scheduling does not know: {counts}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    return [*made, *loaded.objects]


def read_config(path: str | None, registry: PluginRegistry) -> SchedulerConfig:
    """Load the configuration, or the default one; print its warnings."""
    config = load_config(Path(path), registry) if path else default_config(registry)
    for warning in config.warnings:
        stderr().print(f"warning: {warning}", highlight=False, markup=False)
    return config
