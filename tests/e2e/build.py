"""Builds the servers of the end-to-end tests from Go modules, once per machine.

``python -m tests.e2e.build [--servers VERSION] [--within SECONDS]`` does nothing if the
servers and Karpenter exist. It may be killed at any time: Go keeps compiled packages in
its own cache, and a folder appears when it is complete. On two cores it takes about
half an hour; with a warm cache of Go two or three minutes.
"""

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.e2e.binaries import (
    CACHE,
    KARPENTER_SOURCE,
    RELEASES,
    SERVED,
    built_folder,
    has_servers,
    karpenter_folder,
    sources_of,
)

__all__ = ["main"]

_VERSION: Final = "k8s.io/component-base/version.git"
_COMMANDS: Final = "k8s.io/kubernetes/cmd"
_PACKAGES: Final = {
    "etcd": (".",),
    "kwok": ("sigs.k8s.io/kwok/cmd/kwok",),
    "kubernetes": (
        f"{_COMMANDS}/kube-apiserver",
        f"{_COMMANDS}/kube-scheduler",
        f"{_COMMANDS}/kube-controller-manager",
        f"{_COMMANDS}/kubectl",
    ),
}
"""Module -> its commands, which are compiled together."""

_KARPENTER: Final = "sigs.k8s.io/karpenter"
_CRDS: Final = ("pkg/apis/crds", "kwok/apis/crds")

# The number of packages that Go compiles and links at once; linking kube-apiserver
# takes two GB.
_AT_A_TIME: Final = min(os.cpu_count() or 1, 4)


class _NotBuiltError(Exception):
    """The servers cannot be built; the message is one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the servers of a version, and print their folder or the error.

    Returns:
        The exit code: 0 if the servers exist, and Karpenter.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.build")
    parser.add_argument(
        "--servers",
        choices=RELEASES,
        default=SERVED.version,
        help="the minor version of Kubernetes (default: %(default)s)",
    )
    parser.add_argument("--within", type=float, help="seconds that it may take")
    options = parser.parse_args(arguments)
    end = None if options.within is None else time.monotonic() + options.within
    try:
        sys.stdout.write(f"{_servers(options.servers, end)}\n")
        sys.stdout.write(f"{_karpenter(end)}\n")
    except _NotBuiltError as error:
        sys.stderr.write(f"end-to-end tests: not all is built: {error}\n")
        return 1
    return 0


def _servers(version: str, end: float | None) -> Path:
    """Return the folder with the servers of a version; build it if it is missing."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    if named and has_servers(Path(named)):
        return Path(named)
    folder = built_folder(version)
    if not has_servers(folder):
        flags = _linker_flags(RELEASES[version])
        with _unfinished(folder) as unfinished:
            for module, source in sources_of(version).items():
                _compile(unfinished, source, _PACKAGES[module], flags, end)
    return folder


def _karpenter(end: float | None) -> Path:
    """Return the folder with Karpenter and its CRDs; build it if it is missing."""
    folder = karpenter_folder()
    if not folder.is_dir():
        with _unfinished(folder) as unfinished:
            program = f"{_KARPENTER}/kwok"
            _compile(unfinished, KARPENTER_SOURCE, [program], "-s -w", end)
            (unfinished / "kwok").rename(unfinished / "karpenter")
            (unfinished / "crds").mkdir()
            query = ("list", "-m", "-f", "{{.Dir}}", _KARPENTER)
            module = Path(_run(*query, cwd=KARPENTER_SOURCE))
            for crds in _CRDS:
                for file in (module / crds).glob("*.yaml"):
                    shutil.copyfile(file, unfinished / "crds" / file.name)
    return folder


@contextlib.contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """Yield a folder to build in, which gets its final name at the end."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        unfinished = CACHE / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        yield unfinished
        if folder.is_dir():  # another process has built it meanwhile
            shutil.rmtree(unfinished)
        else:
            unfinished.rename(folder)


def _linker_flags(release: str) -> str:
    """Return the flags that write a release's version into a program of Kubernetes."""
    major, minor, _ = release.split(".")
    return (
        f"-s -w -X {_VERSION}Version=v{release} "
        f"-X {_VERSION}Major={major} -X {_VERSION}Minor={minor}"
    )


def _compile(
    into: Path,
    source: Path,
    packages: Sequence[str],
    flags: str,
    end: float | None,
) -> None:
    """Compile commands of a Go module."""
    arguments = ["-trimpath", "-p", str(_AT_A_TIME), "-ldflags", flags]
    _run("build", *arguments, "-o", f"{into}/", *packages, cwd=source, end=end)


def _run(*arguments: str, cwd: Path, end: float | None = None) -> str:
    """Run Go in the folder of a module, and return what it prints."""
    go = shutil.which("go")
    if go is None:
        raise _NotBuiltError("there is no Go (https://go.dev/dl) to build it with")
    try:
        result = subprocess.run(
            [go, *arguments],
            cwd=cwd,
            # A module may need a newer Go than the one that is installed.
            env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "auto"},
            check=True,
            capture_output=True,
            text=True,
            timeout=None if end is None else max(end - time.monotonic(), 0.1),
        )
    except subprocess.TimeoutExpired:
        why = (
            f"{cwd.name} is not compiled yet, and the time is up; run it again to go on"
        )
        raise _NotBuiltError(why) from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines()
        why = f"{cwd.name} does not compile: {lines[-1] if lines else error}"
        raise _NotBuiltError(why) from error
    return result.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
