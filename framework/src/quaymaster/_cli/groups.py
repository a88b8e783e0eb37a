"""Groups of commands that suggest a name for a misspelt one."""

import click

from quaymaster._base.suggestions import did_you_mean

__all__ = ["SuggestingGroup"]


class SuggestingGroup(click.Group):
    """A group whose error for an unknown command suggests the closest name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, and its own arguments."""
        name = args[0]
        is_option = name.startswith("-")
        if is_option or ctx.resilient_parsing or self.get_command(ctx, name):
            return super().resolve_command(ctx, args)
        hint = did_you_mean(name, self.list_commands(ctx))
        message = f"No such command {name!r}{hint}"
        raise click.UsageError(message, ctx)
