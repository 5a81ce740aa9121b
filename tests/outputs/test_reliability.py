"""What an export tells of its labels is what the runs hold: judgements, and what people answered."""

from __future__ import annotations

import sqlite3

import pytest

from outputs.dataset.documents import Documents
from outputs.export.export import export
from outputs.kinds.export_kind import ExportOptions
from outputs.reliability.reliability import people_agreement, reliability
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from pipeline.store.queries.report_rows import PersonAnswer
from scenarios.schemes.registry import load_scheme
from tests.outputs.sample_run import let_people_answer, reported_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    made = [reported_run(folder / name, name=name, skew=i) for i, name in enumerate(("one", "two"))]
    for run in made:
        let_people_answer(run)
    return made


def found(runs):
    with opened(Selection(tuple(runs))) as selection:
        return reliability(selection.scheme, selection.runs)


def counted(runs, source, dimension):
    total = [0, 0]
    for run in runs:
        connection = sqlite3.connect(run / "run.sqlite")
        [row] = connection.execute(
            "select sum(carried), count(carried) from labels where kind = ? and dimension = ?",
            (source, dimension),
        )
        connection.close()
        total = [a + b for a, b in zip(total, row, strict=True)]
    return tuple(total)


def test_consistency_is_counted_over_everything_that_was_judged(runs):
    shares = {(c.source, c.dimension): c.share for c in found(runs).consistency}
    assert list(shares) == [
        *(("self", dimension) for dimension in ("intention", "veracity", "illocutionary", "goal")),
        *(
            ("external", dimension)
            for dimension in ("intention", "veracity", "illocutionary", "goal", "misled")
        ),
    ]
    for (source, dimension), share in shares.items():
        assert share.interval.low <= share.value <= share.interval.high
        if dimension != "goal":
            assert (share.yes, share.judged) == counted(runs, source, dimension)
    assert 0 < shares["self", "intention"].value < 1


def test_people_of_two_runs_are_four_and_agree_as_they_answered_last(runs):
    for given, people in ((runs[:1], 2), (runs, 4)):
        rows = {row.statistic: row for row in found(given).agreement}
        percent = rows["percent agreement"]
        assert percent.value == pytest.approx(2 / 3)
        assert (percent.items, percent.annotators) == (3 * len(given), people)
        assert {row.group for row in rows.values()} == {""}


def test_kinds_of_review_are_told_apart():
    answers = [
        PersonAnswer(mode, f"{mode}{item}", person, "veracity", label)
        for mode, labels in (("review", ("Quality", "Manner")), ("quiz", ("Quality", "Quality")))
        for item in range(3)
        for person, label in zip("ab", labels, strict=True)
    ]
    rows = people_agreement(load_scheme("hipo"), answers)
    percent = {row.group: row.value for row in rows if row.statistic == "percent agreement"}
    assert percent == {"": 0.5, "quiz": 1.0, "review": 0.0}


def test_an_answer_that_does_not_fit_makes_no_export_fail(runs, tmp_path):
    run = reported_run(tmp_path / "run")
    let_people_answer(run)
    connection = sqlite3.connect(run / "run.sqlite")
    connection.execute(
        "update annotations set value = 'Nonsense' where source in"
        " (select seq from label_sources where kind = 'human')"
    )
    connection.commit()
    connection.close()
    done = export(
        Selection((run,)),
        ExportOptions("benchmark", parquet=False),
        tmp_path / "set",
        document=Documents(),
    )
    told = done.facts.reliability
    assert told.agreement == ()
    assert "Nonsense" in told.note
    card = (done.folder / "README.md").read_text()
    assert "how well they agree was not computed" in card


def test_the_card_of_an_export_tells_both_and_no_name(runs, tmp_path):
    done = export(
        Selection(tuple(runs)),
        ExportOptions("benchmark", parquet=False),
        tmp_path / "set",
        document=Documents(),
    )
    card = (done.folder / "README.md").read_text()
    yes, judged = counted(runs, "self", "veracity")
    assert f"| self | compatible/m | Veracity strategy (how) | {yes / judged:.1%} |" in card
    assert "| all | Communicative intention (why) | percent agreement | 0.667 |" in card
    everything = b"".join(p.read_bytes() for p in done.folder.rglob("*") if p.is_file())
    assert b"Secret Name" not in everything
