"""The errors of plugins that break their contract."""

from collections.abc import Iterable, Sequence

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.raised import describe_exception

__all__ = ["ClustersError", "ContractError", "Violation"]


@attrs.frozen(kw_only=True)
class Violation:
    """One way in which a plugin breaks its contract.

    Attributes:
        check: The name of the check that found it.
        plugin: The plugin's name.
        hook: The hook at fault, or empty if it is the plugin as a whole.
        problem: The problem and the expectation, in one line.
        example: The smallest cluster that shows it, an object a line.
        kubernetes: The simulated version; empty if it is the usual one.
    """

    check: str
    plugin: str
    hook: str
    problem: str
    example: Sequence[str] = ()
    kubernetes: str = ""

    def __str__(self) -> str:
        where = f"{self.plugin}.{self.hook}" if self.hook else self.plugin
        if self.kubernetes:
            where += f", with Kubernetes {self.kubernetes}"
        lines = [f"[{self.check}] {where}: {self.problem}"]
        return "\n    ".join([*lines, *self.example])


class ContractError(QuaymasterError, AssertionError):
    """A plugin breaks its contract.

    pytest shows it as a failed assertion. `PluginHarness` raises it for a batch twin
    that differs from its hook, and for a write that the plugin does not declare.

    Attributes:
        violations: The violations, if the contract suite found them; else empty.
    """

    def __init__(self, found: str | Iterable[Violation]) -> None:
        self.violations = () if isinstance(found, str) else tuple(found)
        super().__init__(
            found if isinstance(found, str) else "\n".join(map(str, self.violations))
        )


class ClustersError(ContractError):
    """The author's clusters cannot be drawn.

    Args:
        error: What `PluginContract.clusters` or its strategy has raised.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(f"no clusters to try: {describe_exception(error)}")
