"""Reads catalogues of instance types.

A catalogue is a table, in JSON or CSV: a row for each type, with its resources and its
prices. Each capacity type has a column of prices, such as ``spot $/h``. Without a
column ``zone``, a type is offered in all zones at the same price.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.errors import ObjectError
from quaymaster._core.config.yaml_file import read_content
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    OS,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)

__all__ = [
    "OfferingSpec",
    "TypeSpec",
    "catalogue_path",
    "instance_types",
    "read_catalogue",
]

_PRICE: Final = " $/h"
_RESOURCES: Final = {"cpu", "memory", "pods", "ephemeral-storage"}
_REQUIRED: Final = ("name", "cpu", "memory", "pods")
_GPUS: Final = "gpus"
_GPU_RESOURCE: Final = "nvidia.com/gpu"
_TEXTS: Final = {"name", "arch", "os", "zone"}
_ARCHITECTURES: Final = {"x86_64": "amd64", "i386": "386"}
_AWS: Final = re.compile(r"([a-z]++)(?:-[0-9]++tb)?([0-9]++)[^.]*+\.(.+)", re.ASCII)
_AWS_DOMAIN: Final = "karpenter.k8s.aws"
_KWOK: Final = re.compile(r"[a-z]+-[0-9]+x-[a-z0-9]+-[a-z]+", re.ASCII)
_KWOK_DOMAIN: Final = "karpenter.kwok.sh"
_MIB: Final = 2**20


@attrs.frozen(kw_only=True)
class OfferingSpec:
    """Where a type can be had, and for which price per hour."""

    zone: str
    capacity_type: str
    price: float
    available: bool = True


@attrs.frozen(kw_only=True)
class TypeSpec:
    """An instance type.

    Attributes:
        name: Its name.
        arch: Its architecture.
        os: Its operating systems.
        capacity: What a node has.
        labels: Further labels of its nodes.
        offerings: Where it can be had.
    """

    name: str
    arch: str = "amd64"
    os: tuple[str, ...] = ("linux",)
    capacity: Mapping[str, Quantity]
    labels: Mapping[str, str] = attrs.field(factory=dict)
    offerings: tuple[OfferingSpec, ...]


def catalogue_path(catalogue: str, source: str) -> Path:
    """Return the path of the catalogue that a file of an autoscaler names.

    Args:
        catalogue: The catalogue, relative to the folder of the file.
        source: The file.

    Raises:
        AutoscalerError: There is no such file.
    """
    path = Path(source).parent / catalogue
    if not path.is_file():
        raise AutoscalerError(f"{source}: catalogue", f"{path}: no such file")
    return path


def read_catalogue(path: Path, name: str, zones: Sequence[str]) -> list[TypeSpec]:
    """Read a catalogue.

    Args:
        path: The file; its name ends with ``.json`` or ``.csv``.
        name: Its name in messages.
        zones: The zones of types that name none; by default those of the file.

    Raises:
        ConfigErrors: The file is unreadable.
        AutoscalerError: It is not a catalogue.
    """
    text = _decoded(read_content(path, name), name)
    if path.suffix == ".csv":
        table = [*csv.reader(io.StringIO(text))]
        columns, rows = (table[0], table[1:]) if table else ([], [])
        first = 2  # after the heading
    else:
        columns, rows, listed = _json_table(text, name)
        zones, first = zones or listed, 1
    _check_columns(columns, name)
    specs: dict[str, TypeSpec] = {}
    for number, row in enumerate(rows, start=first):
        where = f"{name}: row {number}"
        if len(row) != len(columns):
            problem = f"expected {len(columns)} values, got {len(row)}"
            raise AutoscalerError(where, problem)
        spec = _spec(dict(zip(columns, row, strict=True)), where, zones)
        present = specs.get(spec.name)
        if present is not None:
            offerings = (*present.offerings, *spec.offerings)
            spec = attrs.evolve(present, offerings=offerings)
        specs[spec.name] = spec
    return [*specs.values()]


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AutoscalerError(name, f"expected text in UTF-8: {error}") from error


class _Table(msgspec.Struct):
    """A catalogue in JSON."""

    columns: list[str]
    rows: list[list[str | int | float | None]]
    zones: list[str] = []


def _json_table(
    text: str, name: str
) -> tuple[list[str], list[list[str | int | float | None]], list[str]]:
    try:
        table = msgspec.json.decode(text, type=_Table)
    except msgspec.MsgspecError as error:
        problem = f"expected columns and rows of instance types: {error}"
        raise AutoscalerError(name, problem) from error
    return table.columns, table.rows, table.zones


def _check_columns(columns: Sequence[str], name: str) -> None:
    prices = [column for column in columns if column.endswith(_PRICE)]
    for column in columns:
        if column not in _TEXTS | _RESOURCES | {_GPUS} and column not in prices:
            raise AutoscalerError(
                name,
                f"column {column!r}: expected one of "
                f"{', '.join(sorted(_TEXTS | _RESOURCES | {_GPUS}))}, or prices such "
                "as 'spot $/h'",
            )
    missing = [column for column in _REQUIRED if column not in columns]
    if not prices:
        missing.append("on-demand $/h")
    if missing:
        expected = f"expected the columns {', '.join(_REQUIRED)} and a price such as "
        lacks = f"missing: {', '.join(missing)}"
        raise AutoscalerError(f"{name}: row 1", f"{expected}'on-demand $/h'; {lacks}")


def _spec(row: Mapping[str, object], where: str, zones: Sequence[str]) -> TypeSpec:
    zone = str(row.get("zone") or "")
    own_zones = [zone] if zone else zones
    if not own_zones:
        raise AutoscalerError(where, "zone: expected one, or zones for all types")
    arch = str(row.get("arch") or "amd64")
    return TypeSpec(
        name=str(row["name"]),
        arch=_ARCHITECTURES.get(arch, arch),
        os=tuple(str(row.get("os") or "linux").split("+")),
        capacity=_capacity(row, where),
        offerings=tuple(_offerings(row, where, own_zones)),
    )


def _capacity(row: Mapping[str, object], where: str) -> dict[str, Quantity]:
    names = {column: column for column in _RESOURCES} | {_GPUS: _GPU_RESOURCE}
    capacity = {}
    for column, resource in names.items():
        amount = row.get(column)
        if amount in (None, ""):
            if column in _REQUIRED:
                problem = f"{column}: expected an amount, got nothing"
                raise AutoscalerError(where, problem)
            continue
        try:
            quantity = Quantity(str(amount))
        except (ObjectError, ValueError) as error:
            problem = f"{column}: expected an amount such as 4 or 16Gi, got {amount!r}"
            raise AutoscalerError(where, problem) from error
        if quantity or resource != _GPU_RESOURCE:
            capacity[resource] = quantity
    return capacity


def _offerings(
    row: Mapping[str, object], where: str, zones: Iterable[str]
) -> Iterator[OfferingSpec]:
    for column, text in row.items():
        if not column.endswith(_PRICE) or text in (None, ""):
            continue
        try:
            price = float(str(text))
        except ValueError as error:
            problem = f"{column}: expected a price per hour, got {text!r}"
            raise AutoscalerError(where, problem) from error
        for zone in zones:
            kind = column.removesuffix(_PRICE)
            yield OfferingSpec(zone=zone, capacity_type=kind, price=price)


def instance_types(
    specs: Iterable[TypeSpec], reserved: Amounts
) -> Sequence[InstanceType]:
    """Return the types of a catalogue.

    Args:
        specs: The catalogue.
        reserved: What the system of each node needs.
    """
    return [_instance_type(spec, reserved) for spec in specs]


def _instance_type(spec: TypeSpec, reserved: Amounts) -> InstanceType:
    labels = {**_provider_labels(spec), **spec.labels}
    several = {
        INSTANCE_TYPE: [spec.name],
        ARCH: [spec.arch],
        OS: spec.os,
        ZONE: [each.zone for each in spec.offerings],
        CAPACITY_TYPE: [each.capacity_type for each in spec.offerings],
        **{key: [value] for key, value in labels.items()},
    }
    return InstanceType(
        name=spec.name,
        requirements=Requirements(
            Requirement.of(key, "In", values) for key, values in several.items()
        ),
        capacity={name: amount.nanos for name, amount in spec.capacity.items()},
        overhead=dict(reserved),
        offerings=[_offering(each) for each in spec.offerings],
    )


def _offering(spec: OfferingSpec) -> Offering:
    return Offering(
        requirements=Requirements(
            [
                Requirement.of(ZONE, "In", (spec.zone,)),
                Requirement.of(CAPACITY_TYPE, "In", (spec.capacity_type,)),
            ]
        ),
        price=spec.price,
        available=spec.available,
    )


def _provider_labels(spec: TypeSpec) -> Mapping[str, str]:
    """Return the labels that the cloud of a type gives to its nodes, by its name.

    Mirrors ``computeRequirements`` of Karpenter's provider for AWS, and the provider
    kwok; other names have no further labels.
    """
    cpu, memory = spec.capacity.get("cpu"), spec.capacity.get("memory")
    texts = {"cpu": cpu and str(cpu)}
    aws = _AWS.fullmatch(spec.name)
    if aws is not None:
        gpus = spec.capacity.get(_GPU_RESOURCE)
        texts |= {
            "category": aws[1],
            "family": spec.name.partition(".")[0],
            "generation": aws[2],
            "gpu-count": gpus and str(gpus),
            "memory": memory and str(memory.value // _MIB),
            "size": aws[3],
        }
        domain = _AWS_DOMAIN
    elif _KWOK.fullmatch(spec.name):
        texts |= {
            "family": spec.name.partition("-")[0],
            "memory": memory and str(memory),
            "size": cpu and str(cpu),
        }
        domain = _KWOK_DOMAIN
    else:
        return {}
    return {f"{domain}/instance-{key}": text for key, text in texts.items() if text}
