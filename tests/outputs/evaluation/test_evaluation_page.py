"""The page about an evaluation: known figures stand where they belong, and texts stay texts."""

from __future__ import annotations

import json
import os
import re

import pytest
import tinyhtml5.parser

from outputs.evaluation.ahead import ahead_in_words
from outputs.evaluation.cells import points
from outputs.evaluation.shown_examples import chosen_examples
from outputs.evaluation.writing import read_evaluation, write_evaluation
from outputs.report.page import GENERATOR, Page, ReportSection, Table, render_page
from outputs.report.wording import NOTHING
from quality.bootstrap import Resampling
from quality.evaluation.evaluation_record import read_record, write_record
from quality.evaluation.result_row import RESULTS, read_results
from quality.evaluation.scores import ClusteredEstimate, EvaluationScores, ModelComparison
from quality.evaluation.shown_items import ITEMS, ShownItem, read_items
from scenarios.errors import InputError, UsageError
from tests.outputs.evaluation.sample_evaluation import (
    CONVERSATION,
    CUMULATIVE,
    HOSTILE,
    LABELS,
    UTTERANCE,
    record,
    rows,
    write_sample,
)

XHTML = "{http://www.w3.org/1999/xhtml}"
QUICK = Resampling(resamples=50, seed=1)
MODES = (
    UTTERANCE,
    UTTERANCE.model_copy(update={"mode": "cot"}),
    UTTERANCE.model_copy(update={"mode": "icl", "draws": 3}),
    CUMULATIVE,
    CONVERSATION,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("evaluation") / "e", record(MODES))
    return write_evaluation(folder, "1.2.3", QUICK)


@pytest.fixture(scope="module")
def tree(written):
    return parsed(written.page.read_text(encoding="utf-8"))


def parsed(html):
    """Return the tree of a page that has no parse error."""
    parser = tinyhtml5.parser.HTMLParser()
    found = parser.parse(html)
    assert parser.errors == []
    return found


def words_of(element):
    return " ".join("".join(element.itertext()).split())


def section(tree, name):
    return next(e for e in tree.iter(f"{XHTML}section") if e.get("id") == name)


def table(tree, caption):
    """Return the rows of the first table of a caption by their first cell, the header under ''."""
    for found in tree.iter(f"{XHTML}table"):
        if words_of(found.find(f"{XHTML}caption")) == caption:
            head = [[words_of(cell) for cell in row] for row in found.find(f"{XHTML}thead")]
            body = [[words_of(cell) for cell in row] for row in found.find(f"{XHTML}tbody")]
            return {"": head[-1], **{row[0]: row[1:] for row in body}}
    raise AssertionError(f"no table {caption!r}")


def hand_made(tmp_path, given, right, **fields):
    """Write an evaluation of one model whose answers and right labels are listed."""
    one = record(
        (UTTERANCE.model_copy(update={"dimensions": ("intention",)}),), ["lab/m"], **fields
    )
    template = next(rows(one))
    folder = tmp_path / "hand"
    folder.mkdir()
    write_record(folder, one)
    with (folder / RESULTS).open("wb") as file:
        for number, (said, label) in enumerate(zip(given, right, strict=True)):
            row = template.model_copy(
                update={
                    "item": f"c{number}/a/4/utterance",
                    "case": f"c{number}",
                    "labels": {"intention": said},
                    "faults": {} if said else {"intention": "unreadable"},
                    "references": {"declared": {"intention": label}},
                    "right": {"declared": {"intention": said == label}},
                }
            )
            file.write(row.to_line())
    (folder / ITEMS).write_text("")
    return folder


