"""Tables: complete on a pipe; on a terminal one row is one line, and it fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.cli import Fit, Heading, Message, Table, folded, shortened

WORDS = st.text("abcß-.,/字", min_size=1, max_size=30)
CELLS = st.lists(WORDS, max_size=9).map(" ".join)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=5)
COLUMNS = (
    Heading("NAME", Fit.NAME),
    Heading("NODE", Fit.NODE),
    Heading("COUNT", importance=1),
    Heading("WHY", Fit.MESSAGE),
)
NODES = [f"ip-10-0-0-{number}.eu-west-1.compute.internal" for number in (1, 2)]
LONG = "0/36 nodes are available: 13 node(s) had untolerated taint(s)"


@given(rows=ROWS)
def test_pipe_gets_every_cell_whole(rows: list[tuple[str, ...]]) -> None:
    table = Table(COLUMNS, rows).lines(None)
    assert len(table.headings) == 1
    assert len(table.body) == len(rows)
    assert not table.messages
    assert not table.notes
    for line, row in zip(table.body, rows, strict=True):
        assert line.split() == " ".join(row).split()


@given(rows=ROWS, width=st.integers(40, 120))
def test_each_row_is_one_line_that_fits(
    rows: list[tuple[str, ...]], width: int
) -> None:
    table = Table(COLUMNS, rows).lines(width)
    assert len(table.body) == len(rows)
    # Letters of Chinese are two columns wide.
    lines = (*table.headings, *table.body)
    assert all(sum(2 if c == "字" else 1 for c in line) <= width for line in lines)


def test_gaps_become_narrower_before_anything_is_taken_away() -> None:
    table = Table(("POD", "WHY"), [("web-1", "no node")]).lines(14)
    assert (table.headings, table.body) == (["POD    WHY"], ["web-1  no node"])


def test_common_suffix_of_nodes_is_printed_once() -> None:
    columns = (Heading("NODE", Fit.NODE), "CPU", Heading("TO", Fit.NODE))
    rows = [(NODES[0], "1", f"{NODES[1]}, {NODES[0]}"), (NODES[1], "2", "-")]
    table = Table(columns, rows).lines(50)
    assert table.body == [
        "ip-10-0-0-1  1    ip-10-0-0-2, ip-10-0-0-1",
        "ip-10-0-0-2  2    -",
    ]
    assert table.notes == ["names of nodes end in .eu-west-1.compute.internal"]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["10.0.0.1", "10.0.0.1"], "10.0.0.1"),
        (["a.example.com", "b"], "a.example.com"),
        (["a.x.example.com", "b.y.example.com"], "a.x"),
        (["a.ec2.internal"], "a"),
        (["a.ec2.internal", "3 nodes", "-"], "a"),
    ],
    ids=["addresses", "not shared", "partly shared", "a single node", "no names"],
)
def test_suffix_of_nodes_is_what_all_of_them_share(
    names: list[str], shown: str
) -> None:
    rows = [(name, "word " * 9) for name in names]
    columns = (Heading("NODE", Fit.NODE), Heading("WHY", Fit.SENTENCE))
    table = Table(columns, rows).lines(50)
    assert table.body[0].split()[0] == shown


def test_long_message_is_printed_once_below_the_rows() -> None:
    rows = [("web-1", LONG), ("web-2", LONG), ("web-3", ""), ("web-4", f"not {LONG}")]
    table = Table(("POD", Heading("MESSAGE", Fit.MESSAGE)), rows).lines(40)
    assert table.body == ["web-1  (1)", "web-2  (1)", "web-3", "web-4  (2)"]
    assert table.messages[:2] == [
        "(1) 0/36 nodes are available: 13 node(s)",
        "    had untolerated taint(s)",
    ]


def test_what_differs_between_rows_stays_beside_the_number_of_a_message() -> None:
    cell = Message(f"3 times, at 5s: {LONG}", "3 times", LONG)
    rows = [("web-1", cell), ("web-2", LONG)]
    table = Table(("POD", Heading("WHY", Fit.MESSAGE)), rows).lines(40)
    assert table.body == ["web-1  3 times (1)", "web-2  (1)"]


def test_short_messages_stay_in_the_rows() -> None:
    columns = (Heading("POD", Fit.NAME), Heading("WHY", Fit.MESSAGE))
    table = Table(columns, [("web-" * 9 + "1", "Insufficient cpu")]).lines(44)
    assert table.body == ["web-web-web-..eb-web-web-1  Insufficient cpu"]


def test_widest_names_are_shortened_in_the_middle() -> None:
    columns = (Heading("POD", Fit.NAME), Heading("NODE", Fit.NAME))
    rows = [("monitoring/queue-43-qqfqn825b-6gkw6", "node-1")]
    table = Table(columns, rows).lines(38)
    assert table.body == ["monitoring/que..qfqn825b-6gkw6  node-1"]


def test_least_important_columns_are_left_out_first() -> None:
    columns = [Heading("NODE")]
    columns += [Heading(name, importance=at) for at, name in enumerate("ABC")]
    rows = [
        ("node-1", *("x" * 9 for _ in "ABC")),
        ("node-2", *("y" * 9 for _ in "ABC")),
    ]
    table = Table(columns, rows).lines(20)
    assert table.headings == ["NODE    C"]
    assert table.notes == ["left out to fit 20 columns: A, B"]


def test_column_that_is_the_same_in_all_rows_is_left_out_before_others() -> None:
    columns = ("POD", Heading("CHANGE", importance=9), Heading("AT", importance=1))
    rows = [("web-1", "drain node-1", "5s"), ("web-2", "drain node-1", "7s")]
    table = Table(columns, rows).lines(16)
    assert table.body == ["web-1  5s", "web-2  7s"]
    assert table.notes == ["in every row: CHANGE drain node-1"]


def test_same_column_is_left_out_before_names_are_shortened() -> None:
    pods = [(f"pod-{n}-with-a-name-of-40-characters-in-all", "cpu") for n in range(3)]
    rows = [("drain of a node", *pod) for pod in pods]
    change, pod = Heading("CHANGE", Fit.NAME, 0), Heading("POD", Fit.NAME)
    table = Table([change, pod, "WHY"], rows).lines(60)
    assert [line.split()[0] for line in table.body] == [pod for pod, _ in pods]
    assert table.notes == ["in every row: CHANGE drain of a node"]


def test_column_of_dashes_is_left_out_without_a_note() -> None:
    rows = [(f"node-{n}-with-a-long-name", "-", "moved") for n in range(2)]
    table = Table(["NODE", Heading("FROM", importance=0), "WHAT"], rows).lines(34)
    assert table.body == [f"node-{n}-with-a-long-name  moved" for n in range(2)]
    assert table.notes == []


def test_lists_of_nodes_lose_the_suffix_and_are_folded() -> None:
    lists = ["a.eu.internal x3, bb.eu.internal", "c.eu.internal", "(pending)"]
    rows = [("web", nodes) for nodes in lists]
    table = Table(["POD", Heading("NODES", Fit.NODES)], rows).lines(24)
    assert table.body == ["web  a x3, bb", "web  c", "web  (pending)"]
    assert table.notes == ["names of nodes end in .eu.internal"]


ZONES = "eu-west-1a 12, eu-west-1b 3"


def test_common_beginning_of_domains_is_printed_once() -> None:
    columns = (Heading("BEFORE", Fit.DOMAINS), Heading("AFTER", Fit.DOMAINS))
    rows = [(ZONES, "eu-west-1a 0, (no label) 3"), (ZONES, "0 to 9 on 12 domains")]
    table = Table(columns, rows).lines(40)
    assert table.body == [
        "1a 12, 1b 3  1a 0, (no label) 3",
        "1a 12, 1b 3  0 to 9 on 12 domains",
    ]
    assert table.notes == ["names of domains begin with eu-west-"]


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("eu-west-1a 1, us-east-1a 1", "eu-west..st-1a 1"),
        ("rack 1, rack-b 1, rack-c 1", "rack 1,..ck-c 1"),
        ("a-long-name-of-a-rack 12", "a-long-..ack 12"),
    ],
)
def test_domains_without_a_common_beginning_are_shortened(cell: str, line: str) -> None:
    table = Table([Heading("AFTER", Fit.DOMAINS)], [(cell,)]).lines(len(line))
    assert (table.body, table.notes) == ([line], [])


def test_sentences_are_folded_between_words() -> None:
    rows = [("web 1", "it does not fit at all, and never will")]
    table = Table(("POD", Heading("WHY", Fit.SENTENCE)), rows).lines(28)
    assert table.headings == ["POD    WHY"]
    assert table.body == ["web 1  it does not fit at", "       all, and never will"]


def test_word_that_is_longer_than_a_line_stays_whole() -> None:
    assert folded("a node.kubernetes.io/unreachable b", 10) == [
        "a",
        "node.kubernetes.io/unreachable",
        "b",
    ]


def test_shortened_name_has_both_ends() -> None:
    assert (
        shortened("monitoring/queue-43-qqfqn825b-6gkw6", 20) == "monitorin..25b-6gkw6"
    )
    assert shortened("web", 3) == "web"


def test_control_and_bidirectional_characters_are_escaped() -> None:
    (line,) = Table(["NAME"], [["a\x1b[31m\u202eb"]]).lines(None).body
    assert line == "a\\x1b[31m\\u202eb"
