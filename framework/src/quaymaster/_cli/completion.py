"""``quaymaster completion``."""

from typing import Final

import click
from click.shell_completion import get_completion_class

from quaymaster._cli.output import print_text

__all__ = ["command"]

_SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_QUAYMASTER_COMPLETE"


@click.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and values in a shell.

    SHELL is bash, zsh or fish. In bash and zsh, load the script with
    source <(quaymaster completion SHELL), in fish with quaymaster completion fish |
    source. Add that line to the shell's start-up file to load it in every session.
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None, "click has a class for each shell"
    app = context.find_root().command
    print_text(completion_class(app, {}, "quaymaster", _VARIABLE).source())
