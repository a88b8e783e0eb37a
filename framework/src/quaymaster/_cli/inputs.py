"""What ``simulate`` and ``explain`` read: manifests, made-up nodes, a configuration."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import attrs
import click

from quaymaster._cli.output import warn
from quaymaster.config import SchedulerConfig, default_config, load_config
from quaymaster.errors import ManifestErrors
from quaymaster.manifests import Loaded, Source, load
from quaymaster.memory import AdmissionError, make_nodes
from quaymaster.notices import Notice
from quaymaster.objects import ApiObject
from quaymaster.registry import PluginRegistry

__all__ = ["Inputs", "input_options", "read_config", "read_inputs"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("paths", metavar="PATH...", nargs=-1, required=True),
    click.option(
        "--nodes",
        "specs",
        metavar="SPEC",
        multiple=True,
        help="Add nodes, such as 100:cpu=4,memory=16Gi,zones=3. May be repeated.",
    ),
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        help="A KubeSchedulerConfiguration, or the name of a profile that is shipped.",
    ),
    click.option(
        "--seed",
        metavar="N",
        default=0,
        help="Decides the choice between equally good nodes, and generated names.",
    ),
)


def input_options(command: F) -> F:
    """Give a command the arguments that say what to read."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@attrs.frozen(kw_only=True)
class Inputs:
    """What a simulation is made of.

    Attributes:
        registry: The installed plugins.
        config: The scheduler's configuration.
        objects: All objects, made-up nodes first.
        sources: Where objects came from, by how messages name them.
        notices: What was left out or assumed while reading.
    """

    registry: PluginRegistry
    config: SchedulerConfig
    objects: Sequence[ApiObject]
    sources: Mapping[str, Source]
    notices: Sequence[Notice]

    @contextmanager
    def located(self) -> Iterator[None]:
        """Add the file to what is said about an object inside the block."""
        try:
            yield
        except (AdmissionError, ManifestErrors) as error:
            problems = [
                attrs.evolve(problem, where=f"{source} ({problem.where})")
                if (source := self.sources.get(problem.where))
                else problem
                for problem in error.problems
            ]
            raise ManifestErrors(problems) from error


def read_inputs(
    paths: Sequence[str], specs: Sequence[str], config_file: str | None
) -> Inputs:
    """Read everything that the command line names."""
    registry = PluginRegistry.discover()
    config = read_config(config_file, registry)
    made = make_nodes(specs)
    loaded = load(paths)
    _tell_skipped(loaded)
    return Inputs(
        registry=registry,
        config=config,
        objects=[*made, *loaded.objects],
        sources=_sources(loaded),
        notices=loaded.notices,
    )


def read_config(file: str | None, registry: PluginRegistry) -> SchedulerConfig:
    """Load a configuration, or the default one; print its warnings."""
    config = default_config(registry) if file is None else load_config(file, registry)
    for warning in config.warnings:
        warn(f"warning: {warning}")
    return config


def _tell_skipped(loaded: Loaded) -> None:
    if loaded.skipped:
        counts = ", ".join(
            f"{kind} x{count}" if count > 1 else kind
            for kind, count in sorted(loaded.skipped.items())
        )
        total = sum(loaded.skipped.values())
        what = "object" if total == 1 else "objects"
        warn(f"skipped {total} {what} that scheduling does not know: {counts}")


def _sources(loaded: Loaded) -> Mapping[str, Source]:
    return {
        f"{obj.kind} {obj.key}": source
        for obj, source in zip(loaded.objects, loaded.sources, strict=True)
    }
