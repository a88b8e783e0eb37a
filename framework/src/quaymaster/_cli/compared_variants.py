"""The variants of ``quaymaster compare``, made from the paths of a command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import KUBERNETES_VERSIONS, Kubernetes
from quaymaster._cli.compared_gates import gates_suffix
from quaymaster._cli.configuration import ConfigSource, read_config
from quaymaster._cli.inputs import InputOptions, Inputs, read_inputs
from quaymaster._core.config.document import KIND
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.load import shipped_profiles
from quaymaster._core.config.wrapped import unwrapped
from quaymaster._core.config.yaml_file import read_content, read_yaml
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.comparing.environments import (
    EnvironmentVariant,
    interpreter_of,
)
from quaymaster._studies.comparing.variants import Variant

__all__ = [
    "ComparedPaths",
    "RunnableVariant",
    "common_input",
    "configurations_of",
    "input_variant",
    "sort_paths",
    "variant_name",
    "variants_of_one_input",
    "versions_of",
]

_ENDINGS: Final = (".yaml", ".yml", ".json")

RunnableVariant: TypeAlias = Variant | EnvironmentVariant


class ComparedPaths(NamedTuple):
    """The paths of the command line, by their type."""

    configurations: list[str]
    environments: list[str]
    inputs: list[str]


def sort_paths(paths: Sequence[str]) -> ComparedPaths:
    """Separate configurations and environments from inputs."""
    arguments = ComparedPaths([], [], [])
    for path in dict.fromkeys(paths):
        if _is_configuration(path):
            arguments.configurations.append(path)
        elif interpreter_of(Path(path)) is not None:
            arguments.environments.append(path)
        else:
            arguments.inputs.append(path)
    return arguments


def _is_configuration(path: str) -> bool:
    file = Path(path)
    if not file.exists():
        return path in shipped_profiles()
    if not file.is_file() or file.suffix not in _ENDINGS:
        return False
    try:
        content = read_content(file, path)
        if KIND.encode() not in content:
            return False  # faster than parsing a large manifest
        document, _ = unwrapped(read_yaml(content, path), path)
    except ConfigErrors:
        # Several documents, or an unreadable file: reading the input reports that.
        return False
    return isinstance(document, dict) and document.get("kind") == KIND


def common_input(
    arguments: ComparedPaths, options: InputOptions, kinds: Sequence[type[ApiObject]]
) -> Inputs:
    """Read the input of all variants.

    The configuration of the command line may name plugins that only the environments
    have. Unless it also runs in this process, each environment reports its errors.
    """
    options = attrs.evolve(options, paths=tuple(arguments.inputs))
    newest = _newest(options.configured)
    if newest is None:
        newest = _with_all_gates(arguments.configurations, options.configured)
    try:
        return read_inputs(options, kubernetes=newest, kinds=kinds)
    except ConfigErrors:
        if len(arguments.configurations) + len(arguments.environments) < 2:
            raise
    return read_inputs(
        attrs.evolve(options, configured=attrs.evolve(options.configured, file=None)),
        kubernetes=newest,
        kinds=kinds,
    )


def variants_of_one_input(
    arguments: ComparedPaths, inputs: Inputs, options: InputOptions, *, scales: bool
) -> list[RunnableVariant]:
    """Return the variants that are simulated with the same input.

    Args:
        arguments: The paths of the command line.
        inputs: The common input.
        options: The options about the input.
        scales: Whether several autoscalers are compared.
    """
    runnables: list[RunnableVariant] = []
    for source in configurations_of(arguments, options, scales=scales):
        for version in versions_of(options.configured):
            path = source.file if arguments.configurations else ""
            config, _ = read_config(
                attrs.evolve(source, chosen=version), inputs.registry
            )
            own = attrs.evolve(inputs, config=config)
            runnables.append(
                input_variant(variant_name(path, version, options), own, options)
            )
    runnables += [
        EnvironmentVariant(
            name=variant_name(path, version, options),
            environment=Path(path),
            objects=inputs.objects,
            config_file=options.configured.file,
            kubernetes=version,
            max_pods=options.max_pods,
        )
        for path in arguments.environments
        for version in versions_of(options.configured)
    ]
    if len(runnables) == 1 and not scales:
        # What would run without it: the configuration of the command line.
        name = options.configured.file or "default"
        if name != runnables[0].name:
            runnables.insert(0, input_variant(name, inputs, options))
    return runnables


def configurations_of(
    arguments: ComparedPaths, options: InputOptions, *, scales: bool = False
) -> list[ConfigSource]:
    """Return the configurations that run in this process.

    Args:
        arguments: The paths of the command line.
        options: The options about the input.
        scales: Whether several autoscalers are compared.
    """
    configured = options.configured
    if arguments.configurations:
        return [
            attrs.evolve(configured, file=path) for path in arguments.configurations
        ]
    is_alone = (configured.beside or scales) and not arguments.environments
    return [configured] if is_alone else []


def versions_of(configured: ConfigSource) -> tuple[Kubernetes | None, ...]:
    """Return the Kubernetes versions of the variants; None is the default version."""
    return (configured.chosen, *configured.beside)


def _newest(configured: ConfigSource) -> Kubernetes | None:
    """Return the newest of several versions: the common input may have its fields."""
    if not configured.beside:
        return None
    versions = [version for version in versions_of(configured) if version is not None]
    return max(
        versions,
        key=lambda version: (
            KUBERNETES_VERSIONS.index(version.version),
            len(version.feature_gates),
        ),
    )


def _with_all_gates(
    files: Sequence[str], configured: ConfigSource
) -> Kubernetes | None:
    """Return a version with the feature gates that any configuration sets, or None.

    The common input may have fields and objects of these gates.
    """
    registry = PluginRegistry.discover()
    gates: dict[str, bool] = {}
    for file in files:
        try:
            source = attrs.evolve(configured, file=file)
            config, _ = read_config(source, registry, asks_extenders=False)
        except ConfigErrors:
            continue  # The variant reports it.
        own = config.kubernetes.feature_gates
        gates |= {gate: own[gate] or gates.get(gate, False) for gate in own}
    if not gates:
        return None
    return attrs.evolve(configured.kubernetes, feature_gates=gates)


def variant_name(
    path: str | None, version: Kubernetes | None, options: InputOptions
) -> str:
    """Return the name of a variant: with the version if there are several."""
    if version is None or not options.configured.beside:
        return path or ""
    name = version.version + gates_suffix(version, options.configured)
    return f"{path} {name}" if path else name


def input_variant(name: str, inputs: Inputs, options: InputOptions) -> Variant:
    """Return the variant that simulates an input with its own configuration."""
    return Variant(
        name=name,
        objects=inputs.objects,
        config=inputs.config,
        registry=inputs.registry,
        max_pods=options.max_pods,
    )
