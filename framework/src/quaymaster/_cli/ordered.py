"""Commands whose options count in the order in which they are given."""

from typing import Final

import click

__all__ = ["OrderedCommand", "in_order"]

_ORDER: Final = "quaymaster.order"


class OrderedCommand(click.Command):
    """A command that keeps the order of its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and keep their order."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


def in_order(**given: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the values of options in the order of the command line.

    Args:
        **given: The values of each option, which may be repeated, in their order.

    Returns:
        The options' names, each with a value.
    """
    left = {name: iter(values) for name, values in given.items()}
    order: list[str] = click.get_current_context().meta.get(_ORDER, [])
    return [(name, next(left[name])) for name in order if name in left]
