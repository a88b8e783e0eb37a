"""``quaymaster snapshot``."""

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import click

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._base.errors import counted
from quaymaster._base.files import OWNER, write_whole
from quaymaster._base.notices import Notice
from quaymaster._cli.attempt_values import complete_attempt, read_attempt
from quaymaster._cli.configuration import read_config
from quaymaster._cli.inputs import InputOptions, input_options, read_inputs
from quaymaster._cli.live import read_live
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import OutputError, progress_bar, warn
from quaymaster._cli.values import complete_pod
from quaymaster._clusters.kubernetes.anonymising import anonymised
from quaymaster._clusters.kubernetes.lean import lean_objects
from quaymaster._clusters.kubernetes.resolving import find_access
from quaymaster._clusters.kubernetes.snapshots import snapshot_content, whole_items
from quaymaster._clusters.manifests.files import STDIN
from quaymaster._clusters.manifests.load import load
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.load import shipped_profiles
from quaymaster._core.config.shipped import file_or_shipped
from quaymaster._core.config.yaml_file import read_content
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._studies.reproducing.calls import MAX_TRIALS, make_test
from quaymaster._studies.simulation.explained import WhichAttempt

__all__ = ["command"]


@click.command("snapshot")
@input_options
@click.option(
    "-A",
    "--all-namespaces",
    is_flag=True,
    help="All namespaces of a live cluster, even with -n; this is the default.",
)
@click.option(
    "-l",
    "--selector",
    metavar="SELECTOR",
    default="",
    help="Only the pods and workloads of a live cluster with these labels, such as "
    "app=web.",
)
@click.option(
    "--anonymise",
    is_flag=True,
    help="Rename all objects without changing decisions, move all times, and remove "
    "annotations and messages.",
)
@click.option(
    "--whole",
    is_flag=True,
    help="Keep all fields of a live cluster, such as environment variables and "
    "commands, which may hold secrets.",
)
@click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="The file to write; compressed if it ends with .gz; - is standard output.",
)
@click.option(
    "--pod",
    metavar="POD",
    shell_complete=complete_pod,
    help="The pod whose decision --to-test is about, as for explain.",
)
@click.option(
    "--to-test",
    "test_file",
    metavar="FILE.py",
    type=click.Path(allow_dash=True),
    help="Write a pytest file: the smallest cluster, with other names, that gives the "
    "same decision about --pod.",
)
@click.option(
    "--unbind",
    is_flag=True,
    help="With --pod: remove the pod from its node first.",
)
@click.option(
    "--attempt",
    metavar="N|first|last",
    default=WhichAttempt.AUTO.value,
    callback=read_attempt,
    shell_complete=complete_attempt,
    help="With --pod: which attempt to test, as for explain; the attempt that preempts "
    "pods comes before the attempt that places the pod.",
)
@click.option(
    "--max-trials",
    metavar="N",
    type=click.IntRange(min=1),
    default=MAX_TRIALS,
    show_default=True,
    help="With --to-test: the maximum number of smaller clusters to try.",
)
def command(
    options: InputOptions,
    all_namespaces: bool,
    selector: str,
    anonymise: bool,
    whole: bool,
    file: str | None,
    pod: str | None,
    test_file: str | None,
    unbind: bool,
    attempt: WhichAttempt | int,
    max_trials: int,
) -> None:
    """Write the objects of a cluster that scheduling uses, or a test of a pod.

    The file is a list as kubectl prints it, which all commands read. It has no
    environment variables, commands and other fields that scheduling does not read. The
    input is a live cluster, or files as for "simulate". Nothing is written to the
    cluster. With -n or -l, nodes of a live cluster look emptier than they are.

    With --pod and --to-test, the input is simulated. The cluster of the pod's attempt
    is then reduced as long as the decision stays the same: the outcome, the node, and
    the reasons of rejected nodes.
    """
    if bool(pod) is not bool(test_file):
        raise click.UsageError("--pod and --to-test go together")
    if file is None and test_file is None:
        raise click.UsageError("expected -o FILE, or --pod POD --to-test FILE.py")
    if pod and test_file:
        if file is not None:
            raise click.UsageError("-o and --to-test do not go together")
        _write_test(
            pod,
            test_file,
            options,
            unbind=unbind,
            attempt=attempt,
            max_trials=max_trials,
        )
        return
    if whole and anonymise:
        raise click.UsageError("--whole and --anonymise do not go together")
    if options.paths or options.specs:
        _refuse_live_options(selector, whole=whole)
        inputs = read_inputs(options)
        kinds = KindSet(declared_kinds(inputs.config, inputs.registry))
        items = _lean_items(inputs.objects, kinds, anonymise=anonymise)
        _write_items(file or STDIN, items, inputs.notices)
        return
    only = "" if all_namespaces else options.namespace or ""
    _write_live(
        file or STDIN, options, only, selector, anonymise=anonymise, whole=whole
    )


