"""The page about an evaluation: known figures stand where they belong, and texts stay texts."""

from __future__ import annotations

import re
from weakref import WeakValueDictionary

from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.replies import replies_section
from outputs.evaluation.shown_examples import chosen_examples
from outputs.evaluation.writing import write_evaluation
from outputs.report.wording import NOTHING
from quality.evaluation.scoring_results import score_results
from quality.evaluation.shown_items import ShownItem
from tests.outputs.evaluation.evaluation_page import QUICK, hand_made, table
from tests.outputs.evaluation.sample_evaluation import (
    CONVERSATION,
    HOSTILE,
    LABELS,
    record,
    rows,
    write_sample,
)
from tests.outputs.evaluation.test_own_results import by_hand
from tests.outputs.html_tree import XHTML, parsed, section, words_of


def test_figures_known_by_hand_stand_on_the_page(tmp_path):
    # Right in 5 of 8. F1: Inform 2*3/(4+4), Convince 2*2/(2+3), Affect 0; their mean is .5167.
    right = ["Inform"] * 4 + ["Convince"] * 2 + ["Affect"] * 2
    given = ["Inform"] * 3 + ["Convince"] + ["Convince"] * 2 + ["Inform", None]
    page = write_evaluation(hand_made(tmp_path, given, right), "1", QUICK).page
    tree = parsed(page.read_text(encoding="utf-8"))
    assert "Figures of sample ·" in words_of(tree)
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
    assert replies["lab/m"] == ["Communicative intention", "8", "7", "1", *"000000"]


def test_how_a_model_was_asked_is_not_told_where_no_record_says_it(tmp_path):
    page = write_evaluation(hand_made(tmp_path, ["Inform"], ["Inform"]), "1", QUICK).page
    asked = table(parsed(page.read_text(encoding="utf-8")), "Models, and how they were asked")
    assert {cell.rstrip("a") for cell in asked["lab/m"]} == {NOTHING}


def test_what_was_not_asked_yet_is_no_question_about_a_label_that_few_items_have():
    made, found = by_hand({"a": (0, 1, 0, 0)})
    planned = {(CONVERSATION.id, CONVERSATION.mode): 300}  # of which few have a right label
    scores = score_results(found, made.set.labels, planned=planned, how=QUICK)
    (fold, *_) = replies_section(Evaluated(made, scores)).blocks
    (told,) = fold.blocks[0].rows
    cells = dict(zip(fold.blocks[0].header, map(str, told), strict=True))
    assert (cells["questions"], cells["read"], cells["not asked yet"]) == ("4", "4", "296")


def test_words_that_are_no_labels_stand_there_with_what_they_were_read_as(tree):
    shown = table(tree, "Words that are no labels, and as what they were read")
    assert shown[""] == ["dimension", "written", "read as", "answers", "of whom"]
    written, read, answers, models = shown["Veracity strategy"]
    assert (written, read) == ("no such label", f"{NOTHING}a")
    found = re.findall(r"(\d+)(?=,|$)", models)
    assert sum(map(int, found)) == int(answers) > 0


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


def test_of_imported_dialogues_it_is_said_that_nobody_knows_who_wrote_them(tmp_path):
    folder = write_sample(
        tmp_path / "e", record((CONVERSATION,), offline=False, generators=["unknown"]), cases=12
    )
    text = write_evaluation(folder, "1", QUICK).page.read_text(encoding="utf-8")
    assert "; it is not known who wrote them." in text
    assert "written by unknown" not in text


def test_draws_of_examples_have_their_standard_deviation(tree):
    board = table(tree, "Communicative intention, against declared and agreed labels")
    assert re.fullmatch(r"[\d.]+% \[\d+.\d+\] \(SD [\d.]+\)", board["lab/strong · icl"][1])
    assert "SD" not in board["lab/strong · cot"][1]
    assert "icl, 3 draws of examples" in words_of(section(tree, "overview"))


def test_what_a_mode_adds_to_another_stands_there_for_every_model(tree):
    modes = section(tree, "modes")
    cells = [words_of(e) for e in modes.iter(f"{XHTML}td")]
    assert {"cot less zero-shot", "icl less zero-shot", "icl less cot"} <= set(cells)
    pairs = words_of(section(tree, "comparisons"))
    assert "less zero-shot" not in pairs


def test_every_caption_of_figures_names_its_reference(tree):
    captions = [words_of(e) for e in tree.iter(f"{XHTML}caption")]
    free = (
        "Tasks",
        "Models, and how",
        "By model",
        "What became",
        "Accuracy on",
        "The same question",
    )
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


def test_examples_prefer_scenarios_that_were_not_shown_yet():
    found = list(rows(record((CONVERSATION,), ["lab/strong"]), cases=36))
    items = [ShownItem(item=row.item, lines=(("a", "b"),)) for row in found]
    chosen = chosen_examples(found, lambda: items, limit=10)
    wrong = [mine[0].scenario for _, mine in chosen if not mine[0].right["declared"]["goal"]]
    right = [mine[0].scenario for _, mine in chosen if mine[0].right["declared"]["goal"]]
    assert len(wrong) + len(right) == 10
    assert len(set(wrong)) == len(wrong)
    assert len(set(right)) == len(right)


def test_of_many_items_those_that_are_shown_alone_are_held_while_examples_are_chosen():
    found = list(rows(record((CONVERSATION,), ["lab/strong"]), cases=36))
    held, most = WeakValueDictionary(), []

    def read():
        for number, row in enumerate(found):
            held[number] = item = ShownItem(item=row.item, lines=(("a", "b"),))
            yield item
            del item
            most.append(len(held))

    chosen = chosen_examples(found, read, limit=10)
    assert len(found) > 20
    assert len(chosen) == len(held) == 10
    assert max(most) <= 11


def test_rows_whose_item_is_not_there_are_not_shown():
    found = list(rows(record((CONVERSATION,), ["lab/strong"]), cases=36))
    items = [ShownItem(item=row.item, lines=(("a", "b"),)) for row in found[:4]]
    chosen = chosen_examples(found, lambda: items, limit=10)
    assert {item.item for item, _ in chosen} == {row.item for row in found[:4]}


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
