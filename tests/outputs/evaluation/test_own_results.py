"""Tables of one's own results: in one table with the printed ones only where that is right."""

from __future__ import annotations

import csv
import io

import pytest

from outputs.evaluation.before_after import is_same_model
from outputs.evaluation.beside_paper import beside_paper
from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.own_results import own_results
from outputs.evaluation.result_lines import same_items
from outputs.evaluation.writing import score_evaluation
from outputs.result_tables.documents import results_as_csv, results_as_html, results_as_markdown
from outputs.result_tables.marks import result_marks
from outputs.result_tables.paper import paper_results
from quality.evaluation.evaluation_record import EvaluatedModel
from quality.evaluation.people import PEOPLE
from quality.evaluation.scoring_results import score_results
from quality.statistics.bootstrap import Resampling
from tests.outputs.evaluation.sample_evaluation import (
    CONVERSATION,
    CUMULATIVE,
    LABELS,
    UTTERANCE,
    record,
    rows,
    write_sample,
)

QUICK = Resampling(resamples=20, seed=1)
PAPER = UTTERANCE.model_copy(
    update={"id": "hipo-utterance-paper", "dimensions": ("intention", "goal")}
)
AS_PRINTED = {
    "recipe": "hipo-paper",
    "scheme": "hipo@1",
    "openings": {"by-goal": 8, "shared": 0},
    "offline": False,
    "generators": ("lab/writer",),
}


def evaluated(tasks=(CONVERSATION,), models=("lab/strong", "offline/judge"), cases=12, **fields):
    """Return an evaluation of some models on some tasks, computed without files."""
    made = record(tasks, models, **fields)
    found = list(rows(made, cases=cases))
    scores = score_results(found, made.set.labels, how=QUICK)
    return Evaluated(made, scores, marks={"offline/judge": ("its own judge", "same grammar")})


def by_hand(given):
    """Return an evaluation whose models gave the listed goals; the first label is always right."""
    made = record((CONVERSATION,), list(given))
    template = next(rows(made))
    found = [
        template.model_copy(
            update={
                "item": f"c{number}/a/conversation",
                "case": f"c{number}",
                "model": model,
                "labels": {"goal": LABELS["goal"][place]},
                "references": {"declared": {"goal": LABELS["goal"][number % 2]}},
                "right": {},
            }
        )
        for model, places in given.items()
        for number, place in enumerate(places)
    ]
    return made, found


def test_known_figures_stand_in_the_table():
    # Right labels alternate: 0 1 0 1. All 0: accuracy 1/2, F1 2/3 and 0. Then right in 3 of 4.
    made, found = by_hand({"a": (0, 0, 0, 0), "b": (0, 1, 0, 0)})
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    (table,) = own_results([one]).tables
    assert [(row.name, row.kind) for row in table.rows] == [
        ("a", "model"),
        ("b", "model"),
        ("Average of the 2", "average"),
        ("offline/majority (floor)", "floor"),
        ("offline/random (floor)", "floor"),
    ]
    written = [[table.written(value) for value in row.values] for row in table.rows]
    assert written[0] == ["50.0", "33.3"]
    assert written[1] == ["75.0", "73.3"]  # F1 4/5 and 2/3
    assert written[2] == ["62.5", "53.3"]
    assert written[3:] == [["50.0", "33.3"], ["50.0", "50.0"]]


def test_references_of_a_model_follow_each_other_and_notes_say_what_they_rest_on():
    (table,) = own_results([evaluated()]).tables
    assert [(row.name, row.reference) for row in table.rows[:4]] == [
        ("lab/strong", "declared"),
        ("lab/strong", "agreed"),
        ("offline/judge † §", "declared"),
        ("offline/judge † §", "agreed"),
    ]
    notes = " ".join(table.notes)
    assert "Whole conversations, goal, declared labels: 12 items of 12 cases;" in notes
    assert "imbalance lifts accuracy by up to" in notes
    assert "† its own judge" in notes


def test_a_model_that_was_asked_about_few_items_is_told_apart_from_those_asked_about_all():
    made, found = by_hand({"a": (0, 1) * 10, "b": (1, 0) * 10, "c": (0, 1) * 2})
    planned = {(CONVERSATION.id, CONVERSATION.mode): 20}
    how = Resampling(resamples=200, seed=1)
    scores = score_results(found, made.set.labels, planned=planned, how=how)
    (table,) = own_results([Evaluated(made, scores)]).tables
    average = next(row for row in table.rows if row.kind == "average")
    assert (average.name, average.values[0]) == ("Average of the 2", 50.0)
    notes = " ".join(table.notes)
    assert "c: 4 items of 4 cases; 16 answers of the task have not been asked for yet" in notes
    assert "a, b: 20 items of 20 cases" in notes
    assert "a has the highest accuracy (100.0%) and is ahead of b (adjusted p" in notes
    assert "declared labels and" not in notes