def _refuse_live_options(selector: str, *, whole: bool) -> None:
    for option, is_set in (("-l", selector), ("--whole", whole)):
        if is_set:
            raise click.UsageError(f"{option} is for live clusters without files")


def _lean_items(
    objects: Iterable[ApiObject], kinds: KindSet, *, anonymise: bool
) -> list[dict[str, Any]]:
    items = lean_objects(objects, kinds)
    return anonymised(items, kinds) if anonymise else items


def _write_live(
    file: str,
    options: InputOptions,
    only: str,
    selector: str,
    *,
    anonymise: bool,
    whole: bool,
) -> None:
    access = find_access(kubeconfig=options.kubeconfig, context=options.context or "")
    registry = installed_plugins()
    config, notices = read_config(options.configured, registry, asks_extenders=False)
    kinds = declared_kinds(config, registry)
    live = read_live(
        access,
        kinds,
        kubernetes=config.kubernetes,
        namespace=only,
        selector=selector,
    )
    if whole:
        _write_items(file, whole_items(live), (*notices, *live.notices))
        return
    # Decoded here and encoded again, which drops the fields that no class has.
    loaded = load(
        [], kinds=kinds, stored=live.named_texts(), kubernetes=config.kubernetes
    )
    items = _lean_items(loaded.objects, KindSet(kinds), anonymise=anonymise)
    _write_items(file, items, (*notices, *live.notices, *loaded.notices))


def _write_items(
    file: str, items: list[dict[str, Any]], notices: Iterable[Notice]
) -> None:
    _write(file, snapshot_content(items, file))
    counts = Counter(item["kind"] for item in items)
    what = f"{counted(counts['Node'], 'node')}, {counted(counts['Pod'], 'pod')}"
    warn(f"{file}: {what}, {counted(len(items), 'object')} in all")
    print_notices(notices)


def _write_test(
    pod: str,
    file: str,
    options: InputOptions,
    *,
    unbind: bool,
    attempt: WhichAttempt | int,
    max_trials: int,
) -> None:
    inputs = read_inputs(options)
    kinds = KindSet(declared_kinds(inputs.config, inputs.registry))
    name, text = _config_of(options.configured.file)
    with progress_bar() as progress, inputs.located():
        task = progress.add_task("simulating", total=None)
        test = make_test(
            pod,
            inputs.objects,
            config=inputs.config,
            registry=inputs.registry,
            seed=options.seed,
            namespace=options.namespace or "",
            unbind=unbind,
            attempt=attempt,
            config_name=name,
            config_text=text,
            kinds=list(kinds.own),
            max_trials=max_trials,
            max_pods=options.max_pods,
            on_trial=lambda done, most: progress.update(
                task, completed=done, total=most, description="shrinking"
            ),
        )
    _write(file, test.text.encode())
    left = f"{counted(test.nodes, 'node')}, {counted(test.pods, 'pod')}"
    size = "" if test.is_smallest else " (all trials were used: --max-trials)"
    warn(
        f"{file}: {test.pod} is {test.outcome}; {left}, "
        f"{counted(test.objects, 'object')} in all, "
        f"after {counted(test.trials, 'trial')}{size}"
    )
    print_notices(inputs.notices)


def _config_of(file: str | None) -> tuple[str, str]:
    """Return a configuration for a test: a shipped one's name, or its text."""
    if file is None:
        return "", ""
    shipped = shipped_profiles()
    path = file_or_shipped(file, shipped, "profile")
    # Identity: the shipped file itself, not another file with equal content.
    if path is shipped.get(file):
        return file, ""
    return "", read_content(path, file).decode()


def _write(file: str, content: bytes) -> None:
    try:
        if file == STDIN:
            sys.stdout.buffer.write(content)
        else:
            # Even without the fields that are left out, the file describes a cluster in
            # detail.
            write_whole(file, content, mode=OWNER)
    except OSError as error:
        raise OutputError(
            f"{file}: {(error.strerror or str(error)).lower()}"
        ) from error
