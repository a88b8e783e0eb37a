"""New virtual environments, in which packages are installed from their wheels."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.kit.mypy_caches import mypy_cache

__all__ = ["FEW", "FEW_EXAMPLES", "FreshEnvironment"]

FEW: Final = "few_examples"
"""A module of the environment: the suite itself tries more examples.

It is a plugin of pytest, and runs another module with its arguments.
"""

FEW_EXAMPLES: Final = """\
from hypothesis import settings

settings.register_profile("few", settings.get_profile("ci"), max_examples=10)
settings.load_profile("few")
"""

_RUN_MODULE: Final = """
if __name__ == "__main__":
    import runpy, sys

    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


class FreshEnvironment:
    """A new virtual environment that also sees the packages of the test's environment.

    Args:
        folder: The folder for the environment, and for copies of packages.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # The environment sees the pip of this one, if it has one.
        venv.create(folder / "venv", with_pip=find_spec("pip") is None)
        self.python = folder / "venv" / "bin" / "python"
        """The interpreter of the environment."""
        # With .pth files, which is how editable installations are found.
        seen = sysconfig.get_path("purelib")
        self._site.joinpath("seen.pth").write_text(
            f"import site; site.addsitedir({seen!r})\n"
        )
        self._site.joinpath(f"{FEW}.py").write_text(FEW_EXAMPLES + _RUN_MODULE)

    @property
    def _site(self) -> Path:
        (found,) = (self._folder / "venv" / "lib").glob("python*/site-packages")
        return found

    def copy(self, package: Path) -> Path:
        """Copy a package's folder, so that commands leave no files in the original."""
        caches = shutil.ignore_patterns(".*_cache", "__pycache__", ".hypothesis")
        target = self._folder / "packages" / package.name
        shutil.copytree(package, target, ignore=caches)
        return target

    def install(self, package: Path) -> None:
        """Build a package's wheel and install it, without its dependencies."""
        wheels = self._folder / "wheels" / package.name
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        self._done([*build, "-d", str(wheels)], package)
        (wheel,) = wheels.iterdir()
        pip = ["pip", "install", "-q", "--no-deps", "--no-index", str(wheel)]
        self._done([str(self.python), "-m", *pip], package)

    def run(self, *module: str, folder: Path) -> str:
        """Run a module, as ``python -m`` does, and return what it prints.

        Args:
            *module: The module's name, and its arguments.
            folder: The working directory.

        Raises:
            AssertionError: Its exit code is not 0.
        """
        return self._done([str(self.python), "-m", *module], folder)

    def check(self, folder: Path) -> None:
        """Run all checks of a package: pytest, mypy, ruff and ``plugins check``.

        Args:
            folder: The copied folder of an installed package, see `copy`.

        Raises:
            AssertionError: A check failed.
        """
        self.run("pytest", "-q", "-p", FEW, folder=folder)
        with mypy_cache("packages") as cache:
            self.run("mypy", "--cache-dir", str(cache), folder=folder)
        self.run("ruff", "check", ".", folder=folder)
        self.run("ruff", "format", "--check", ".", folder=folder)
        self.run(FEW, "quaymaster", "plugins", "check", ".", folder=folder)

    def check_tests(self, folder: Path) -> None:
        """Run the tests of a package, but for the costly suite of its contract.

        Args:
            folder: The copied folder of an installed package, see `copy`.

        Raises:
            AssertionError: A test failed.
        """
        self.run("pytest", "-q", "-p", FEW, "-k", "not test_contract", folder=folder)

    def _done(self, command: Sequence[str], folder: Path) -> str:
        ours = ("PYTHONPATH", "PYTEST_", "VIRTUAL_ENV")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        # Hypothesis then takes the same examples in every run, however long they take.
        inherited["CI"] = "true"
        done = subprocess.run(
            command,
            cwd=folder,
            env=inherited,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout
