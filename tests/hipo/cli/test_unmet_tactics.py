"""Wanted shares that the rules put out of reach are told before, at the start of, and after a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.margins import Margin, unmet_in_words
from tests.hipo.cli.conftest import Hipo

PLAN = ("generate", "--model", "offline/rules", "--scenarios", "bike_tracking", "--turns", "1")
SENTENCE = "wanted tactics that the rules put out of reach: Declarations 20.0% wanted and "


def test_a_share_that_rules_keep_low_is_told_beforehand_and_in_the_report(
    hipo: Hipo, tmp_path: Path
) -> None:
    plan = (*PLAN, "--tactics", "balanced", "-n", "2", "-o", "run")
    assert SENTENCE in hipo(*plan, "--dry-run").out
    unmet = hipo(*plan, "--dry-run", "--format", "json").data["unmet_tactics"]
    declarations = next(one for one in unmet if one["labels"] == ["Declarations"])
    assert declarations["dimensions"] == ["illocutionary"]
    assert declarations["target"] == 0.2 > declarations["achieved"]
    started = hipo(*plan)
    assert started.err.count(SENTENCE) == 1
    hipo("report", "run", "--no-embeddings", "-q")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"W{SENTENCE[1:]}" in page


def test_nothing_is_told_where_tactics_are_free(hipo: Hipo) -> None:
    plan = (*PLAN, "-n", "2", "--dry-run")
    assert "out of reach" not in hipo(*plan).out
    assert hipo(*plan, "--format", "json").data["unmet_tactics"] == []


def test_what_falls_short_is_listed_and_shares_survive_storing() -> None:
    above = Margin(("a",), ("X",), 0.25, 0.3)
    below = Margin(("a",), ("Y",), 0.25, 0.1)
    assert [Margin.from_fields(margin.fields()) for margin in (above, below)] == [above, below]
    told = unmet_in_words([above, below])
    assert told.endswith("out of reach: Y 25.0% wanted and 10.0% to expect")
    unwanted = Margin(("a",), ("Z",), 0.0, 0.1)
    assert unmet_in_words([unwanted, below]).endswith(
        "10.0% to expect; asked for in their place: Z 0.0% wanted and 10.0% to expect"
    )
    assert unmet_in_words([above]).endswith("X 25.0% wanted and 30.0% to expect")
    assert unmet_in_words([below] * 7).endswith(", and 2 more")
    assert unmet_in_words([]) == ""


@pytest.mark.parametrize("achieved", [0.2, 0.2049, 0.1951])
def test_half_a_percentage_point_counts_as_met(achieved: float) -> None:
    assert Margin(("a",), ("X",), 0.2, achieved).met
