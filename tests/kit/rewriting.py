"""Divides the rewriting of assertions among the workers of a run: a pytest plugin.

In a fresh clone, pytest rewrites the assertions of 700 test files, which takes five CPU
seconds, and stores the result. Every worker collects all files, so that each of them
would do all of it, at the same time as the others.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite

__all__: list[str] = []


def pytest_sessionstart(session: pytest.Session) -> None:
    """Rewrite the share of this worker, if it is one of several in a whole run."""
    config = session.config
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if worker is None or not is_whole or sys.dont_write_bytecode:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in sorted(_test_files(config))[number::count]:
        _rewrite(path, config)


def _test_files(config: pytest.Config) -> Iterator[Path]:
    for folder in config.getini("testpaths"):
        yield from (config.rootpath / folder).rglob("test_*.py")


def _rewrite(path: Path, config: pytest.Config) -> None:
    """Store the rewritten code of a file where pytest looks for it, unless it is there.

    The same as ``AssertionRewritingHook.exec_module``, without running the module.
    """
    folder = rewrite.get_cache_dir(path)
    target = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, target) is None and rewrite.try_makedirs(folder):
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, target)
