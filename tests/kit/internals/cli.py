"""What tests see of ``quaymaster._cli``."""

from quaymaster._cli import main
from quaymaster._cli.app import app
from quaymaster._cli.columns import Column, Columns, Shown
from quaymaster._cli.configuration import ConfigSource, read_config
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.displays.descriptions import DISPLAYS
from quaymaster._cli.doctor import finding_document
from quaymaster._cli.documents.parts import DocumentPart
from quaymaster._cli.documents.results import RESULTS
from quaymaster._cli.folding import folded, shortened
from quaymaster._cli.help_pages import HELP_PAGES, help_page
from quaymaster._cli.inputs import InputOptions, read_inputs
from quaymaster._cli.logs import logging_to_stderr
from quaymaster._cli.notices import print_notices
from quaymaster._cli.plan_failures import unplaced_table
from quaymaster._cli.plan_rounds import trade_off
from quaymaster._cli.progress import progress_bar
from quaymaster._cli.signals import stopping, waking
from quaymaster._cli.sweep_progress import lines_of_progress
from quaymaster._cli.tables import Fit, Heading, Message, Table
from quaymaster._cli.terminal import bold, is_styled, line_width
from quaymaster._cli.ui_studies import make_studies

__all__ = [
    "DISPLAYS",
    "HELP_PAGES",
    "LINE_WIDTH",
    "MAIN",
    "RESULTS",
    "RUN_APART",
    "SIMULATE",
    "Column",
    "Columns",
    "ConfigSource",
    "DocumentPart",
    "Fit",
    "Heading",
    "InputOptions",
    "Message",
    "Shown",
    "Table",
    "app",
    "bold",
    "finding_document",
    "folded",
    "help_page",
    "is_styled",
    "line_width",
    "lines_of_progress",
    "logging_to_stderr",
    "main",
    "make_studies",
    "print_csv",
    "print_notices",
    "progress_bar",
    "read_config",
    "read_inputs",
    "shortened",
    "stopping",
    "trade_off",
    "unplaced_table",
    "waking",
]

MAIN = "quaymaster._cli.app.main"
"""Runs the command line, inside `main`."""

SIMULATE = "quaymaster._cli.simulate.simulate"
"""The function of the command."""

LINE_WIDTH = "quaymaster._cli.output.line_width"
"""The width of the output."""

RUN_APART = "quaymaster._cli.perf.run_apart"
"""Runs a workload in its own process."""