def test_figures_known_by_hand_stand_on_the_page(tmp_path):
    # Right in 5 of 8. F1: Inform 2*3/(4+4), Convince 2*2/(2+3), Affect 0; their mean is .5167.
    right = ["Inform"] * 4 + ["Convince"] * 2 + ["Affect"] * 2
    given = ["Inform"] * 3 + ["Convince"] + ["Convince"] * 2 + ["Inform", None]
    page = write_evaluation(hand_made(tmp_path, given, right), "1", QUICK).page
    tree = parsed(page.read_text(encoding="utf-8"))
    board = table(tree, "Communicative intention, against declared labels")
    assert board["lab/m"][:4] == ["8", "62.5%a", "51.7%a", "+12.5a"]
    assert board["offline/majority (floor)"][:2] == ["8", "50.0% (always Inform)"]
    assert board["offline/random (floor)"][:2] == ["8", "25.0%"]
    assert "no interval: fewer than 10 items" in words_of(section(tree, "scores-1"))
    by_label = table(tree, "Communicative intention: F1 of each label, against declared labels")
    assert by_label[""] == ["model", *LABELS["intention"], "macro-F1", "balanced accuracy"]
    assert by_label["lab/m"] == ["75.0%a", "80.0%a", f"{NOTHING}b", "0.0%a", "51.7%a", "58.3%a"]
    assert by_label["right in"][:4] == ["4", "2", "0", "2"]
    assert "b neither right nor given anywhere" in words_of(section(tree, "labels"))
    counts = table(tree, "lab/m, Communicative intention: right against given")
    assert counts[""][-1] == "no label read"
    assert counts["Inform"] == ["3", "1", "0", "0", "0"]
    assert counts["Affect"] == ["1", "0", "0", "0", "1"]
    replies = table(tree, "What became of the questions")
    assert replies["lab/m"] == ["Communicative intention", "8", "7", "1", "0", "0", "0", "0"]


def test_imbalance_is_told_once_below_the_table_of_a_reference(tree):
    text = words_of(section(tree, "scores-2"))
    assert text.count("imbalance lifts accuracy by up to") == 4  # two dimensions, two references
    assert "balanced accuracy is" not in text


def test_both_references_stand_side_by_side_in_one_table_with_the_floors(tree):
    board = table(tree, "Communicative intention, against declared and agreed labels")
    assert board[""] == ["model", *(["items", "accuracy", "macro-F1", "above majority"] * 2)]
    assert list(board)[-2:] == ["offline/majority (floor)", "offline/random (floor)"]
    declared, agreed = int(board["lab/strong · cot"][0]), int(board["lab/strong · cot"][4])
    assert 0 < agreed < declared


def test_items_drawn_evenly_have_their_figures_balanced_and_reweighted(tmp_path):
    drawn = {"n": 12, "dimension": "goal", "seed": 1, "shares": dict.fromkeys(LABELS["goal"], 0.5)}
    folder = write_sample(tmp_path / "e", record((CONVERSATION,), drawn=drawn), cases=12)
    tree = parsed(write_evaluation(folder, "1", QUICK).page.read_text(encoding="utf-8"))
    assert "Items were drawn evenly over the classes of Goal (seed 1)" in words_of(
        section(tree, "overview")
    )
    board = section(tree, "scores-1").find(f".//{XHTML}table")
    assert words_of(board.find(f"{XHTML}caption")) == "Goal, against declared and agreed labels"
    spans = [words_of(e) for e in board.iter(f"{XHTML}th") if e.get("scope") == "colgroup"]
    assert spans == [
        "declared labels, balanced",
        "declared labels, reweighted",
        "agreed labels, balanced",
        "agreed labels, reweighted",
    ]


def test_models_in_the_making_of_the_set_are_marked_and_the_marks_are_explained(tree):
    board = table(tree, "Communicative intention, against declared and agreed labels")
    assert "offline/judge · icl † §" in board
    notices = words_of(tree.find(f".//{XHTML}header"))
    assert "† its own judge: this model's labels decided which labels are agreed." in notices
    assert "§ same grammar: a program that labels by rules" in notices
    assert "(offline/judge)" in notices


def test_a_program_is_not_called_of_the_same_grammar_on_a_set_that_a_model_wrote(tmp_path):
    folder = write_sample(
        tmp_path / "e", record((CONVERSATION,), offline=False, generators=["lab/writer"]), cases=12
    )
    text = write_evaluation(folder, "1", QUICK).page.read_text(encoding="utf-8")
    assert "same grammar" not in text
    assert "†" in text


