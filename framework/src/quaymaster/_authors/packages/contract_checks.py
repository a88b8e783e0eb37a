"""Runs the contract suite on a plugin of a package."""

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._authors.packages.findings import Finding, Level
from quaymaster._authors.testing.contract.effects import vacuous_text
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.suite import (
    MissingHypothesisError,
    PluginContract,
    stable_run,
)
from quaymaster._authors.testing.contract_error import Violation
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.records import record_fields
from quaymaster._core.contract.hook_marks import DeprecatedHookWarning
from quaymaster._core.registry.registered import RegisteredPlugin

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["ContractChoice", "contract_findings"]


@attrs.frozen
class ContractChoice:
    """How the contract suite runs on a plugin.

    Attributes:
        args: Its arguments, as in a configuration file.
        opt_outs: The skipped checks -> why, in addition to those that the plugin's
            class declares.
        kubernetes: The versions to simulate; if empty, the newest version, and the
            others as well if the plugin reads the version.
        objects: The objects that the cluster always has.
        plugin: The class under test, if it is a subclass of the plugin.
        clusters: Returns the strategy that draws the clusters to try; None for the
            default.
    """

    args: Mapping[str, object] | None
    opt_outs: Mapping[str, str]
    kubernetes: Sequence[Kubernetes]
    objects: Sequence[ApiObject] = ()
    plugin: type | None = None
    clusters: "Callable[[], SearchStrategy[SmallCluster]] | None" = None

    def variants(
        self, contracts: Iterable[PluginContract]
    ) -> Sequence["ContractChoice"]:
        """Return a choice for each contract class of the package; else this one.

        Arguments and versions of this choice, and its opt-outs, override theirs.
        """
        return [
            ContractChoice(
                args=contract.args if self.args is None else self.args,
                opt_outs={**contract.opt_outs, **self.opt_outs},
                kubernetes=self.kubernetes or contract.kubernetes,
                objects=contract.objects,
                plugin=contract.plugin,
                clusters=contract.clusters,
            )
            for contract in contracts
        ] or [self]


def contract_findings(
    plugin: RegisteredPlugin, choice: ContractChoice
) -> Iterator[Finding]:
    """Run the contract suite, with the same clusters each time.

    Args:
        plugin: The plugin, which can be loaded.
        choice: How the suite runs.
    """
    where = f"plugin {plugin.name!r}"
    fields = record_fields(plugin.args_class) if plugin.args_class else ()
    needed = [field.key for field in fields if field.required]
    if needed and choice.args is None:
        names = ", ".join(needed)
        message = f"skipped: it needs arguments ({names}), see --config"
        yield Finding.warning("contract", where, message)
        return
    try:
        with warnings.catch_warnings(), _without_log():
            # Deprecated hooks have findings of their own.
            warnings.simplefilter("ignore", DeprecatedHookWarning)
            run = stable_run(
                choice.plugin or plugin.load(),
                choice.args,
                choice.opt_outs,
                choice.kubernetes,
                objects=choice.objects,
                clusters=choice.clusters and choice.clusters(),
            )
    except MissingHypothesisError as error:
        yield Finding.warning("contract", where, f"not asked: {error}")
        return
    except ValueError as error:
        yield Finding.error("contract", where, f"contract_opt_outs: {error}")
        return
    yield from map(_finding, repeat(plugin), run.violations)
    if not run.violations and run.vacuous:
        message = vacuous_text(run.vacuous)
        yield Finding.warning("contract: effects", where, message)


def _finding(plugin: RegisteredPlugin, violation: Violation) -> Finding:
    return Finding(
        level=Level.ERROR,
        check=f"contract: {violation.check}",
        where=(
            f"{plugin.name}.{violation.hook}"
            if violation.hook
            else f"plugin {plugin.name!r}"
        ),
        message=(
            f"with Kubernetes {violation.kubernetes}: {violation.problem}"
            if violation.kubernetes
            else violation.problem
        ),
        example=violation.example,
    )


@contextmanager
def _without_log() -> Iterator[None]:
    """Disable logging: messages of the plugin would be repeated for each cluster."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
