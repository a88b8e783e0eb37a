"""The published lists of nodes, pods and arrivals."""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
from quaymaster.errors import QuaymasterError

__all__ = ["Arrivals", "DataError", "NodeRow", "PodRow", "arrivals_of", "nodes_of"]
__all__ += ["paths_of", "pods_of"]

NODES = "openb_node_list_gpu_node"


class DataError(QuaymasterError):
    """A list that is missing, or says what nobody understands."""


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
        data / f"{NODES}.csv.gz",
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
    path = data / f"{NODES}.csv.gz"
    return [
        NodeRow(
            name=_text(path, line, row, "sn"),
            cpu=_number(path, line, row, "cpu_milli"),
            memory=_number(path, line, row, "memory_mib"),
            gpus=_number(path, line, row, "gpu"),
            model=_text(path, line, row, "model"),
        )
        for line, row in _rows(path)
    ]


def pods_of(data: Path, workload: str) -> Sequence[PodRow]:
    """Read the pods of a workload, in the order of the list.

    Args:
        data: The folder of the lists.
        workload: Which list, such as ``default``.

    Raises:
        DataError: As for `nodes_of`.
    """
    path = paths_of(data, workload)[1]
    return [_pod(path, line, row) for line, row in _rows(path)]


def _pod(path: Path, line: int, row: Mapping[str, str]) -> PodRow:
    gpus = _number(path, line, row, "num_gpu")
    return PodRow(
        name=_text(path, line, row, "name"),
        cpu=_number(path, line, row, "cpu_milli"),
        memory=_number(path, line, row, "memory_mib"),
        gpus=gpus,
        milli=min(_number(path, line, row, "gpu_milli"), 1000) if gpus else 0,
        models=row.get("gpu_spec", "") if gpus else "",
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
    for line, row in _rows(path):
        given = _text(path, line, row, "seed")
        seeds[given] = None
        if given == str(seed):
            what = _text(path, line, row, "what")
            found[what] = _numbers(path, line, _text(path, line, row, "values"))
    if found.keys() != {"pods", "nodes"}:
        raise DataError(
            f"{path}: expected a line of pods and one of nodes for seed {seed}, got "
            f"{sorted(found) or 'none'} (seeds: {', '.join(seeds)})"
        )
    return Arrivals(pods=found["pods"], ranks=found["nodes"])


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a list, with the numbers of their lines."""
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from error
    reader = csv.DictReader(io.StringIO(text))
    for row in reader:
        yield reader.line_num, row


def _text(path: Path, line: int, row: Mapping[str, str], name: str) -> str:
    value = row.get(name)
    if value is None:
        raise DataError(
            f"{path}:{line}: expected a column {name}, got {', '.join(row)}"
        )
    return value


def _number(path: Path, line: int, row: Mapping[str, str], name: str) -> int:
    value = _text(path, line, row, name)
    if not value.isdecimal():
        raise DataError(
            f"{path}:{line}: {name}: expected a whole number, got {value!r}"
        )
    return int(value)


def _numbers(path: Path, line: int, text: str) -> Sequence[int]:
    try:
        return [int(one) for one in text.split()]
    except ValueError as error:
        raise DataError(f"{path}:{line}: values: expected numbers: {error}") from None
