"""``quaymaster snapshot``."""

import sys
from collections import Counter
from pathlib import Path

import click

from quaymaster._cli.configuration import read_config
from quaymaster._cli.live import live_options, read_live
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import OutputError, warn
from quaymaster._cli.values import config_option
from quaymaster._config.kinds import declared_kinds
from quaymaster._errors import counted
from quaymaster._kubernetes.resolving import find_access
from quaymaster._kubernetes.snapshots import snapshot_content, snapshot_items
from quaymaster._manifests.files import STDIN
from quaymaster._objects.kind_set import KindSet
from quaymaster._registry.registry import PluginRegistry

__all__ = ["command"]


@click.command("snapshot")
@live_options
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    default="",
    help="Only what is in this namespace, and what is in none.",
)
@click.option(
    "-A",
    "--all-namespaces",
    is_flag=True,
    help="All namespaces, whatever -n says; this is the default.",
)
@click.option(
    "-l",
    "--selector",
    metavar="SELECTOR",
    default="",
    help="Only the pods and workloads with these labels, such as app=web.",
)
@click.option(
    "--anonymise",
    is_flag=True,
    help="Give everything other names, so that decisions stay the same, and leave out "
    "what scheduling does not read.",
)
@config_option()
@click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(allow_dash=True),
    help="Where to write it; compressed if FILE ends with .gz; - is standard output.",
)
def command(
    context: str | None,
    kubeconfig: str | None,
    namespace: str,
    all_namespaces: bool,
    selector: str,
    anonymise: bool,
    config_file: str | None,
    file: str,
) -> None:
    """Write what scheduling knows of a live cluster into one file.

    The file is a list, as kubectl prints one, which all commands read. Nothing is ever
    written to the cluster. With -n or -l, nodes look emptier than they are.
    """
    access = find_access(kubeconfig=kubeconfig, context=context or "")
    registry = PluginRegistry.discover()
    config, notices = read_config(config_file, registry, asks_extenders=False)
    kinds = declared_kinds(config, registry)
    only = "" if all_namespaces else namespace
    live = read_live(access, kinds, namespace=only, selector=selector)
    items = snapshot_items(live, KindSet(kinds), is_anonymous=anonymise)
    _write(file, snapshot_content(items, file))
    counts = Counter(item["kind"] for item in items)
    what = f"{counted(counts['Node'], 'node')}, {counted(counts['Pod'], 'pod')}"
    warn(f"{file}: {what}, {counted(len(items), 'object')} in all")
    print_notices((*notices, *live.notices))


def _write(file: str, content: bytes) -> None:
    try:
        if file == STDIN:
            sys.stdout.buffer.write(content)
        else:
            Path(file).write_bytes(content)
    except OSError as error:
        raise OutputError(
            f"{file}: {(error.strerror or str(error)).lower()}"
        ) from error