def test_draws_of_examples_have_their_standard_deviation(tree):
    board = table(tree, "Communicative intention, against declared and agreed labels")
    assert re.fullmatch(r"[\d.]+% \[\d+.\d+\] \(SD [\d.]+\)", board["lab/strong · icl"][1])
    assert "SD" not in board["lab/strong · cot"][1]
    assert "icl, 3 draws of examples" in words_of(section(tree, "overview"))


def test_every_caption_of_figures_names_its_reference(tree):
    captions = [words_of(e) for e in tree.iter(f"{XHTML}caption")]
    free = ("Tasks", "By model", "What became", "Accuracy on", "The same question")
    of_figures = [
        c for c in captions
        if not c.startswith(free) and "place among the options" not in c
        and "right against given" not in c
    ]  # fmt: skip
    assert len(of_figures) > 20
    assert [c for c in of_figures if "labels" not in c] == []


def test_parts_turns_and_positions_are_there(tree):
    by_goal = table(tree, "Goal by category, against declared labels")
    assert by_goal[""] == ["model", "accuracy", "macro-F1", "accuracy", "macro-F1"]
    assert "Communicative intention by turn, against declared labels" in words_of(
        section(tree, "breakdowns")
    )
    place = table(tree, "Communicative intention: given labels by their place among the options")
    assert place[""] == ["model", *(f"option {n}" for n in (1, 2, 3, 4))]
    titles = [words_of(e) for e in section(tree, "unfolding").iter(f"{XHTML}figcaption")]
    assert titles[:3] == [f"Communicative intention, {m}" for m in ("zero-shot", "cot", "icl")]


def test_the_cost_of_a_model_without_prices_is_a_dash_with_its_reason(tree):
    cost = table(tree, "By model")
    assert cost["lab/strong"] == ["300", "120,000", "9,000", "$0.3100"]
    assert cost["offline/judge"][-1] == f"{NOTHING}a"
    assert "a no prices are known for this model" in words_of(section(tree, "cost"))


def test_ten_items_are_shown_with_replies_half_of_them_with_a_wrong_one(tree):
    shown = section(tree, "examples").findall(f"{XHTML}details")
    assert len(shown) == 10
    wrong = ["✗ wrong" in words_of(one) for one in shown]
    assert sum(wrong) == 5
    assert all("Private fact: It has hit a rail." in words_of(one) for one in shown)
    assert all(words_of(one).count("because I say so") in {3, 9} for one in shown)


def test_the_same_rows_give_the_same_page_whatever_their_order(tmp_path):
    one = record((CONVERSATION,))
    folder = write_sample(tmp_path / "e", one, cases=12)
    first = write_evaluation(folder, "1", QUICK).page.read_bytes()
    lines = (folder / RESULTS).read_bytes().splitlines(keepends=True)
    (folder / RESULTS).write_bytes(b"".join(reversed(lines)))
    assert write_evaluation(folder, "1", QUICK).page.read_bytes() == first


def test_examples_prefer_scenarios_that_were_not_shown_yet():
    found = list(rows(record((CONVERSATION,), ["lab/strong"]), cases=36))
    items = {row.item: ShownItem(item=row.item, lines=(("a", "b"),)) for row in found}
    chosen = chosen_examples(found, items, limit=10)
    wrong = [mine[0].scenario for _, mine in chosen if not mine[0].right["declared"]["goal"]]
    right = [mine[0].scenario for _, mine in chosen if mine[0].right["declared"]["goal"]]
    assert len(wrong) + len(right) == 10
    assert len(set(wrong)) == len(wrong)
    assert len(set(right)) == len(right)


def test_words_labels_names_and_replies_stay_text(tmp_path):
    evil = f"Inform {HOSTILE}"
    labels = {**LABELS, "goal": (evil, f"<b>{HOSTILE}</b>")}
    one = record((CONVERSATION,), [f"lab/{HOSTILE}", "lab/m"], labels=labels, titles={"goal": evil})
    hostile = CONVERSATION.model_copy(update={"title": evil, "history": evil})
    one = one.model_copy(update={"tasks": (hostile,), "name": evil})
    folder = write_sample(tmp_path / "e", one, cases=12, words=HOSTILE)
    found = write_evaluation(folder, "1", QUICK)
    tree = parsed(found.page.read_text(encoding="utf-8"))
    tags = {element.tag.removeprefix(XHTML).rpartition("}")[2] for element in tree.iter()}
    assert tags.isdisjoint({"script", "img", "b", "iframe", "object"})
    assert not [e for e in tree.iter() for name in e.attrib if name.startswith("on")]
    assert words_of(tree).count("onerror=alert(1)") > 20
    for plot in found.plots:
        assert plot.parent == folder / "plots"
        drawn = plot.read_text(encoding="utf-8")
        assert "<img" not in drawn
        assert "<script" not in drawn


