"""Checks a package of plugins as its users would."""

from collections.abc import Iterator, Mapping, Sequence

import attrs
from packaging.utils import canonicalize_name

from quaymaster._authors.packages.candidate import Candidate, find_package
from quaymaster._authors.packages.contract_checks import (
    ContractChoice,
    contract_findings,
)
from quaymaster._authors.packages.entry_checks import (
    access_findings,
    age_findings,
    clash_findings,
    kind_findings,
    load_findings,
    observer_findings,
    typing_findings,
)
from quaymaster._authors.packages.findings import Finding, Level
from quaymaster._authors.packages.import_checks import import_findings
from quaymaster._authors.packages.metadata_checks import (
    lowest_sdk,
    metadata_findings,
    sdk_findings,
)
from quaymaster._authors.packages.needed_sdk import (
    Need,
    lowest_need,
    need_findings,
    needs_of,
)
from quaymaster._authors.packages.own_contracts import OwnContracts
from quaymaster._authors.packages.private_names import private_findings
from quaymaster._authors.packages.profile_checks import profile_findings
from quaymaster._authors.packages.wheel_checks import wheel_findings
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.registry.kinds import KIND_GROUP, RegisteredKind
from quaymaster._core.registry.offers import offers
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import GROUP, PluginRegistry

__all__ = ["Report", "check_package"]


@attrs.frozen(kw_only=True)
class Report:
    """The result of checking a package.

    Attributes:
        candidate: Its metadata and entry points.
        findings: The problems, in the order of the checks.
        needs: The lowest version of the framework with all hooks and names that its
            code uses.
    """

    candidate: Candidate
    findings: Sequence[Finding]
    needs: str

    def count(self, level: Level) -> int:
        """Return the number of findings of a level."""
        return sum(finding.level == level for finding in self.findings)


def check_package(
    package: str,
    args: Mapping[str, Mapping[str, object]],
    opt_outs: Mapping[str, str],
    kubernetes: Sequence[Kubernetes] = (),
) -> Report:
    """Check a package: metadata, entry points, profile, versions, hooks, contract.

    If the tests in a folder have a contract class for a plugin, the contract suite uses
    its clusters, objects, arguments, versions and opt-outs.

    Args:
        package: An installed distribution, or a folder with a pyproject.toml.
        args: Plugin -> the arguments that the contract suite builds it with.
        opt_outs: The skipped checks of the contract suite -> why.
        kubernetes: The versions for the contract suite; if empty, the newest version,
            and the others as well for plugins that read the version.

    Raises:
        PackageNotFoundError: There is no such package.
    """
    candidate = find_package(package)
    needs: list[Need] = []
    findings = tuple(_findings(candidate, args, opt_outs, kubernetes, needs))
    lowest = str(lowest_need(needs))
    return Report(candidate=candidate, findings=findings, needs=lowest)


def _findings(
    candidate: Candidate,
    args: Mapping[str, Mapping[str, object]],
    opt_outs: Mapping[str, str],
    kubernetes: Sequence[Kubernetes],
    needs: list[Need],
) -> Iterator[Finding]:
    yield from metadata_findings(candidate)
    yield from sdk_findings(candidate)
    yield from typing_findings(candidate)
    yield from wheel_findings(candidate)
    plugins = list(map(RegisteredPlugin.from_offer, candidate.plugins))
    others = _all_but(candidate)
    for plugin in plugins:
        yield from load_findings(plugin)
    yield from import_findings(candidate)
    yield from private_findings(candidate)
    yield from clash_findings(plugins, others)
    usable = [plugin for plugin in plugins if plugin.error is None]
    needs += needs_of(candidate, usable)
    yield from need_findings(needs, lowest_sdk(candidate))
    yield from kind_findings(candidate, usable, others)
    yield from observer_findings(candidate)
    yield from profile_findings(candidate, usable, others)
    # A package that cannot be imported has that finding already.
    contracts = OwnContracts.of_folder(candidate.folder if usable else None)
    yield from contracts.findings
    for plugin in usable:
        yield from age_findings(plugin)
        yield from access_findings(plugin)
        if plugin.extension_points:
            choice = ContractChoice(args.get(plugin.name), opt_outs, kubernetes)
            for variant in choice.variants(contracts.of(plugin.load())):
                yield from contract_findings(plugin, variant)


def _all_but(candidate: Candidate) -> PluginRegistry:
    """Return all offers of the other installed distributions."""
    own = canonicalize_name(candidate.name)
    plugins, kinds = (
        [
            offer
            for offer in offers(group)
            if canonicalize_name(offer.distribution) != own
        ]
        for group in (GROUP, KIND_GROUP)
    )
    return PluginRegistry(
        map(RegisteredPlugin.from_offer, plugins),
        map(RegisteredKind.from_offer, kinds),
    )
