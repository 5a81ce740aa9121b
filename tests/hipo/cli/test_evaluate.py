"""``hipo evaluate table``: the published results on standard output."""

from __future__ import annotations

import csv
import io

import pytest

from tests.hipo.cli.conftest import Hipo


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ((), "# Published results: other items, other labels\n"),
        (("--format", "markdown"), "# Published results: other items, other labels\n"),
        (("--format", "csv"), "source,items,table,"),
        (("--format", "html"), "<!doctype html>\n"),
        (("--format", "latex"), "% needs \\usepackage{booktabs,graphicx}\n"),
    ],
)
def test_the_published_results_are_printed_in_every_format(
    hipo: Hipo, arguments: tuple[str, ...], start: str
) -> None:
    result = hipo("evaluate", "table", *arguments)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(start)
    assert result.out.endswith("\n")
    assert "Claude-3.7" in result.out


def test_the_csv_alone_is_on_standard_output(hipo: Hipo) -> None:
    out = hipo("evaluate", "table", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert len({row["name"] for row in rows if row["table"] == "leaderboard"}) == 24


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [(("tabel",), "'table'"), (("table", "--format", "htm"), "'html'")],
)
def test_a_mistyped_word_is_answered_with_what_there_is(
    hipo: Hipo, arguments: tuple[str, ...], suggested: str
) -> None:
    result = hipo("evaluate", *arguments)
    assert (result.code, result.out) == (2, "")
    assert suggested in result.err
