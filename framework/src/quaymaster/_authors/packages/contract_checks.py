"""Runs the contract suite on a plugin of a package."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from quaymaster._authors.packages.findings import Finding, Level
from quaymaster._authors.testing.contract.suite import (
    MissingHypothesisError,
    stable_violations,
)
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.records import record_fields
from quaymaster._core.contract.hook_marks import DeprecatedHookWarning
from quaymaster._core.registry.registry import RegisteredPlugin

__all__ = ["contract_findings"]


def contract_findings(
    plugin: RegisteredPlugin,
    args: Mapping[str, object] | None,
    opt_outs: Mapping[str, str],
    kubernetes: Sequence[Kubernetes],
) -> Iterator[Finding]:
    """Run the contract suite, with the same clusters each time.

    Args:
        plugin: The plugin, which can be loaded.
        args: Its arguments, as in a configuration file.
        opt_outs: The skipped checks -> why, in addition to those that the plugin's
            class declares.
        kubernetes: The versions to simulate; if empty, the newest version, and the
            others as well if the plugin reads the version.
    """
    where = f"plugin {plugin.name!r}"
    fields = record_fields(plugin.args_class) if plugin.args_class else ()
    needed = [field.key for field in fields if field.required]
    if needed and args is None:
        names = ", ".join(needed)
        message = f"skipped: it needs arguments ({names}), see --config"
        yield Finding.warning("contract", where, message)
        return
    try:
        with warnings.catch_warnings(), _without_log():
            # Deprecated hooks have findings of their own.
            warnings.simplefilter("ignore", DeprecatedHookWarning)
            violations = stable_violations(plugin.load(), args, opt_outs, kubernetes)
    except MissingHypothesisError as error:
        yield Finding.warning("contract", where, f"not asked: {error}")
        return
    except ValueError as error:
        yield Finding.error("contract", where, f"contract_opt_outs: {error}")
        return
    for violation in violations:
        yield Finding(
            level=Level.ERROR,
            check=f"contract: {violation.check}",
            where=f"{plugin.name}.{violation.hook}" if violation.hook else where,
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