def test_scores_are_kept_and_read_again_without_computing(written, monkeypatch):
    plain = json.loads(written.scores.read_text(encoding="utf-8"))
    assert EvaluationScores.from_dict(plain) == written.evaluated.scores
    monkeypatch.setattr(
        "outputs.evaluation.writing.score_results", lambda *_: pytest.fail("computed anew")
    )
    again = read_evaluation(written.page.parent)
    assert again.scores == written.evaluated.scores
    assert again.marks == written.evaluated.marks


def test_figures_older_than_their_rows_are_computed_anew(tmp_path):
    folder = hand_made(tmp_path, ["Inform"] * 2, ["Inform"] * 2)
    write_evaluation(folder, "1", QUICK)
    assert read_evaluation(folder).scores.scores[0].accuracy.value == 1.0
    lines = (folder / RESULTS).read_bytes()
    (folder / RESULTS).write_bytes(
        lines.replace(b'"labels":{"intention":"Inform"}', b'"labels":{"intention":"Affect"}')
    )
    stale = (folder / "scores.json").stat().st_mtime_ns
    os.utime(folder / RESULTS, ns=(stale + 10**9, stale + 10**9))
    assert read_evaluation(folder).scores.scores[0].accuracy.value == 0.0


def test_damaged_scores_are_told_with_the_command_that_mends_them(tmp_path):
    folder = hand_made(tmp_path, ["Inform"] * 2, ["Inform"] * 2)
    write_evaluation(folder, "1", QUICK)
    (folder / "scores.json").write_text("{")
    with pytest.raises(InputError, match="hipo evaluate report"):
        read_evaluation(folder)


def test_pictures_lie_beside_the_page_each_under_a_name_of_its_own(written):
    names = [path.name for path in written.plots]
    assert len({name.lower() for name in names}) == len(names)
    assert sorted(path.name for path in (written.page.parent / "plots").iterdir()) == sorted(names)
    assert "accuracy-hipo_utterance-intention.svg" in {n.replace("hipo-", "hipo_") for n in names}
    assert sum(name.startswith("by_turn") for name in names) == 2 * 3 + 2
    # three models, five tasks by mode: four about two dimensions, and two references of each
    assert sum(name.startswith("confusion") for name in names) == 3 * (4 * 2 + 1) * 2
    drawn = written.plots[0].read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in drawn
    assert "background: var(--paper)" in drawn


def test_pictures_of_a_model_that_is_gone_go_away_with_it(tmp_path):
    folder = write_sample(tmp_path / "e", record((CONVERSATION,)), cases=12)
    before = len(write_evaluation(folder, "1", QUICK).plots)
    write_sample(folder, record((CONVERSATION,), ["lab/strong"]), cases=12)
    after = write_evaluation(folder, "1", QUICK).plots
    assert len(after) < before
    assert sorted((folder / "plots").iterdir()) == sorted(after)


def test_results_of_another_set_are_refused_by_line(tmp_path):
    folder = write_sample(tmp_path / "e", record((CONVERSATION,)), cases=12)
    other = next(read_results(folder)).model_copy(update={"set": "0ther"})
    with (folder / RESULTS).open("ab") as file:
        file.write(other.to_line())
    with pytest.raises(UsageError, match=r"results\.jsonl:37: is about another set: .*0ther"):
        write_evaluation(folder, "1", QUICK)
    assert not (folder / "index.html").exists()


