"""The option ``--autoscaler``, and the autoscaler of a run."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from quaymaster._api.objects.meta import ApiObject
    from quaymaster._studies.simulation.autoscaler import (
        Autoscaler,
        AutoscalerContext,
        AutoscalerFactory,
    )

__all__ = [
    "ScaledRun",
    "autoscaler_option",
    "autoscalers_option",
    "the_autoscaler",
]

F = TypeVar("F", bound=Callable[..., Any])


class ScaledRun:
    """Keeps the autoscaler that a factory makes, for what is printed at the end.

    Args:
        factory: The factory, or None.

    Attributes:
        autoscaler: The autoscaler; None before it is made, or without a factory.
    """

    def __init__(self, factory: "AutoscalerFactory | None") -> None:
        self.autoscaler: Autoscaler | None = None
        self._factory = factory

    @property
    def kinds(self) -> "Sequence[type[ApiObject]]":
        """The kinds of objects that the autoscaler reads beside those of Kubernetes."""
        if self._factory is None:
            return ()
        from quaymaster._studies.simulation.autoscaler import (  # noqa: PLC0415 - rarely
            kinds_of,
        )

        return kinds_of(self._factory)

    @property
    def factory(self) -> "AutoscalerFactory | None":
        """A factory that keeps what it makes."""
        return None if self._factory is None else self._make

    def print(self, *, wide: bool = False) -> None:
        """Print which nodes came and went, if there is an autoscaler."""
        if self.autoscaler is not None:
            from quaymaster._cli.autoscaled import (  # noqa: PLC0415 - rarely needed
                print_autoscaled,
            )

            print_autoscaled(self.autoscaler, wide=wide)

    def document(self) -> dict[str, object]:
        """Return what it did, as an entry of a document; empty without one."""
        if self.autoscaler is None:
            return {}
        from quaymaster._cli.autoscaled import (  # noqa: PLC0415 - rarely needed
            autoscaler_document,
        )

        return {"autoscaler": autoscaler_document(self.autoscaler)}

    def _make(self, context: "AutoscalerContext") -> "Autoscaler":
        assert self._factory is not None
        self.autoscaler = self._factory(context)
        return self.autoscaler


def autoscaler_option(
    *,
    required: bool = False,
    text: str = "Let an autoscaler add and remove nodes, as FILE describes it.",
) -> Callable[[F], F]:
    """The option ``--autoscaler``, which gives a command ``autoscaler_file``.

    Args:
        required: Whether the command needs it.
        text: Its help.
    """
    return click.option(
        "--autoscaler",
        "autoscaler_file",
        metavar="FILE",
        required=required,
        type=click.Path(dir_okay=False),
        help=text,
    )


def autoscalers_option() -> Callable[[F], F]:
    """The option ``--autoscaler`` of a comparison, which may be repeated."""
    return click.option(
        "--autoscaler",
        "autoscaler_files",
        metavar="FILE",
        multiple=True,
        type=click.Path(dir_okay=False),
        help="Let an autoscaler add and remove nodes, as FILE describes it. Several "
        "make a variant each.",
    )


def the_autoscaler(file: str | None) -> "AutoscalerFactory | None":
    """Return the autoscaler of a file, or None without a file.

    Raises:
        ConfigErrors: The file is unreadable or invalid.
        AutoscalerError: It describes no autoscaler.
    """
    if file is None:
        return None
    from quaymaster._studies.autoscaling.files import (  # noqa: PLC0415 - rarely needed
        read_autoscaler,
    )

    return read_autoscaler(file)
