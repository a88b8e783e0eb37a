"""The contract classes in the tests of a package."""

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

import attrs

from quaymaster._authors.packages.findings import Finding
from quaymaster._authors.testing.contract.suite import PluginContract
from quaymaster._base.raised import describe_exception

__all__ = ["OwnContracts"]

_MARK: Final = PluginContract.__name__


@attrs.frozen
class OwnContracts:
    """The contract classes of a package, whose clusters exercise its plugins.

    Attributes:
        contracts: The contract classes, in the order of the files.
        findings: The files that cannot be imported.
    """

    contracts: Sequence[PluginContract]
    findings: Sequence[Finding]

    @classmethod
    def of_folder(cls, folder: Path | None) -> "OwnContracts":
        """Import the tests of a package that contain a contract class.

        Args:
            folder: The folder of the package; None for an installed distribution,
                which has no tests.
        """
        contracts: list[PluginContract] = []
        findings = []
        for file in _files(folder):
            try:
                contracts += _contracts(_imported(file))
            # The tests of a package may raise anything; `Skipped` of pytest is not
            # even an Exception.
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                problem = f"cannot be imported: {describe_exception(error)}"
                findings.append(Finding.warning("contract", str(file), problem))
        return cls(contracts, findings)

    def of(self, plugin: type) -> Sequence[PluginContract]:
        """Return the contract classes of a plugin, or of its subclasses."""
        return [
            contract
            for contract in self.contracts
            if issubclass(contract.plugin, plugin)
        ]


def _files(folder: Path | None) -> Iterator[Path]:
    """Yield the test files that mention the contract suite, in order."""
    if folder is None:
        return
    for file in sorted({*folder.glob("test_*.py"), *folder.glob("tests/**/test_*.py")}):
        if _MARK in file.read_text(encoding="utf-8", errors="replace"):
            yield file


def _imported(file: Path) -> ModuleType:
    """Import a test file as pytest does by default: its folder is on the path."""
    name = f"_quaymaster_contract_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None, "the file ends with .py"
    assert spec.loader is not None, "it comes from a file"
    module = importlib.util.module_from_spec(spec)
    with _on_path(file.parent):
        # Dataclasses and attrs look their module up.
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)


def _contracts(module: ModuleType) -> Iterator[PluginContract]:
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, PluginContract)
            and value.__module__ == module.__name__
            and value.__name__.startswith("Test")
        ):
            yield value()
