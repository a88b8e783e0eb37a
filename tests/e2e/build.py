"""Builds the servers of the end-to-end tests from Go modules, once per machine.

``python -m tests.e2e.build [--servers VERSION] [--within SECONDS]`` does nothing if the
servers exist. It may be killed at any time: Go keeps compiled packages in its own
cache, and the folder appears when it is complete. On two cores it takes about twenty
minutes; with a warm cache of Go one or two.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.e2e.binaries import (
    CACHE,
    RELEASES,
    SERVED,
    built_folder,
    has_servers,
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

# The number of packages that Go compiles and links at once; linking kube-apiserver
# takes two GB.
_AT_A_TIME: Final = min(os.cpu_count() or 1, 4)


class _NotBuiltError(Exception):
    """The servers cannot be built; the message is one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the servers of a version, and print their folder or the error.

    Returns:
        The exit code: 0 if the servers exist.
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
    try:
        folder = _servers(options.servers, options.within)
    except _NotBuiltError as error:
        sys.stderr.write(f"end-to-end tests: no servers: {error}\n")
        return 1
    sys.stdout.write(f"{folder}\n")
    return 0


def _servers(version: str, within: float | None) -> Path:
    """Return the folder with the servers of a version; build it if it is missing."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    if named and has_servers(Path(named)):
        return Path(named)
    folder = built_folder(version)
    return folder if has_servers(folder) else _build(version, folder, within)


def _build(version: str, folder: Path, within: float | None) -> Path:
    """Build all programs in another folder, which gets the final name at the end."""
    go = shutil.which("go")
    if go is None:
        raise _NotBuiltError("there is no Go (https://go.dev/dl) to build them with")
    end = None if within is None else time.monotonic() + within
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder  # another process has built them meanwhile
        unfinished = CACHE / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        flags = _linker_flags(RELEASES[version])
        for module, source in sources_of(version).items():
            command = [go, "build", "-trimpath", "-p", str(_AT_A_TIME)]
            command += ["-ldflags", flags, "-o", f"{unfinished}/", *_PACKAGES[module]]
            _compile(module, command, source, end)
        unfinished.rename(folder)
    return folder


def _linker_flags(release: str) -> str:
    """Return the flags that write a release's version into a program of Kubernetes."""
    major, minor, _ = release.split(".")
    return (
        f"-s -w -X {_VERSION}Version=v{release} "
        f"-X {_VERSION}Major={major} -X {_VERSION}Minor={minor}"
    )


def _compile(module: str, command: list[str], source: Path, end: float | None) -> None:
    try:
        subprocess.run(
            command,
            cwd=source,
            env={**os.environ, "CGO_ENABLED": "0"},
            check=True,
            stderr=subprocess.PIPE,
            timeout=None if end is None else max(end - time.monotonic(), 0.1),
        )
    except subprocess.TimeoutExpired:
        why = f"{module} is not compiled yet, and the time is up; run it again to go on"
        raise _NotBuiltError(why) from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines()
        why = f"{module} does not compile: {lines[-1] if lines else error}"
        raise _NotBuiltError(why) from error


if __name__ == "__main__":
    sys.exit(main())
