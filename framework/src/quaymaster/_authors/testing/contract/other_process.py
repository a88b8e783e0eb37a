"""Runs plugins in further processes, with other hashes, dates and time zones.

Python chooses the hashes of texts when a process starts, so the order of a set of texts
differs from process to process. They serve all plugins of a test run, because a start
takes half a second.
"""

import atexit
import contextlib
import importlib
import importlib.util
import io
import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import IO, Any, Final

import attrs

from quaymaster._authors.testing.contract.decisions import Decision, decisions
from quaymaster._authors.testing.contract.other_date import begin_at
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["ask_other_processes", "serve"]

_SEED: Final = "PYTHONHASHSEED"
_IS_OTHER: Final = "QUAYMASTER_CONTRACT_OTHER_PROCESS"
_ZONE: Final = "TZ"


@attrs.frozen
class _Surroundings:
    """What differs between the processes.

    Attributes:
        seed: The seed of hashes.
        zone: The time zone, as the variable TZ has it.
        date: The time at which its wall clock begins, in seconds since the epoch.
    """

    seed: str
    zone: str
    date: float


# A night at a weekend in March 2031, and a noon of a working day in October 2034.
_NIGHT: Final = 1_930_156_217
_NOON: Final = 2_044_275_063
_PAIRS: Final = (
    (_Surroundings("17", "NPT-5:45", _NIGHT), _Surroundings("52", "NDT+2:30", _NOON)),
    (_Surroundings("9", "NPT-5:45", _NIGHT), _Surroundings("44", "NDT+2:30", _NOON)),
)
"""Each cluster is tried by one of these pairs. Of sixty seeds, these four order short
texts most differently: no two of them have the same order with every seed."""

_COMMAND: Final = (
    "import sys; from quaymaster._authors.testing.contract.other_process import serve; "
    "serve({date})"
)


@attrs.frozen
class _Request:
    """What another process needs to build a plugin and its cluster.

    Attributes:
        path: Where to find modules.
        files: Module -> its file, for modules that are not on the path.
        content: The plugin, its arguments and the cluster, pickled.
    """

    path: Sequence[str]
    files: Mapping[str, str]
    content: bytes


def ask_other_processes(
    subject: Subject, cluster: SmallCluster
) -> Sequence[Sequence[Decision]]:
    """Return the decisions of the plugin in each of the other processes.

    Returns:
        Nothing if they cannot import the plugin: its class is defined in a function or
        in a script, or its module needs what the tests have prepared.
    """
    if os.environ.get(_IS_OTHER) or not _is_importable(subject.plugin):
        return []
    kubernetes = subject.kubernetes
    try:
        content = pickle.dumps(
            (
                subject.plugin,
                subject.args,
                subject.objects,
                (kubernetes.version, dict(kubernetes.feature_gates)),
                cluster,
            )
        )
    except (pickle.PicklingError, AttributeError, TypeError):
        return []
    files = _files_of(subject.plugin, *map(type, (*cluster.objects, *subject.objects)))
    request = _Request(tuple(sys.path), files, content)
    pair = zlib.crc32(content) % len(_PAIRS)
    results = [process.ask(request) for process in _processes(pair)]
    return [result for result in results if result is not None]


def _is_importable(plugin: type) -> bool:
    return plugin.__module__ != "__main__" and "<locals>" not in plugin.__qualname__


def _files_of(*classes: type) -> Mapping[str, str]:
    """Return the files of all modules beside those that define some classes."""
    names = {kind.__module__.partition(".")[0] for kind in classes} - {"quaymaster"}
    return {
        name: file
        for name, module in tuple(sys.modules.items())
        if name.partition(".")[0] in names
        and isinstance(file := getattr(module, "__file__", None), str)
    }


class _OtherProcess:
    """Another process; it ends with this one."""

    def __init__(self, surroundings: _Surroundings) -> None:
        command = _COMMAND.format(date=surroundings.date)
        variables = {_SEED: surroundings.seed, _ZONE: surroundings.zone}
        self._process = subprocess.Popen(
            [sys.executable, "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **variables, _IS_OTHER: "1"},
        )
        atexit.register(self._end)

    def ask(self, request: _Request) -> Sequence[Decision] | None:
        """Return the decisions for a request; None if the process fails."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(request, process.stdin)
            process.stdin.flush()
            made: Sequence[Decision] | None = pickle.load(process.stdout)
        except (OSError, EOFError):
            return None
        return made

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()


@lru_cache
def _processes(pair: int) -> Sequence[_OtherProcess]:
    return [_OtherProcess(each) for each in _PAIRS[pair]]


# In the other process ----------------------------------------------------------------


def serve(date: float) -> None:
    """Answer requests from the standard input until it ends.

    Args:
        date: The time at which the wall clock begins, in seconds since the epoch.
    """
    begin_at(date)
    answers = os.fdopen(os.dup(1), "wb")
    # What plugins print must not get among the answers.
    os.dup2(2, 1)
    with answers, contextlib.suppress(EOFError):
        while True:
            request: _Request = pickle.load(sys.stdin.buffer)
            _answer(request, answers)


def _answer(request: _Request, answers: IO[bytes]) -> None:
    try:
        made = _decide(request)
    except Exception:
        made = None  # the modules cannot be imported here, for whatever reason
    pickle.dump(made, answers)
    answers.flush()


def _decide(request: _Request) -> Sequence[Decision]:
    sys.path[:] = request.path
    _forget_others(request.files)
    content = io.BytesIO(request.content)
    plugin, args, objects, (version, gates), cluster = _Unpickler(
        content, request.files
    ).load()
    subject = Subject(
        plugin=plugin,
        args=args,
        objects=objects,
        kubernetes=Kubernetes(version, gates),
    )
    try:
        return decisions(subject, cluster)
    finally:
        subject.close()


def _forget_others(files: Mapping[str, str]) -> None:
    """Unload modules that an earlier request has loaded from other files.

    Packages that are checked one after the other may have modules of one name.
    """
    for name, file in files.items():
        module = sys.modules.get(name)
        if module is not None and getattr(module, "__file__", None) != file:
            del sys.modules[name]
    importlib.invalidate_caches()


class _Unpickler(pickle.Unpickler):
    """Loads classes also from files that are not on the path.

    Args:
        content: The pickled data.
        files: Module -> its file.
    """

    def __init__(self, content: IO[bytes], files: Mapping[str, str]) -> None:
        super().__init__(content)
        self._files = files

    def find_class(self, module_name: str, name: str) -> Any:  # noqa: ANN401 - pickle's
        try:
            importlib.import_module(module_name)
        except ImportError:
            _load(module_name, self._files)
        return super().find_class(module_name, name)


def _load(name: str, files: Mapping[str, str]) -> None:
    """Load a module from its file, as pytest does with ``--import-mode=importlib``."""
    spec = importlib.util.spec_from_file_location(name, files[name])
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
