"""The command line: the group of all commands."""

from importlib import import_module
from typing import Final

import click

from quaymaster._cli import version

__all__ = ["app"]

_COMMANDS: Final = {
    "capacity": "capacity.command",
    "compare": "compare.command",
    "completion": "completion.command",
    "config": "config.group",
    "debug": "debug.group",
    "deploy": "deploy.group",
    "doctor": "doctor.command",
    "explain": "explain.command",
    "extender": "extender.command",
    "perf": "perf.command",
    "plan": "plan.command",
    "plugins": "plugins.group",
    "record": "record.command",
    "replay": "replay.command",
    "run": "run.command",
    "scenario": "scenario.group",
    "serve": "serve.command",
    "simulate": "simulate.command",
    "snapshot": "snapshot.command",
    "sweep": "sweep.command",
    "tune": "tune.command",
    "ui": "ui.command",
    "version": "version.command",
    "what-if": "what_if.command",
}
"""Where each command is: a module of this package, and its name there."""


class _Commands(click.Group):
    """The commands, each imported when it is asked for.

    To import all takes several times as long as what most commands need.
    """

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names, sorted."""
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of that name."""
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(".")
        command = getattr(import_module(f"{__package__}.{module}"), name)
        assert isinstance(command, click.Command)
        return command


def _print_version(context: click.Context, _option: click.Parameter, on: bool) -> None:
    if on and not context.resilient_parsing:
        version.print_version()
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

    The exit code is 0 if it is done; 1 if it is, but not all is as it should be (see
    --require-all, --require-same, --strict and --verify of the commands, perf and
    plugins check); 2 if the command line or the input is wrong; 130 after Ctrl-C (0 if
    that stops "extender").
    """
