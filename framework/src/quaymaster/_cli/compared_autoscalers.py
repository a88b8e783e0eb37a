"""Compares each variant with several autoscalers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs
import click

from quaymaster._api.objects import ApiObject
from quaymaster._base.notices import Notice
from quaymaster._cli.autoscaler import the_autoscaler
from quaymaster._studies.comparing.comparing import Comparison
from quaymaster._studies.comparing.environments import EnvironmentVariant
from quaymaster._studies.comparing.variants import Variant
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory, kinds_of
from quaymaster._studies.simulation.autoscaler_horizon import unsettled_notice

__all__ = [
    "kinds_of_all",
    "read_autoscalers",
    "unsettled_notices",
    "with_autoscalers",
]

_Runnable: TypeAlias = Variant | EnvironmentVariant


def read_autoscalers(
    files: Sequence[str], environments: Sequence[str]
) -> Mapping[str, AutoscalerFactory]:
    """Return the autoscalers of ``--autoscaler`` by their files.

    Args:
        files: The files.
        environments: The virtual environments of the comparison.

    Raises:
        ConfigErrors: A file is unreadable or invalid.
        AutoscalerError: A file describes no autoscaler.
        UsageError: There are environments, which have no autoscaler.
    """
    if files and environments:
        raise click.UsageError(
            f"--autoscaler: no autoscaler runs in a virtual environment: "
            f"{environments[0]}"
        )
    autoscalers: dict[str, AutoscalerFactory] = {}
    for file in files:
        autoscaler = the_autoscaler(file)
        assert autoscaler is not None, "there is a file"
        autoscalers[file] = autoscaler
    return autoscalers


def kinds_of_all(
    autoscalers: Iterable[AutoscalerFactory],
) -> Sequence[type[ApiObject]]:
    """Return the kinds that autoscalers read beside those of Kubernetes, each once."""
    return [*dict.fromkeys(kind for each in autoscalers for kind in kinds_of(each))]


def with_autoscalers(
    variants: Sequence[_Runnable], autoscalers: Mapping[str, AutoscalerFactory]
) -> list[_Runnable]:
    """Return each variant with each autoscaler; a single one does not change names."""
    if not autoscalers:
        return [*variants]
    scaled: list[_Runnable] = []
    for variant in variants:
        assert isinstance(variant, Variant), "environments were refused"
        for file, autoscaler in autoscalers.items():
            name = f"{variant.name} {file}".strip()
            scaled.append(
                attrs.evolve(
                    variant,
                    name=name if len(autoscalers) > 1 else variant.name,
                    autoscaler=autoscaler,
                )
            )
    return scaled


def unsettled_notices(comparison: Comparison) -> Iterator[Notice]:
    """Yield a notice about each variant whose autoscaler did not settle."""
    for variant in comparison.variants:
        if not all(outcome.has_settled for outcome in variant.outcomes):
            notice = unsettled_notice()
            message = f"{variant.name}: {notice.message}"
            yield attrs.evolve(notice, message=message)
