"""What the expert is told about progress, agreement, timing and care."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hipo.cli.main import run as hipo
from pipeline.store.reviews import ReviewStore
from quality.review.dashboard import overview
from quality.review.expert_pages import _roles
from quality.review.forms import sections
from scenarios.reviews import AnnotatorTally, GivenLabel, Item, Opinion, ReviewStudy, Sheet
from scenarios.schemes.registry import load_scheme

HIPO = load_scheme("hipo")
STUDY = ReviewStudy(1, "review", "review", 3, 0, {})


def sheet(number: int, who: str, veracity: str, opinion: Opinion) -> Sheet:
    item = Item(number, f"case{number}", "arm", "finance", ())
    labels = (GivenLabel(3, "veracity", veracity),)
    return Sheet(number, item, who, "done", labels, opinion, "page")


def test_progress_agreement_and_findings() -> None:
    fast = Opinion(lead_s=0.5)
    calm = Opinion(lead_s=30)
    sheets = [sheet(n, "A01", "Quality", fast) for n in range(12)]
    sheets += [sheet(n, "A02", ("Quality", "Manner")[n % 2], calm) for n in range(12)]
    items = [(s.item, 2) for s in sheets[:12]] + [(sheet(99, "", "Quality", calm).item, 3)]
    tallies = [AnnotatorTally("A01", "annotator", 12, 1, (0.5,) * 12, 100.0, False)]
    found = overview(HIPO, STUDY, sheets, items, tallies=tallies, now=220.0)
    assert (found.items, found.complete, found.answers, found.expected) == (13, 1, 27, 39)
    place = found.agreement.statistics.index("percent agreement")
    ((question, shared, cells),) = found.agreement.rows
    assert (question, shared) == ("Veracity strategy", 12)
    assert cells[place][0] == "0.50"
    assert found.difficulty["Veracity strategy"].unanimous == 6
    assert found.minutes_left == 1  # 12 open answers at half a second each
    mine = next(group for group in found.findings if group.annotator == "A01")
    kinds = dict(mine.kinds)
    assert {"straight lining", "too fast"} <= set(kinds)
    assert kinds["too fast"] == 12
    assert {thing.number for thing in mine.things if thing.item} == set(range(12))
    (person,) = found.people
    assert (person.median_s, person.idle_minutes) == (0.5, 2)
    assert person.findings == sum(kinds.values()) > 12


def test_before_anybody_has_answered() -> None:
    found = overview(HIPO, STUDY, [], [], tallies=[], now=0.0)
    assert found.agreement.rows == ()
    assert found.minutes_left is None
    assert found.no_agreement == "no answers yet"
    assert found.findings == ()


def test_what_the_form_does_not_ask_is_not_missing_and_what_it_asks_is() -> None:
    item = Item(1, "case1", "arm", "finance", ())
    fields = [field for section in sections(HIPO, [3], {}) for field in section.fields]
    labels = tuple(GivenLabel(f.turn, f.dimension.id, f.choices[0].value) for f in fields)
    whole = Sheet(1, item, "A01", "done", labels, Opinion(lead_s=30), "page")
    short = replace(whole, labels=tuple(one for one in labels if one.dimension != "intention"))

    def missing(sheet: Sheet) -> list[str]:
        found = overview(HIPO, STUDY, [sheet], [(item, 1)], tallies=[], now=9.0).findings
        return [t.question for group in found for t in group.things if t.reason == "not answered"]

    assert missing(whole) == []
    assert missing(short) == ["Communicative intention"]


def test_what_only_some_speakers_are_asked_is_missing_of_them_alone() -> None:
    item = Item(1, "case1", "arm", "persuasion", ())
    labels = tuple(GivenLabel(turn, "face_act", "hneg-") for turn in (0, 1))
    given = Sheet(1, item, "A01", "done", labels, Opinion(lead_s=30), "file")
    roles = {f"{item.id}#0": "persuader", f"{item.id}#1": "bystander"}
    scheme = load_scheme("face_acts")
    found = overview(scheme, STUDY, [given], [(item, 1)], tallies=[], roles=roles, now=9.0).findings
    missing = [t for group in found for t in group.things if t.reason == "not answered"]
    assert [thing.question for thing in missing] == ["Intention"]
    assert missing[0].item == "case1/arm, turn 0"


def test_who_speaks_is_read_of_the_turns_that_answers_are_about(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    made = ["--scheme", "face_acts", "--model", "offline/rules", "-n", "2", "-q"]
    assert hipo(["generate", *made, "-o", str(folder)]) == 0
    with ReviewStore.open(folder) as store:
        first, _ = store.dialogues.dialogues()
        item = Item(1, first.case.id, first.arm, "persuasion", ())
        given = [Sheet(n, item, who, "done", (), Opinion(), "page") for n, who in enumerate("AB")]
        spoken = {f"{item.id}#{turn.index}": turn.role for turn in first.turns}
        assert _roles(load_scheme("face_acts"), store, given) == spoken
        assert _roles(HIPO, store, given) == {}


def test_figures_that_rest_on_some_of_the_items_say_so() -> None:
    calm = Opinion(lead_s=30)
    sheets = [sheet(n, who, "Quality", calm) for n in range(6) for who in ("A01", "A02")]
    sheets += [sheet(n, "A03", "Manner", calm) for n in range(2)]
    found = overview(HIPO, STUDY, sheets, [], tallies=[], now=0.0).agreement
    assert [note for note in found.notes if "of the 4 of 6 items with 2 answers each" in note]


def test_every_annotator_is_shown_beside_the_others_and_one_who_guesses_stands_out() -> None:
    calm, labels = Opinion(lead_s=30), ("Quality", "Manner", "Quantity")
    sheets = [
        sheet(n, who, labels[place % 3], calm)
        for n in range(60)
        for who, place in (("A01", n), ("A02", n), ("A03", n // 3))
    ]
    found = overview(HIPO, STUDY, sheets, [], tallies=[], now=0.0)
    assert {row.question for row in found.beside_others} == {"Veracity strategy"}
    first, second, guesses = sorted(found.beside_others, key=lambda row: row.annotator)
    assert (guesses.annotator, guesses.items, guesses.others, guesses.apart) == (
        "A03", 60, "1.00", True,
    )  # fmt: skip
    assert float(first.value) == float(second.value) > float(guesses.value)
    assert not first.apart
    two = overview(HIPO, STUDY, sheets[::3] + sheets[1::3], [], tallies=[], now=0.0)
    assert two.beside_others == (), "of two people nobody is the other"
