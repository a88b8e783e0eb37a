"""The prices of nodes: from an annotation, or from a file by instance type."""

import math
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, cast

import attrs

from quaymaster._api.objects import Node
from quaymaster._base.errors import Problem
from quaymaster._clusters.inmemory.admission.problems import AdmissionError, place_of
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.naming import show
from quaymaster._core.config.yaml_file import read_content, read_yaml

__all__ = ["PRICE_ANNOTATION", "Prices", "price_of_text", "read_prices", "total_price"]

PRICE_ANNOTATION: Final = "simulation.quaymaster.io/price-per-hour"
"""On a node: what it costs per hour, such as ``0.096``.

It overrides the price of the node's instance type. Prices may be in any currency: they
are only added and compared.
"""

_INSTANCE_TYPE: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
_PRICE: Final = re.compile(
    r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII
)
_EXPECTED: Final = "expected a price per hour such as 0.096"
_FORM: Final = (
    "expected one line for each instance type, with its price per hour, such as "
    "m5.large: 0.096"
)
_DIGITS: Final = 9
"""The number of decimals of rounded sums, so that 0.1 + 0.2 is 0.3."""


@attrs.frozen(kw_only=True)
class Prices:
    """The prices of nodes per hour.

    Attributes:
        per_instance_type: Instance type -> the price of such a node per hour.
    """

    per_instance_type: Mapping[str, float] = attrs.field(factory=dict)

    def of(self, node: Node) -> float | None:
        """Return what a node costs per hour.

        The annotation `PRICE_ANNOTATION` overrides the price of the node's instance
        type, which is the label ``node.kubernetes.io/instance-type``.

        Returns:
            The price, or None if it is unknown.

        Raises:
            AdmissionError: The annotation is not a price.
        """
        return self.of_all((node,))[0]

    def of_all(self, nodes: Iterable[Node]) -> list[float | None]:
        """Return what each of some nodes costs per hour; see `of`.

        Raises:
            AdmissionError: Annotations are not prices; the error lists all of them.
        """
        prices: list[float | None] = []
        problems = []
        for node in nodes:
            text = node.metadata.annotations.get(PRICE_ANNOTATION)
            price = self._of_type(node) if text is None else price_of_text(text)
            if text is not None and price is None:
                problems.append(_wrong_annotation(node, text))
            prices.append(price)
        if problems:
            raise AdmissionError(problems)
        return prices

    def _of_type(self, node: Node) -> float | None:
        if not self.per_instance_type:
            return None
        labels = node.metadata.labels
        for key in _INSTANCE_TYPE:
            # The newer label counts, even if its type has no price.
            if key in labels:
                return self.per_instance_type.get(labels[key])
        return None


def price_of_text(text: str) -> float | None:
    """Return the price in a text, or None if it is not a price."""
    stripped = text.strip()
    if not _PRICE.fullmatch(stripped):
        return None
    price = float(stripped)
    return price if math.isfinite(price) else None


def total_price(prices: Iterable[float | None]) -> float | None:
    """Return the sum of the prices that are not None, or None if all are."""
    amounts = [price for price in prices if price is not None]
    return round(math.fsum(amounts), _DIGITS) if amounts else None


def read_prices(source: str) -> Prices:
    """Read a file of prices per instance type.

    It is YAML or JSON::

        m5.large: 0.096
        m5.xlarge: 0.192

    Args:
        source: The file.

    Raises:
        ConfigErrors: The file is unreadable, or a value is not a price; the error lists
            all mistakes.
    """
    document = read_yaml(read_content(Path(source), source), source)
    if not isinstance(document, dict) or not document:
        got = "nothing" if document in (None, {}) else show(document)
        raise ConfigErrors([Problem(where=source, message=f"{_FORM}; got {got}")])
    prices: dict[str, float] = {}
    problems = []
    for key, value in cast("dict[object, object]", document).items():
        price = _price(value)
        if price is None:
            message = f"{_EXPECTED}, got {show(value)}"
            problems.append(Problem(where=source, path=str(key), message=message))
        else:
            prices[str(key)] = price
    if problems:
        raise ConfigErrors(problems)
    return Prices(per_instance_type=prices)


def _price(value: object) -> float | None:
    if isinstance(value, str):
        return price_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # An integer of YAML may be too large for a float.
    return float(value) if 0 <= value <= sys.float_info.max else None


def _wrong_annotation(node: Node, text: str) -> Problem:
    return Problem(
        where=place_of(node),
        path=f"metadata.annotations[{PRICE_ANNOTATION}]",
        message=f"{_EXPECTED}, got {text!r}",
    )
