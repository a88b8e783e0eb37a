"""``quaymaster doctor``."""

import sys
from contextlib import closing
from typing import Any, Final

import attrs
import click

from quaymaster._base.errors import counted
from quaymaster._cli.config import build_plugins
from quaymaster._cli.configuration import ConfigSource, config_notices, config_options
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.live_options import cluster_options
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import (
    OutputFormat,
    output_option,
    print_document,
    print_table,
)
from quaymaster._cli.tables import Fit, Heading
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._core.config.kinds import kinds_read, profile_plugins
from quaymaster._core.config.load import default_config, load_config
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.access import declares_access
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._surfaces.deploy.doctor import examine
from quaymaster._surfaces.deploy.findings import Finding, State, fine, worrying
from quaymaster._surfaces.deploy.local_checks import packages_installed, port_free
from quaymaster._surfaces.deploy.patient import Patient
from quaymaster._surfaces.deploy.plan import PORT
from quaymaster._surfaces.deploy.rights import rights_of

__all__ = ["command", "finding_document"]

NOT_WELL: Final = 1
_TIMEOUT: Final = 10.0  # seconds
_LARGEST_PORT: Final = 65535


@click.command("doctor")
@config_options()
@cluster_options
@click.option(
    "--as",
    "user",
    metavar="USER",
    default="",
    help="Check with the rights of this user, if you may impersonate it: "
    "system:serviceaccount:NAMESPACE:NAME.",
)
@click.option(
    "--secure-port",
    type=click.IntRange(0, _LARGEST_PORT),
    default=PORT,
    show_default=True,
    help="The port for health and metrics; 0 for none.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if there is any warning.")
@output_option(
    OutputFormat.TABLE, OutputFormat.CSV, OutputFormat.JSON, OutputFormat.YAML
)
def command(
    configured: ConfigSource,
    kubeconfig: str | None,
    context: str,
    user: str,
    secure_port: int,
    strict: bool,
    output: OutputFormat,
) -> None:
    """Check what "quaymaster run" lacks on a cluster: rights, kinds, extenders.

    It writes nothing. FILE of --config may also be the ConfigMap from "deploy render".
    The exit code is 1 if something is missing.
    """
    registry = installed_plugins()
    config = _configuration(configured, registry)
    access = _as(find_access(kubeconfig=kubeconfig, context=context), user)
    build_plugins(config, registry)
    findings = [_configured(configured.file, config), *_undeclared(config, registry)]
    findings += packages_installed()
    with closing(ApiClient(access, timeout=_TIMEOUT)) as client:
        patient = Patient(
            client=client,
            config=config,
            kinds=kinds_read(config, registry),
            needs=rights_of(config, registry),
        )
        findings += examine(patient)
    findings += port_free("127.0.0.1", secure_port)
    _print(findings, output)
    print_notices(config_notices(config.warnings))
    states = {finding.state for finding in findings}
    if State.MISSING in states or (strict and State.WARNING in states):
        sys.exit(NOT_WELL)


def _configuration(
    configured: ConfigSource, registry: PluginRegistry
) -> SchedulerConfig:
    file, kubernetes = configured.file, configured.kubernetes
    if file is None:
        return default_config(registry, kubernetes=kubernetes)
    return load_config(file, registry, kubernetes=kubernetes)


def _as(access: Access, user: str) -> Access:
    if not user:
        return access
    return attrs.evolve(access, headers=(("Impersonate-User", user),))


def _configured(file: str | None, config: SchedulerConfig) -> Finding:
    names = ", ".join(profile.scheduler_name for profile in config.profiles)
    plugins = counted(len(profile_plugins(config)), "plugin")
    source = file or "the default"
    return fine("configuration", f"{source} is valid: {names}, with {plugins}")


def _undeclared(config: SchedulerConfig, registry: PluginRegistry) -> list[Finding]:
    """Findings about plugins that may get more rights than they need."""
    return [
        worrying("plugins", f"{name} does not declare what it reads and writes")
        for name in profile_plugins(config)
        if not declares_access(registry[name].load())
    ]


def _print(findings: list[Finding], output: OutputFormat) -> None:
    if output is OutputFormat.TABLE:
        rows = [
            (finding.check, finding.state.value, finding.text) for finding in findings
        ]
        print_table(("CHECK", "STATE", Heading("FOUND", Fit.SENTENCE)), rows)
        return
    documents = [finding_document(finding) for finding in findings]
    if output is OutputFormat.CSV:
        print_csv(documents, ("check", "state", "found", "right", "neededBy"))
    else:
        print_document(documents, output)


def finding_document(finding: Finding) -> dict[str, Any]:
    """The finding as plain data, in the form of ``-o json``."""
    tree = {"check": finding.check, "state": finding.state.value, "found": finding.text}
    if finding.need is None:
        return tree
    right = attrs.asdict(finding.need.right)
    return {**tree, "right": right, "neededBy": list(finding.need.who)}