def test_what_is_the_same_against_two_references_is_said_once():
    made, found = by_hand({"a": (0, 1, 0, 0)})
    both = [
        row.model_copy(
            update={"references": {**row.references, "agreed": row.references["declared"]}}
        )
        for row in found
    ]
    scores = score_results(both, made.set.labels, how=QUICK)
    (table,) = own_results([Evaluated(made, scores)]).tables
    (said,) = [note for note in table.notes if "4 items of 4 cases" in note]
    assert said.startswith("Whole conversations, goal, declared labels and agreed labels: ")


def test_evaluations_of_the_same_items_stand_in_one_table_and_of_others_do_not():
    one, two = evaluated(models=["lab/strong"]), evaluated(models=["offline/judge", "lab/strong"])
    other = evaluated(fingerprint="0ther")
    assert [len(group) for group in same_items([one, other, two])] == [2, 1]
    first, second = own_results([one, other, two]).tables
    names = list(dict.fromkeys(row.name for row in first.rows if row.kind == "model"))
    assert names == ["lab/strong", "offline/judge † §", "lab/strong (sample)"]
    assert len({row.name for row in second.rows if row.kind == "model"}) == 2


def test_a_model_called_like_a_floor_is_told_from_it():
    (table,) = own_results([evaluated(models=["offline/random"])]).tables
    kinds = {row.name: row.kind for row in table.rows}
    assert (kinds["offline/random"], kinds["offline/random (floor)"]) == ("model", "floor")


def test_names_of_others_are_no_formulas_in_a_table_for_spreadsheets():
    made, found = by_hand({"lab/one": (0, 1, 0, 0)})
    named = made.set.model_copy(update={"name": '=HYPERLINK("//evil")'})
    one = Evaluated(
        made.model_copy(update={"set": named}), score_results(found, named.labels, how=QUICK)
    )
    cells = list(csv.DictReader(io.StringIO(results_as_csv([own_results([one])]))))
    assert {row["source"] for row in cells} == {'\'=HYPERLINK("//evil") (hipo@2)'}


def test_rows_have_the_intervals_of_their_scores_and_say_what_is_drawn():
    one = evaluated(models=["lab/strong", "lab/other"])
    (table,) = own_results([one]).tables
    score = next(s for s in one.scores.scores if s.model == "lab/strong")
    drawn = {"scenarios": score.accuracy.by_scenario, "cases": score.accuracy.by_case}
    bounds = drawn[table.drawn]
    assert table.rows[0].intervals[0] == (100 * bounds.low, 100 * bounds.high)
    declared = [row for row in table.rows if row.reference == "declared"]
    assert {row.kind for row in declared if not any(row.intervals)} == {"average", "floor"}
    shown = (
        f"{100 * score.accuracy.value:.1f} \\[{100 * bounds.low:.1f}, {100 * bounds.high:.1f}\\]"
    )
    assert shown in results_as_markdown([own_results([one])])
    cells = csv.DictReader(io.StringIO(results_as_csv([own_results([one])])))
    first = next(cells)
    assert (first["low"], first["high"], first["drawn"]) == (
        f"{100 * bounds.low:.1f}", f"{100 * bounds.high:.1f}", table.drawn,
    )  # fmt: skip
    assert any("narrow" in note for note in table.notes)
    assert any("cannot be told apart" in n or "can be told apart" in n or "ahead" in n
               for n in table.notes[1:])  # fmt: skip


def test_figures_of_one_scenario_have_intervals_over_cases_and_claim_no_more():
    made = record((CONVERSATION,), ["lab/strong"])
    found = [row.model_copy(update={"scenario": "one"}) for row in rows(made, cases=12)]
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    (table,) = own_results([one]).tables
    assert table.drawn == "cases"
    assert table.rows[0].intervals[0] is not None
    assert any("nothing of other scenarios" in note for note in table.notes)


def test_a_table_of_too_few_items_for_intervals_speaks_of_none():
    made = record((CONVERSATION,), ["lab/strong"])
    few = Evaluated(made, score_results(rows(made, cases=4), made.set.labels, how=QUICK))
    (table,) = own_results([few]).tables
    assert not any(any(row.intervals) for row in table.rows)
    assert "In brackets" not in results_as_markdown([own_results([few])])
    assert "In brackets" in results_as_markdown([own_results([evaluated()])])


