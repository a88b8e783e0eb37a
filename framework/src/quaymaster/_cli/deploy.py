"""``quaymaster deploy``."""

import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import click

from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.files import write_whole
from quaymaster._cli.configuration import ConfigSource, config_notices, config_options
from quaymaster._cli.groups import SuggestingGroup
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import OutputError, print_text, warn
from quaymaster._core.config.kinds import profile_plugins
from quaymaster._core.config.load import parse_config, read_source
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.config.wrapped import read_wrapped
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._surfaces.deploy.dockerfile import dockerfile_of, requirements_of
from quaymaster._surfaces.deploy.documents import UPSTREAM_SCHEDULER, adapted
from quaymaster._surfaces.deploy.plan import Plan
from quaymaster._surfaces.deploy.rendering import rendered
from quaymaster._surfaces.deploy.rights import rights_of

__all__ = ["group"]

_DEFAULT_SOURCE: Final = "configuration"
_API_PORTS: Final = (443, 6443)
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_LONGEST_NAME: Final = 63
_LARGEST_PORT: Final = 65535


@click.group("deploy", cls=SuggestingGroup)
def group() -> None:
    """Install the scheduler on a cluster."""


def _name(_context: click.Context, _option: click.Parameter, text: str) -> str:
    if len(text) > _LONGEST_NAME or not _NAME.fullmatch(text):
        raise click.BadParameter(f"expected a name such as my-scheduler, got {text!r}")
    return text


def _quantity(_context: click.Context, _option: click.Parameter, text: str) -> str:
    try:
        Quantity(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return text


@group.command("render", short_help='Print manifests for "kubectl apply"')
@config_options()
@click.option(
    "--scheduler-name",
    metavar="NAME",
    default="",
    help="The spec.schedulerName of its pods; by default that of the configuration.",
)
@click.option(
    "--name",
    default="quaymaster",
    show_default=True,
    callback=_name,
    help="The name of the objects.",
)
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    default="kube-system",
    show_default=True,
    callback=_name,
    help="Their namespace, which must exist.",
)
@click.option(
    "--image",
    metavar="IMAGE",
    default="",
    help="The image, built for example from --dockerfile; by default quaymaster, with "
    "this version as its tag.",
)
@click.option(
    "--replicas",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="The number of replicas; one schedules, the others stand by.",
)
@click.option(
    "--priority-class",
    metavar="NAME",
    default="system-cluster-critical",
    show_default=True,
    help="The PriorityClass of its pods; '' for none.",
)
@click.option(
    "--cpu",
    metavar="AMOUNT",
    default="500m",
    show_default=True,
    callback=_quantity,
    help="The CPU request of each replica.",
)
@click.option(
    "--memory",
    metavar="AMOUNT",
    default="1Gi",
    show_default=True,
    callback=_quantity,
    help="The memory request of each replica.",
)
@click.option(
    "--api-port",
    "api_ports",
    type=click.IntRange(1, _LARGEST_PORT),
    multiple=True,
    default=_API_PORTS,
    show_default=True,
    help="A port of the API server that its pods may connect to. May be repeated.",
)
@click.option(
    "--dockerfile", is_flag=True, help="Print the Dockerfile of an image instead."
)
@click.option(
    "--dir",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write a file for each object, instead of printing them.",
)
def render(
    configured: ConfigSource,
    scheduler_name: str,
    name: str,
    namespace: str,
    image: str,
    dockerfile: bool,
    folder: str | None,
    **options: Any,  # attributes of `Plan`
) -> None:
    """Print what a cluster needs to run the scheduler, for "kubectl apply -f -".

    These are a Deployment with probes and its supporting objects, the configuration,
    and the least rights that it needs: those that its plugins declare.
    """
    registry, version = installed_plugins(), metadata.version("quaymaster")
    document, config = _configuration(
        configured, registry, scheduler_name, name, namespace
    )
    if dockerfile:
        names = profile_plugins(config)
        text = dockerfile_of(requirements_of(names, registry, version))
        _put([("Dockerfile", text)], folder)
        return
    election = config.leader_election
    if options["replicas"] > 1 and not election.leader_elect:
        message = "leaderElection.leaderElect is false: expected 1 replica"
        raise click.BadParameter(message, param_hint="--replicas")
    plan = Plan(
        name=name,
        namespace=namespace,
        image=image or f"quaymaster:{version}",
        version=version,
        config=config,
        document=document,
        needs=rights_of(config, registry),
        **options,
    )
    _put([(f"{name}.yaml", text) for name, text in rendered(plan)], folder)
    print_notices(config_notices(config.warnings))
    if config.profile(UPSTREAM_SCHEDULER) is not None:
        lease = f"{election.resource_namespace}/{election.resource_name}"
        warn(
            f"note: it schedules kube-scheduler's pods; both compete for the lease "
            f"{lease}; use --scheduler-name for a scheduler of its own"
        )


def _configuration(
    configured: ConfigSource,
    registry: PluginRegistry,
    scheduler_name: str,
    name: str,
    namespace: str,
) -> tuple[dict[str, Any], SchedulerConfig]:
    """The configuration to deploy: the content of its file, and the complete one."""
    file, kubernetes = configured.file, configured.kubernetes
    source = file or _DEFAULT_SOURCE
    document: object = None
    if file is not None:
        document, source = read_wrapped(read_source(file), file)
        given = parse_config(document, registry, source=source, kubernetes=kubernetes)
        if scheduler_name and len(given.profiles) > 1:
            count = len(given.profiles)
            message = f"{file} has {count} profiles, each with a name: expected one"
            raise click.BadParameter(message, param_hint="--scheduler-name")
    tree = adapted(
        document, scheduler_name=scheduler_name, name=name, namespace=namespace
    )
    return tree, parse_config(tree, registry, source=source, kubernetes=kubernetes)


def _put(files: Sequence[tuple[str, str]], folder: str | None) -> None:
    """Print the contents of files, or write the files."""
    if folder is None:
        print_text("---\n".join(text for _, text in files))
        return
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in files:
            write_whole(Path(folder, name), text.encode())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise OutputError(f"{error.filename or folder}: {why}") from error
