"""The prices of nodes: annotations, and files by instance type."""

from pathlib import Path

import pytest

from quaymaster.config import ConfigErrors
from quaymaster.inmemory import AdmissionError
from quaymaster.planning import PRICE_ANNOTATION, Prices, read_prices
from quaymaster.testing import make_node

LARGE = {"node.kubernetes.io/instance-type": "large"}
PRICES = Prices(per_instance_type={"large": 0.4})


def written(folder: Path, text: str) -> str:
    path = folder / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_file_gives_a_price_to_each_instance_type(tmp_path: Path) -> None:
    prices = read_prices(written(tmp_path, "m5.large: 0.096\nspot: '1e-2'\n4: 1\n"))
    assert prices.per_instance_type == {"m5.large": 0.096, "spot": 0.01, "4": 1}


def test_price_of_a_node_is_that_of_its_instance_type() -> None:
    assert PRICES.of(make_node(name="n", labels=LARGE)) == 0.4


def test_price_by_the_older_label_counts_too() -> None:
    labels = {"beta.kubernetes.io/instance-type": "large"}
    assert PRICES.of(make_node(name="n", labels=labels)) == 0.4


def test_annotation_counts_before_the_instance_type() -> None:
    node = make_node(name="n", labels=LARGE, annotations={PRICE_ANNOTATION: "0.1"})
    assert PRICES.of(node) == 0.1


@pytest.mark.parametrize("labels", [{}, {"node.kubernetes.io/instance-type": "small"}])
def test_node_without_annotation_and_type_has_no_price(labels: dict[str, str]) -> None:
    assert PRICES.of(make_node(name="n", labels=labels)) is None


@pytest.mark.parametrize(
    "text", ["cheap", "-1", "", "nan", "inf", "1e999", "0x1", "1,5"]
)
def test_annotation_that_is_not_a_price_is_named(text: str) -> None:
    node = make_node(name="n", annotations={PRICE_ANNOTATION: text})
    with pytest.raises(AdmissionError) as caught:
        Prices().of(node)
    assert str(caught.value) == (
        "Node n: metadata.annotations[simulation.quaymaster.io/price-per-hour]: "
        f"expected a price per hour such as 0.096, got {text!r}"
    )


def test_all_wrong_prices_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    file = written(tmp_path, "a: dear\nb: 1\nc: -1\nd: true\ne:\nf: [1]\n")
    with pytest.raises(ConfigErrors) as caught:
        read_prices(file)
    assert str(caught.value).splitlines() == [
        f"{file}: {key}: expected a price per hour such as 0.096, got {got}"
        for key, got in [
            ("a", "'dear'"),
            ("c", "-1"),
            ("d", "true"),
            ("e", "nothing"),
            ("f", "a list"),
        ]
    ]


@pytest.mark.parametrize(
    ("text", "got"), [("", "nothing"), ("{}", "nothing"), ("- 1", "a list")]
)
def test_error_of_a_file_without_prices_shows_the_expected_form(
    tmp_path: Path, text: str, got: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigErrors, match=f"such as m5.large: 0.096; got {got}$"):
        read_prices(file)


def test_duplicate_instance_type_is_an_error(tmp_path: Path) -> None:
    file = written(tmp_path, "a: 1\na: 2\n")
    with pytest.raises(ConfigErrors, match="line 2, column 1: the key 'a' occurs"):
        read_prices(file)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigErrors, match="No such file or directory"):
        read_prices(str(tmp_path / "none.yaml"))