def test_modes_are_named_where_there_are_several():
    cot = CONVERSATION.model_copy(update={"mode": "cot"})
    (several,) = own_results([evaluated((CONVERSATION, cot))]).tables
    assert {row.mode for row in several.rows if row.kind == "model"} == {"zero-shot", "cot"}
    (one,) = own_results([evaluated()]).tables
    assert {row.mode for row in one.rows} == {""}
    assert one.title == "accuracy and macro-F1, zero-shot"


@pytest.mark.parametrize("base", ["models/tiny", "hf/models/tiny"])
def test_a_base_model_and_its_adapter_stand_in_the_shape_of_table_three(base):
    made, found = by_hand({"hf/models/tiny": (0, 0, 0, 0), "hf/out/adapter": (0, 1, 0, 0)})
    tuned = EvaluatedModel(name="hf/out/adapter", base=base)
    made = made.model_copy(update={"models": (EvaluatedModel(name="hf/models/tiny"), tuned)})
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    _, table = own_results([one]).tables
    assert [(row.kind, row.name, row.base, row.values) for row in table.rows] == [
        ("model", "hf/models/tiny", "", (50.0,)),
        ("tuned", "hf/out/adapter", "hf/models/tiny", (75.0,)),
    ]
    assert result_marks(table) == {(1, 0): "up"}
    assert table.id == "tuned-1-declared"
    assert "75.0↑" in results_as_markdown([own_results([one])])


def test_before_and_after_stand_with_their_intervals():
    made, found = by_hand(
        {"hf/models/tiny": (0,) * 16, "hf/out/adapter": (0, 1, 0, 1) * 3 + (0,) * 4}
    )
    tuned = EvaluatedModel(name="hf/out/adapter", base="models/tiny")
    made = made.model_copy(update={"models": (EvaluatedModel(name="hf/models/tiny"), tuned)})
    few = [
        row
        for row in found
        if row.model == "hf/models/tiny" or row.item in {x.item for x in found[:4]}
    ]
    planned = {(CONVERSATION.id, CONVERSATION.mode): 16}
    partly = score_results(few, made.set.labels, planned=planned, how=QUICK)
    assert len(own_results([Evaluated(made, partly)]).tables) == 1, "of other items no arrow tells"
    one = Evaluated(made, score_results(found, made.set.labels, planned=planned, how=QUICK))
    _, table = own_results([one]).tables
    intervals = {s.model: s.accuracy.by_case for s in one.scores.scores}
    assert table.drawn == "cases"  # all items are of one scenario
    assert [row.intervals for row in table.rows] == [
        ((100 * bounds.low, 100 * bounds.high),)
        for bounds in map(intervals.get, ("hf/models/tiny", "hf/out/adapter"))
    ]


@pytest.mark.parametrize(
    ("name", "base", "same"),
    [
        ("hf//models/tiny", "/models/tiny/", True),
        ("hf//models/tiny", "/models/tiny/q8.gguf", True),
        ("hf//models/tiny/q8.gguf", "/models/tiny", True),
        ("hf//models/tiny/q8.gguf", "/models/tiny/q4.gguf", False),
        ("hf/org/tiny", "org/tiny", True),
        ("hf/org/tiny", "org/tiny-2", False),
        ("openai/org/tiny", "org/tiny", False),
    ],
)
def test_a_base_is_known_by_path_and_by_id(name, base, same):
    assert is_same_model(name, base) is same


def test_an_adapter_whose_base_was_not_evaluated_has_no_such_table():
    made, found = by_hand({"hf/out/adapter": (0, 1, 0, 0)})
    made = made.model_copy(update={"models": (EvaluatedModel(name="hf/out/adapter", base="x"),)})
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    assert [table.id for table in own_results([one]).tables] == ["own-1"]


def test_people_are_rows_of_a_table_of_the_same_items_and_of_no_other():
    made = record((CONVERSATION,), ["lab/strong"])
    found = list(rows(made, cases=12))
    people = [
        row.model_copy(update={"model": PEOPLE, "draw": draw, "marks": ()})
        for row in found
        for draw in (0, 1)
    ]
    scores = score_results([*found, *people], made.set.labels, how=QUICK)
    block = own_results([evaluated()], among_people=[Evaluated(made, scores)])
    own, beside = block.tables
    assert "human" not in {row.kind for row in own.rows}
    assert [row.kind for row in beside.rows] == ["model"] * 2 + ["human"] * 2 + ["floor"] * 4
    assert beside.title.endswith("on the items that people answered, too")


