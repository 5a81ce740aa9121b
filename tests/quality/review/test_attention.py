"""Lines with known labels among the items of a quiz: they look like any other, and tell on guessing."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from hipo.app.review.attention import attention_mixing
from hipo.cli.main import run as hipo
from pipeline.store.people_database import PEOPLE
from quality.annotation_qc.attention_scores import (
    attention_findings,
    attention_scores,
    exact_interval,
    guessing_chance,
)
from quality.annotation_qc.findings import QcSettings
from quality.review.attention import PageNumbers, place
from scenarios.errors import UsageError
from scenarios.reviews import Assignment, AttentionAnswer, ReviewStudy
from tests.quality.review.serving import Served, generated_run, served
from tests.quality.review.visitor import Visitor, csrf_of, first_choices

ATTENTION = 6
DIALOGUES = 12


@pytest.fixture(scope="module")
def quiz_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated_run(tmp_path_factory.mktemp("quiz") / "run", n=DIALOGUES, turns=[1])


def person(site: Served, name: str):
    return next(one for one in site.service.store.people.everybody() if one.name == name)


def assignment_at(site: Served, path: str, name: str) -> Assignment:
    found = site.service.giving.find(int(path.rpartition("/")[2]), person(site, name))
    assert found is not None
    return found


def work_through(site: Served, name: str, *, knows: bool) -> tuple[list[str], list[int]]:
    """Answer everything; returns the pages without what has to differ, and the attention numbers."""
    visitor = Visitor(site.url)
    path = visitor.come_in(site.link(), name)
    pages, numbers = [], []
    while path.startswith("/item/"):
        _, page = visitor.get(path)
        assert page.status == 200
        assignment = assignment_at(site, path, name)
        choices = first_choices(page.text)
        if assignment.seq < 0:
            numbers.append(assignment.seq)
            if knows:
                shown = site.service.giving.exhibit(assignment, person(site, name))
                choices |= {
                    field.name: str(shown.declared[field.turn, field.dimension.id])
                    for section in shown.sections
                    for field in section.fields
                    if (field.turn, field.dimension.id) in shown.declared
                }
        pages.append((assignment.seq < 0, page.text))
        fields = {"csrf": csrf_of(page.text), "stage": "labels", **choices}
        assert visitor.submit(path, urlencode(fields)).status == 303
        path, _ = visitor.get("/next")
    return pages, numbers


def shape(html: str) -> str:
    """Return the page without words, values and numbers: what is left is how it is made."""
    tags = re.findall(r"<[a-z][^>]*>", unescape(html))
    return "\n".join(re.sub(r'"[^"]*"', '""', tag) for tag in tags)


def test_attention_items_look_like_the_others_and_are_counted_nowhere_but_in_their_score(
    quiz_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(quiz_folder, mode="quiz", attention=ATTENTION) as site:
        ada, hers = work_through(site, "Ada", knows=True)
        bob, his = work_through(site, "Bob", knows=False)
        assert len(hers) == len(his) == ATTENTION
        assert len(ada) == len(bob) == DIALOGUES + ATTENTION
        ids = [re.search(r'data-item="(\d+)"', html)[1] for _, html in ada]
        assert all(len(number) > 9 for number in ids), "none is counted"
        assert f"1 / {DIALOGUES + ATTENTION}" in ada[0][1]
        store, study = site.service.store, site.service.study
        assert len(list(store.sheets.sheets(study))) == 2 * DIALOGUES
        of_known = {shape(html) for known, html in ada if known}
        assert of_known & {shape(html) for known, html in ada if not known}
        expert = Visitor(site.url)
        expert.come_in(site.link("expert"), "Eve")
        _, dashboard = expert.get("/dashboard")
        assert f"<td>0 / {ATTENTION}</td>" in dashboard.text
    capsys.readouterr()
    assert hipo(["qc", str(quiz_folder), "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["items"] == DIALOGUES * 2  # the answer and the whole of each dialogue
    known, guessed = report["attention"]
    assert (known["items"], known["failed"], known["right"]) == (ATTENTION, 0, known["asked"])
    assert [f["annotator"] for f in report["findings"] if f["code"] == "inattentive"] == [
        guessed["annotator"]
    ]
    with closing(sqlite3.connect(quiz_folder / "run.sqlite")) as run:
        (dialogues,) = run.execute("select count(*) from dialogues").fetchone()
    assert dialogues == DIALOGUES
    assert hipo(["review", "user", "erase", str(quiz_folder), "Bob"]) == 0
    with closing(sqlite3.connect(quiz_folder / PEOPLE)) as people:
        codes = people.execute("select distinct code from attention").fetchall()
    assert codes == [(known["annotator"],)]


def answered(code: str, right: int, items: int = 6) -> list[AttentionAnswer]:
    """Return items of four questions with four choices each, of which ``right`` are right."""
    return [
        AttentionAnswer(
            n, code, "quiz", f"line{n}", "done", 0.0, 1.0, 1.0, (), "", right, (0.25,) * 4
        )
        for n in range(items)
    ]


def test_intervals_and_chances_are_exact() -> None:
    # Clopper and Pearson for 1 of 10, as R's binom.test prints it: 0.002529 to 0.445016.
    bounds = exact_interval(1, 10)
    assert (bounds.low, bounds.high) == (
        pytest.approx(0.002528579, abs=1e-8),
        pytest.approx(0.445016117, abs=1e-8),
    )
    assert exact_interval(0, 5).low == 0.0
    assert exact_interval(5, 5).high == 1.0
    assert guessing_chance(2, [0.5, 0.5]) == pytest.approx(0.25)
    assert guessing_chance(1, [0.25, 0.5]) == pytest.approx(1 - 0.75 * 0.5)
    assert guessing_chance(0, [0.1]) == pytest.approx(1.0)


def test_who_guesses_or_fails_most_is_found_and_who_takes_care_is_not() -> None:
    given = answered("guesser", 1) + answered("careful", 3) + answered("new", 0, items=4)
    given += answered("half", 1, items=20) + answered("half", 2, items=1)
    found = attention_findings(attention_scores(given), QcSettings())
    assert {one.annotator for one in found} == {"guesser", "half"}
    assert all("no better than chance" in one.reason for one in found)
    often_wrong = [
        AttentionAnswer(
            n, "wrong", "quiz", f"line{n}", "done", 0.0, 1.0, 1.0, (), "", 1, (0.02, 0.02, 0.02)
        )
        for n in range(20)
    ]
    [one] = attention_findings(attention_scores(often_wrong), QcSettings())
    assert "more than can be by accident" in one.reason
    unanswered = [replace(one, state="open", chances=()) for one in often_wrong]
    assert attention_scores(unanswered) == []


def test_numbers_on_the_page_tell_nothing_and_lead_back() -> None:
    numbers = PageNumbers(b"a key of the run")
    hidden = {n: numbers.shown(n) for n in (*range(1, 200), *range(-200, 0), 2**40)}
    assert len(set(hidden.values())) == len(hidden)
    assert all(numbers.stored(shown) == n and shown < 2**63 for n, shown in hidden.items())
    assert all(shown > 10_000 for shown in hidden.values())
    assert PageNumbers(b"another key").shown(1) != hidden[1]
    assert numbers.stored(2**62 + 1) is None


def test_lines_are_spread_over_the_items_by_seed_and_annotator() -> None:
    study = ReviewStudy(1, "quiz", "quiz", 3, 42, {})
    ada = [place(study, "A01", n, total=60, count=6) for n in range(6)]
    assert all(10 * n <= at < 10 * (n + 1) for n, at in enumerate(ada))
    assert ada == [place(study, "A01", n, total=60, count=6) for n in range(6)]
    assert ada != [place(study, "A02", n, total=60, count=6) for n in range(6)]
    assert [place(study, "A01", n, total=2, count=4) for n in range(4)] == [0, 0, 1, 1]


def test_a_study_that_lines_would_stand_out_in_is_refused(
    quiz_folder: Path, tmp_path: Path
) -> None:
    with (
        pytest.raises(UsageError, match="is for a quiz") as in_review,
        served(quiz_folder, mode="review", everything=True, attention=2),
    ):
        pass
    assert "known lines have no flags" in in_review.value.hint
    gold = ReviewStudy(1, "gold", "gold", 3, 42, {})
    with pytest.raises(UsageError, match="of the mode gold") as in_gold:
        attention_mixing(None, gold, None, 2)
    assert "hipo review agreement RUN" in in_gold.value.hint
    with (
        pytest.raises(UsageError, match="for the study, fewer than --attention 500"),
        served(quiz_folder, mode="quiz", attention=500),
    ):
        pass
    longer = generated_run(tmp_path / "longer", n=2, turns=[2])
    with (
        pytest.raises(UsageError, match="0 lines with known"),
        served(longer, mode="quiz", attention=2),
    ):
        pass
