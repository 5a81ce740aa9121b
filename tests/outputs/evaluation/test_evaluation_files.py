"""The files of an evaluation: written of its rows, kept, and made anew when the rows are others."""

from __future__ import annotations

import json
import os

import pytest

from outputs.evaluation.writing import read_evaluation, write_evaluation
from outputs.report.page import GENERATOR
from quality.evaluation.evaluation_record import read_record
from quality.evaluation.result_row import RESULTS, read_results
from quality.evaluation.scores import EvaluationScores
from quality.evaluation.shown_items import read_items
from scenarios.errors import InputError, UsageError
from tests.outputs.evaluation.evaluation_page import QUICK, hand_made
from tests.outputs.evaluation.sample_evaluation import CONVERSATION, record, write_sample
from tests.outputs.html_tree import parsed


def test_the_same_rows_give_the_same_page_whatever_their_order(tmp_path):
    one = record((CONVERSATION,))
    folder = write_sample(tmp_path / "e", one, cases=12)
    first = write_evaluation(folder, "1", QUICK).page.read_bytes()
    lines = (folder / RESULTS).read_bytes().splitlines(keepends=True)
    (folder / RESULTS).write_bytes(b"".join(reversed(lines)))
    assert write_evaluation(folder, "1", QUICK).page.read_bytes() == first


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


def test_pictures_are_not_written_to_where_a_link_leads(tmp_path):
    folder = hand_made(tmp_path, ["Inform"] * 2, ["Inform"] * 2)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.svg").write_text("mine")
    (folder / "plots").symlink_to(elsewhere)
    assert write_evaluation(folder, "1", QUICK).plots
    assert [path.name for path in elsewhere.iterdir()] == ["mine.svg"]
    assert any((folder / "plots").iterdir())
    assert not (folder / "plots").is_symlink()


def test_pictures_lie_beside_the_page_each_under_a_name_of_its_own(written):
    names = [path.name for path in written.plots]
    assert len({name.lower() for name in names}) == len(names)
    assert sorted(path.name for path in (written.page.parent / "plots").iterdir()) == sorted(names)
    assert "accuracy-hipo_utterance-intention.svg" in {n.replace("hipo-", "hipo_") for n in names}
    assert sum(name.startswith("by_turn") for name in names) == 2 * 3 + 2
    # three models and all of them, five tasks by mode: four about two dimensions; two references
    assert sum(name.startswith("confusion") for name in names) == (3 + 1) * (4 * 2 + 1) * 2
    assert "confusion-hipo_conversation-goal-agreed-all_models-zero_shot.svg" in {
        name.replace("hipo-", "hipo_").replace("zero-", "zero_") for name in names
    }
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
