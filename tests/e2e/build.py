"""Builds the servers of the end-to-end tests from Go modules, once per machine.

``python -m tests.e2e.build [--within SECONDS]`` does nothing if they are there. It may
be killed at any time: what Go has compiled is kept in Go's own cache, and the folder
appears when it is complete. Cold, on two cores, it takes some twenty minutes, of which
kube-apiserver has fifteen; with a warm cache of Go one or two.
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

from tests.e2e.binaries import CACHE, RELEASE, SOURCES, built_folder, servers_folder

__all__ = ["main"]

_VERSION: Final = "k8s.io/component-base/version.git"
_MAJOR, _MINOR, _ = RELEASE.split(".")
_FLAGS: Final = (
    f"-s -w -X {_VERSION}Version=v{RELEASE} "
    f"-X {_VERSION}Major={_MAJOR} -X {_VERSION}Minor={_MINOR}"
)
# Name of the program -> the module's folder, and the package.
_PROGRAMS: Final = {
    "etcd": ("etcd", "."),
    "kwok": ("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    "kube-apiserver": ("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-scheduler": ("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kube-controller-manager": (
        "kubernetes",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ),
    "kubectl": ("kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
}


class _NotBuiltError(Exception):
    """The servers cannot be built, for a reason in one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the servers, and say in one line what came of it.

    Returns:
        The exit code: 0 if they are there.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.build")
    parser.add_argument("--within", type=float, help="seconds that it may take")
    within: float | None = parser.parse_args(arguments).within
    try:
        folder = servers_folder() or _build(built_folder(), within)
    except _NotBuiltError as error:
        sys.stderr.write(f"end-to-end tests: no servers: {error}\n")
        return 1
    sys.stdout.write(f"{folder}\n")
    return 0


def _build(folder: Path, within: float | None) -> Path:
    """Build all programs beside their folder, which gets its name at the end."""
    go = shutil.which("go")
    if go is None:
        raise _NotBuiltError("there is no Go (https://go.dev/dl) to build them with")
    end = None if within is None else time.monotonic() + within
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder  # somebody else has built them meanwhile
        unfinished = CACHE / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        for name in _PROGRAMS:
            _compile(go, name, unfinished / name, end)
        unfinished.rename(folder)
    return folder


def _compile(go: str, name: str, target: Path, end: float | None) -> None:
    module, package = _PROGRAMS[name]
    command = [go, "build", "-trimpath", "-ldflags", _FLAGS, "-o", str(target), package]
    try:
        subprocess.run(
            command,
            cwd=SOURCES / module,
            env={**os.environ, "CGO_ENABLED": "0"},
            check=True,
            stderr=subprocess.PIPE,
            timeout=None if end is None else max(end - time.monotonic(), 0.1),
        )
    except subprocess.TimeoutExpired:
        why = f"{name} is not compiled yet, and the time is up; run it again to go on"
        raise _NotBuiltError(why) from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines()
        why = f"{name} does not compile: {lines[-1] if lines else error}"
        raise _NotBuiltError(why) from error


if __name__ == "__main__":
    sys.exit(main())
