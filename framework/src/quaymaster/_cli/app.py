"""The command line: the group of all commands."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Final

import click
from click.shell_completion import CompletionItem

from quaymaster._cli.groups import SuggestingGroup
from quaymaster._cli.help_pages import described_command
from quaymaster._cli.imports import interruptible_import

__all__ = ["app", "import_command"]


_GROUPS: Final = {
    "Find where pods go": {
        "simulate": "Schedule manifests and print each pod's node",
        "explain": "Show why a pod is placed on a node, or on none",
        "capacity": "Show the free room of nodes and of the cluster",
        "plan": "Find the fewest or cheapest nodes for some manifests",
        "consolidate": "Show which nodes an autoscaler would remove",
        "what-if": "Change a cluster and show what happens to its pods",
        "compare": "Compare configurations, versions or inputs",
    },
    "Study scheduling": {
        "scenario": "Play events in virtual time and check assertions",
        "sweep": "Run an experiment over inputs, profiles and seeds",
        "tune": "Search the best weights and arguments of a profile",
        "perf": "Measure speed with scheduler_perf workloads",
    },
    "Record and replay": {
        "snapshot": "Save a cluster to a file, or a pod as a test",
        "record": "Record what happens on a live cluster",
        "replay": "Repeat the decisions of a record and compare them",
    },
    "Work on a cluster": {
        "run": "Schedule the pods of a cluster",
        "doctor": 'Check whether "run" would work on a cluster',
        "deploy": "Render the manifests that install the scheduler",
        "debug": "Inspect a running scheduler",
        "serve": "Answer over HTTP whether pods would fit",
        "extender": "Serve plugins to kube-scheduler as its extender",
        "ui": "Simulate, compare and explain in a browser",
    },
    "Author plugins and profiles": {
        "plugins": "List, create and check plugins",
        "config": "Check and show scheduler configurations",
        "completion": "Print a completion script for a shell",
        "version": "Print the versions of Quaymaster and Kubernetes",
    },
}
"""The commands by the user's task, in the order of ``--help``.

Each has its line of that help. The command ``what-if`` is the ``command``
or ``group`` of the module ``what_if``.
"""

_SUMMARIES: Final = {
    name: summary
    for summaries in _GROUPS.values()
    for name, summary in summaries.items()
}


def import_command(args: Sequence[str]) -> None:
    """Import the command that arguments name, if any, unless its help is enough.

    Args:
        args: The arguments of ``quaymaster``.
    """
    if args and args[0] in _SUMMARIES and described_command(args) is None:
        _imported(args[0])


def _imported(name: str) -> ModuleType:
    with interruptible_import():
        return import_module(f"{__package__}.{name.replace('-', '_')}")


class _Commands(SuggestingGroup):
    """The commands, each imported when it runs.

    Importing all of them takes several times as long as most commands take. So the list
    of commands is printed from the table.
    """

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names in the order of ``--help``."""
        return list(_SUMMARIES)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with a name, or None."""
        if cmd_name not in _SUMMARIES:
            return None
        module = _imported(cmd_name)
        command = getattr(module, "group" if hasattr(module, "group") else "command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, and its own arguments."""
        described = described_command(args)
        if described is not None and not ctx.resilient_parsing:
            return described.name, described, args[1:]
        return super().resolve_command(ctx, args)

    def format_commands(
        self, _ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands by group, one line each."""
        width = max(map(len, _SUMMARIES))
        for title, summaries in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), text) for name, text in summaries.items()]
                )

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        """Return the commands and options that begin with a text."""
        commands = [
            CompletionItem(name, help=summary)
            for name, summary in _SUMMARIES.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


def _print_version(context: click.Context, _option: click.Parameter, on: bool) -> None:
    if on and not context.resilient_parsing:
        from quaymaster._cli.version import print_version  # noqa: PLC0415 - as commands

        print_version()
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version, and which kube-scheduler it decides like.",
)
def app() -> None:
    """The Kubernetes scheduling framework: simulate, explain and check scheduling.

    The exit code is 0 on success; 1 if a check fails (see --require-all,
    --require-same, --strict and --verify of the commands, perf and plugins check); 2 if
    the command line or the input is wrong; 130 after Ctrl-C (0 if that stops
    "extender").
    """
