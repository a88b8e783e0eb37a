"""The published lists of nodes, pods and arrivals."""

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
from quaymaster.errors import QuaymasterError

__all__ = ["Arrivals", "DataError", "NodeRow", "PodRow", "arrivals_of", "nodes_of"]
__all__ += ["paths_of", "pods_of"]

_NODES: Final = "openb_node_list_gpu_node"
_OPTIONAL: Final = ("gpu_spec",)  # lists of pods that ask for no model have no column


class DataError(QuaymasterError):
    """A list is missing or malformed."""


@attrs.frozen
class NodeRow:
    """A node: milli CPU, MiB, GPUs and their model."""

    name: str
    cpu: int
    memory: int
    gpus: int
    model: str


@attrs.frozen
class PodRow:
    """A pod: milli CPU, MiB, GPUs, thousandths of each, and the models that will do."""

    name: str
    cpu: int
    memory: int
    gpus: int
    milli: int
    models: str


@attrs.frozen
class Arrivals:
    """What comes in a run, and in which order nodes win ties.

    Attributes:
        pods: The rows of the pods in their list, in the order in which they come.
        ranks: The rank of each node, in the order of the list.
    """

    pods: Sequence[int]
    ranks: Sequence[int]


def paths_of(data: Path, workload: str) -> Sequence[Path]:
    """Return the files of a workload: nodes, pods and arrivals."""
    pods = f"openb_pod_list_{workload}.csv.gz"
    return (
        data / f"{_NODES}.csv.gz",
        data / pods,
        data / "arrivals" / f"{workload}.csv.gz",
    )


def nodes_of(data: Path) -> Sequence[NodeRow]:
    """Read the nodes.

    Args:
        data: The folder of the lists.

    Raises:
        DataError: The list cannot be read, or has not the columns that it should.
    """
    names = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
    path = paths_of(data, "")[0]
    return [
        NodeRow(
            name=name,
            cpu=_number(path, line, "cpu_milli", cpu),
            memory=_number(path, line, "memory_mib", memory),
            gpus=_number(path, line, "gpu", gpus),
            model=model,
        )
        for line, (name, cpu, memory, gpus, model) in _rows(path, names)
    ]


def pods_of(data: Path, workload: str) -> Sequence[PodRow]:
    """Read the pods of a workload, in the order of the list.

    Args:
        data: The folder of the lists.
        workload: Which list, such as ``default``.

    Raises:
        DataError: As for `nodes_of`.
    """
    names = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec")
    path = paths_of(data, workload)[1]
    return [_pod(path, line, row) for line, row in _rows(path, names)]


def _pod(path: Path, line: int, row: Sequence[str]) -> PodRow:
    name, cpu, memory, number, milli, models = row
    gpus = _number(path, line, "num_gpu", number)
    return PodRow(
        name=name,
        cpu=_number(path, line, "cpu_milli", cpu),
        memory=_number(path, line, "memory_mib", memory),
        gpus=gpus,
        milli=min(_number(path, line, "gpu_milli", milli), 1000) if gpus else 0,
        models=models if gpus else "",
    )


def arrivals_of(data: Path, workload: str, seed: int) -> Arrivals:
    """Read what comes in the run of a seed.

    Args:
        data: The folder of the lists.
        workload: Which list.
        seed: The seed of the run.

    Raises:
        DataError: As for `nodes_of`, or the seed has no arrivals.
    """
    path = paths_of(data, workload)[2]
    found: dict[str, Sequence[int]] = {}
    seeds: dict[str, None] = {}
    for line, (given, what, values) in _rows(path, ("seed", "what", "values")):
        seeds[given] = None
        if given == str(seed):
            found[what] = _numbers(path, line, values)
    if found.keys() != {"pods", "nodes"}:
        raise DataError(
            f"{path}: expected a line of pods and one of nodes for seed {seed}, got "
            f"{sorted(found) or 'none'} (seeds: {', '.join(seeds)})"
        )
    return Arrivals(pods=found["pods"], ranks=found["nodes"])


def _rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows of a list, of these columns, with the numbers of their lines."""
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from error
    # Not as mappings: those take three times as long, an eighth of a whole run.
    reader = csv.reader(io.StringIO(text))
    header = next(reader, [])
    for name in names:
        if name not in (*header, *_OPTIONAL):
            given = ", ".join(header)
            raise DataError(f"{path}:1: expected a column {name}, got {given}")
    # What is not there is read as if it were empty, behind all else.
    at = [header.index(name) if name in header else len(header) for name in names]
    for row in filter(None, reader):
        if len(row) != len(header):
            raise DataError(
                f"{path}:{reader.line_num}: expected {len(header)} values, got "
                f"{len(row)}"
            )
        row.append("")
        yield reader.line_num, [row[place] for place in at]


def _number(path: Path, line: int, name: str, value: str) -> int:
    if not value.isdecimal():
        raise DataError(
            f"{path}:{line}: {name}: expected a whole number, got {value!r}"
        )
    return int(value)


def _numbers(path: Path, line: int, text: str) -> Sequence[int]:
    try:
        return [int(number) for number in text.split()]
    except ValueError as error:
        raise DataError(f"{path}:{line}: values: expected numbers: {error}") from None