def test_an_answer_that_stands_there_twice_is_refused_and_not_counted_twice(tmp_path):
    folder = write_sample(tmp_path / "e", record((CONVERSATION,)), cases=12)
    again = next(read_results(folder))
    with (folder / RESULTS).open("ab") as file:
        file.write(again.to_line())
    with pytest.raises(UsageError, match=rf"results\.jsonl:37: the answer of {again.model} about"):
        write_evaluation(folder, "1", QUICK)
    assert not (folder / "index.html").exists()


def test_damaged_results_are_told_with_their_line(tmp_path):
    folder = write_sample(tmp_path / "e", record((CONVERSATION,)), cases=12)
    with (folder / RESULTS).open("ab") as file:
        file.write(b'{"item": "x"\n')
    with pytest.raises(InputError, match=r"results\.jsonl:37"):
        write_evaluation(folder, "1", QUICK)


def test_no_answer_at_all_still_makes_a_page(tmp_path):
    folder = write_sample(tmp_path / "e", record((CONVERSATION,)), cases=0)
    page = write_evaluation(folder, "1", QUICK).page.read_text(encoding="utf-8")
    parsed(page)
    assert GENERATOR in page
    assert list(read_items(folder)) == []
    assert read_record(folder).name == "sample"


PAIR = ModelComparison(
    reference="declared",
    task="t",
    mode="zero-shot",
    dimension="d",
    first="a",
    second="b",
    n=9,
    cases=9,
    left_out=0,
    accuracy=ClusteredEstimate(0.1),
    macro_f1=ClusteredEstimate(0.1),
    p=0.2,
    exact=True,
    p_holm=0.2,
)


def pair(first, second, p):
    fields = {name: getattr(PAIR, name) for name in PAIR.__dataclass_fields__}
    return ModelComparison(**fields | {"first": first, "second": second, "p_holm": p})


NOT_APART = (
    "nothing can be told apart. No two of the 3 models differ in accuracy beyond chance "
    "(smallest adjusted p 0.060)."
)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            [("a", "b", 0.2), ("a", "c", 0.06), ("b", "c", 0.9)],
            NOT_APART,
        ),
        (
            [("a", "b", 0.01), ("a", "c", 0.0001), ("b", "c", 0.9)],
            "a has the highest accuracy (80.0%) and is ahead of b and c (adjusted p at most 0.010).",
        ),
        (
            [("a", "b", 0.2), ("a", "c", 0.01), ("b", "c", 0.01)],
            "a has the highest accuracy (80.0%) and is ahead of c, but cannot be told apart from b.",
        ),
        (
            [("a", "b", 0.2), ("a", "c", 0.2), ("b", "c", 0.01)],
            "a has the highest accuracy (80.0%), but cannot be told apart from b and c.",
        ),
        ([("a", "b", None)], "too few cases to tell models apart."),
    ],
)
def test_only_what_differs_beyond_chance_is_called_ahead(pairs, said):
    accuracy = {"a": 0.8, "b": 0.7, "c": 0.6}
    assert ahead_in_words(accuracy, [pair(*one) for one in pairs]) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.0449, "+4.5"), (-0.0449, "\u22124.5"), (-0.0001, "0.0")]
)
def test_differences_are_written_in_points_with_their_sign(value, said):
    assert points(value) == said


def test_reasons_are_told_once_each_by_letter_and_columns_may_share_a_heading():
    found = Table(
        "c", ("m", "x", "y"), (("a", NOTHING, NOTHING), ("b", "1", NOTHING)),
        reasons={(0, 1): "<i>few</i>", (0, 2): "none", (1, 2): "<i>few</i>"},
        spans=(("", 1), ("both", 2)),
    )  # fmt: skip
    assert found.lettered == {"<i>few</i>": "a", "none": "b"}
    tree = parsed(render_page(Page("t", "s", (), (ReportSection("x", "X", "", (found,)),))))
    assert table(tree, "c") == {
        "": ["m", "x", "y"],
        "a": [f"{NOTHING}a", f"{NOTHING}b"],
        "b": ["1", f"{NOTHING}a"],
    }
    assert "a <i>few</i> b none" in words_of(tree)
    heads = [e for e in tree.iter(f"{XHTML}th") if e.get("scope") == "colgroup"]
    assert [(words_of(e), e.get("colspan")) for e in heads] == [("both", "2")]