@pytest.mark.parametrize(
    "changed",
    [
        {"recipe": None},
        {"offline": True},
        {"recipe": "demo"},
        {"scheme": "hipo@2"},
        {"openings": {"by-goal": 8, "shared": 1}},
        {"openings": {"shared": 8}},
        {"openings": {}},
    ],
)
def test_no_corpus_but_one_made_as_the_papers_stands_in_a_table_with_it(changed):
    one = evaluated((PAPER,), **AS_PRINTED | changed)
    assert beside_paper([one], paper_results()) is None


def test_cumulative_figures_beside_the_papers_are_those_of_one_question_a_dimension():
    as_paper = CUMULATIVE.model_copy(update={"id": "hipo-cumulative-paper"})
    one = evaluated((CUMULATIVE, as_paper), models=["lab/strong"], **AS_PRINTED)
    table = beside_paper([one], paper_results())
    assert table is not None
    own = dict(zip(table.columns, table.rows[-1].values, strict=True))
    (column,) = [
        c for c in table.columns
        if (c.task, c.dimension, c.metric) == ("cumulative", "veracity", "accuracy")
    ]  # fmt: skip
    right = {s.task: s.accuracy.value for s in one.scores.scores
             if (s.dimension, s.reference) == ("veracity", "declared")}  # fmt: skip
    assert right["hipo-cumulative"] != right["hipo-cumulative-paper"]
    assert own[column] == pytest.approx(100 * right["hipo-cumulative-paper"])


def test_a_corpus_made_as_the_papers_stands_below_it_without_a_macro_f1_of_the_goal():
    one = evaluated((PAPER, CUMULATIVE, CONVERSATION), **AS_PRINTED)
    table = beside_paper([one], paper_results())
    assert table is not None
    printed = paper_results().tables[0]
    assert table.rows[: len(printed.rows)] == printed.rows
    own = table.rows[len(printed.rows) :]
    assert [(row.name, row.kind) for row in own] == [
        ("lab/strong", "own"),
        ("offline/judge † §", "own"),
    ]
    filled = {
        f"{column.task} {column.dimension} {column.metric}"
        for column, value in zip(table.columns, own[0].values, strict=True)
        if value is not None
    }
    assert filled == {
        "utterance intention accuracy",
        "utterance intention F1",
        "utterance goal accuracy",
        "cumulative veracity accuracy",
        "cumulative veracity F1",
        "cumulative intention accuracy",
        "cumulative intention F1",
        "conversation goal accuracy",
    }
    stands = {
        f"{column.task} {column.dimension} {column.metric}"
        for place, column in enumerate(table.columns)
        if own[0].bounds(place) is not None
    }
    assert stands == filled
    assert not any(row.intervals for row in printed.rows)
    assert table.drawn == "scenarios"
    marks = result_marks(table)
    assert marks == result_marks(printed)
    assert any("no mean over its two labels" in note for note in table.notes)


def test_only_zero_shot_rows_stand_beside_the_printed_ones():
    cot = CONVERSATION.model_copy(update={"mode": "cot"})
    assert beside_paper([evaluated((cot,), **AS_PRINTED)], paper_results()) is None


def test_blocks_stand_one_after_the_other_each_under_its_headline():
    blocks = [own_results([evaluated()]), paper_results()]
    markdown = results_as_markdown(blocks)
    own = markdown.index("# This corpus: these items\n")
    assert own == 0 < markdown.index("\n# Published results: other items, other labels\n")
    html = results_as_html(blocks)
    assert html.index("<h1>This corpus: these items</h1>") < html.index(
        "Published results: other items, other labels</h2>"
    )
    assert html.index("the two cannot be compared") > html.index("Published results")
    found = list(csv.DictReader(io.StringIO(results_as_csv(blocks), newline="")))
    items = [row["items"] for row in found]
    assert items == sorted(items, key=lambda name: name != "these items")
    assert {row["reference"] for row in found if row["items"] == "these items"} == {
        "declared",
        "agreed",
    }


def test_names_of_models_are_text_in_every_format(tmp_path):
    folder = write_sample(tmp_path / "e", record((CONVERSATION,), ["lab/<b>|x"]), cases=12)
    blocks = [own_results([score_evaluation(folder, QUICK)])]
    assert "lab/<b>" not in results_as_html(blocks)
    assert "lab/&lt;b&gt;\\|x" in results_as_markdown(blocks)
    assert "lab/<b>|x" in results_as_csv(blocks)
