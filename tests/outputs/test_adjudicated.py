"""What an expert decided in review leaves in place of what was declared, and says so."""

from __future__ import annotations

import sqlite3
from collections import Counter
from importlib.machinery import SourceFileLoader

import orjson
import pytest

from hipo.cli.main import run as hipo
from outputs.dataset.documents import Documents
from outputs.evaluation_items.rows import benchmark_item
from outputs.export.export import export
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from pipeline.store.annotations import LabelRow, LabelSource, add_pass
from pipeline.store.queries import export as queries
from pipeline.store.queries.export import CorpusFilter, open_corpus
from scenarios.located import Located
from tests.outputs.corpora import SCHEME, exportable_run, rows_in
from tests.outputs.sample_run import give_names

TURN = 3
DIMENSIONS = [d.id for d in SCHEME.utterance_dimensions]


def decide(folder, labels, *, mode="review", turn=TURN, dialogue=1):
    """Let an expert decide on labels of one turn of a dialogue, by its number."""
    connection = sqlite3.connect(folder / "run.sqlite")
    insert = connection.execute
    study, item = (1, 10 + dialogue) if mode == "review" else (2, 90 + dialogue)
    insert("insert or ignore into studies values (?, ?, ?, 2, 0, '{}', 0)", (study, mode, mode))
    insert("insert or ignore into annotators (seq, code, role, created_at)"
           " values (1, 'exp', 'expert', 0)")  # fmt: skip
    insert("insert or ignore into review_items (seq, study, dialogue, rank, category, reasons,"
           " added_at) values (?, ?, ?, 1, '', '[]', 0)", (item, study, dialogue))  # fmt: skip
    rows = [LabelRow(turn, dimension, value) for dimension, value in labels.items()]
    source = LabelSource("adjudicated", "exp", mode)
    insert("insert into adjudications (item, expert, verdict, adjudicated_at, pass)"
           " values (?, 1, null, 0, ?)",
           (item, add_pass(connection, dialogue, source, rows, at=0)))  # fmt: skip
    connection.commit()
    give_names(folder, connection, ["exp"])
    connection.close()


def other(dimension, value):
    values = SCHEME.dimension(dimension).values
    return values[(values.index(value) + 1) % len(values)]


@pytest.fixture
def run(tmp_path):
    return exportable_run(tmp_path / "run", scenarios=4)


@pytest.fixture
def first(run):
    """The first dialogue, as it was played."""
    with opened(Selection((run,))) as found:
        return next(found.dialogues()).dialogue


@pytest.fixture
def declared(first):
    """The labels that were declared on the turn of the first dialogue."""
    return {label.dimension: label.value for label in first.turns[TURN].tactic}


def exported(tmp_path, run, kind="benchmark", labels="adjudicated", **options):
    return export(
        Selection((run,), labels=labels),
        ExportOptions(kind, parquet=False, **options),
        tmp_path / "set",
        overwrite=True,
        document=Documents(),
    )


def labels_of(folder, dialogue):
    """Return the labels of the dialogue's turn in an export, and whose they are."""
    [row] = [
        row
        for row in rows_in(folder)
        if (row["case"], row["turn"], row["aspect"]) == (dialogue.case.id, TURN, "utterance")
    ]
    return {name: row[f"label_{name}"] for name in DIMENSIONS}, row["labelled_by"]


def test_an_experts_label_stands_in_place_of_the_declared_one(tmp_path, run, first, declared):
    assert labels_of(exported(tmp_path, run).folder, first) == (declared, "speaker")
    better = other("veracity", declared["veracity"])
    decide(run, {"veracity": better})
    done = exported(tmp_path, run)
    rows = rows_in(done.folder)
    assert labels_of(done.folder, first) == ({**declared, "veracity": better}, "expert")
    assert "utterances with labels that an expert decided on: 1" in done.notes
    whose = [row["labelled_by"] for row in rows]
    assert whose.count("expert") == 2  # alone and after what was said before
    assert whose.count(None) == sum(row["aspect"] == "conversation" for row in rows)
    assert done.facts.by_label["veracity"][better] >= 1
    card = (done.folder / "README.md").read_text()
    assert "For 1 of the utterances an expert" in card
    everything = b"".join(p.read_bytes() for p in done.folder.rglob("*") if p.is_file())
    assert b"Secret Name" not in everything


def test_the_newest_word_counts_and_a_confirmed_label_is_an_experts_too(
    tmp_path, run, first, declared
):
    decide(run, {"veracity": other("veracity", declared["veracity"])})
    decide(run, {"veracity": declared["veracity"]})
    assert labels_of(exported(tmp_path, run).folder, first) == (declared, "expert")


def test_declared_labels_are_there_on_request(tmp_path, run, first, declared):
    decide(run, {"intention": other("intention", declared["intention"])})
    done = exported(tmp_path, run, labels="declared")
    assert labels_of(done.folder, first) == (declared, "speaker")
    assert done.facts.adjudicated == 0
    arguments = ["export", str(run), "--to", "benchmark", "-o", str(tmp_path / "by_command"),
                 "--no-parquet", "--labels", "declared", "-q"]  # fmt: skip
    assert hipo(arguments) == 0
    assert labels_of(tmp_path / "by_command", first) == (declared, "speaker")


def test_a_quiz_decides_nothing(tmp_path, run, first, declared):
    decide(run, {"intention": other("intention", declared["intention"])}, mode="quiz")
    assert labels_of(exported(tmp_path, run).folder, first) == (declared, "speaker")


def test_the_reason_for_a_label_that_was_replaced_is_not_taught(tmp_path, run, first):
    asked = {"aspects": ("utterance",), "rationale": True}
    before = rows_in(exported(tmp_path, run, "sft", **asked).folder)
    turn = next(row["turn"] for row in before if row["case"] == first.case.id)
    said = next(x.value for x in first.turns[turn].tactic if x.dimension == "veracity")
    better = other("veracity", said)
    decide(run, {"veracity": better}, turn=turn)
    done = exported(tmp_path, run, "sft", **asked)
    assert len(rows_in(done.folder)) == len(before) - 1
    assert done.facts.left_out.rows["no_reason"] == 1
    plain = rows_in(exported(tmp_path, run, "sft", aspects=("utterance",)).folder)
    [row] = [row for row in plain if row["labelled_by"] == "expert"]
    assert f'"veracity": "{better}"' in row["completion"][-1]["content"]


@pytest.mark.parametrize(("kind", "strategy"), [("sft", "direct"), ("dpo", "consistency")])
def test_nobody_learns_to_say_what_an_expert_gave_another_label(tmp_path, kind, strategy):
    run = exportable_run(tmp_path / "run", scenarios=4, strategies=(strategy,))
    options = {"include_deception": True, **({"task": "actor"} if kind == "sft" else {})}
    before = rows_in(exported(tmp_path, run, kind, **options).folder)
    with opened(Selection((run,))) as found:
        first = next(found.dialogues()).dialogue
    said = {label.dimension: label.value for label in first.turns[TURN].tactic}

    def of_turn(rows):
        return [r for r in rows if (r["case"], r["turn"]) == (first.case.id, TURN)]

    assert of_turn(before)
    decide(run, said)
    confirmed = rows_in(exported(tmp_path, run, kind, **options).folder)
    assert {row["labelled_by"] for row in of_turn(confirmed)} == {"expert"}
    assert len(confirmed) == len(before)
    decide(run, {"veracity": other("veracity", said["veracity"])})
    done = exported(tmp_path, run, kind, **options)
    assert len(rows_in(done.folder)) == len(before) - len(of_turn(before))
    assert any("a declared label that an expert replaced" in note for note in done.notes)


def test_the_same_labels_are_read_with_and_without_reasons(run, declared):
    decide(run, {"veracity": other("veracity", declared["veracity"])})
    with opened(Selection((run,))) as found:
        for rationales in (True, False):
            dialogues = list(found.dialogues(rationales=rationales))
            assert [d.adjudicated for d in dialogues] == [{TURN}, *[set()] * (len(dialogues) - 1)]
            values = [
                [(label.dimension, label.value) for label in turn.tactic]
                for d in dialogues for turn in d.dialogue.turns
            ]  # fmt: skip
            if rationales:
                with_reasons = values
    assert values == with_reasons


def goal_rows(folder, dialogue):
    """Return the rows of a dialogue in an export, and what they have as the goal that is right."""
    rows = [row for row in rows_in(folder) if row["case"] == dialogue.case.id]
    assert rows
    return rows


def test_an_experts_goal_is_the_right_answer_in_place_of_the_assigned_one(tmp_path, run, first):
    assigned = first.case.goal
    better = other("goal", assigned)
    for kind in ("benchmark", "sft"):
        rows = goal_rows(exported(tmp_path, run, kind).folder, first)
        assert {row["expert_goal"] for row in rows} == {None}
    decide(run, {"goal": better}, turn=None)
    done = exported(tmp_path, run)
    rows = goal_rows(done.folder, first)
    assert {(row["goal"], row["expert_goal"]) for row in rows} == {(assigned, better)}
    asked = [row for row in rows if row["options_goal"]]
    assert {row["aspect"] for row in asked} >= {"cumulative", "conversation"}
    assert {orjson.loads(row["target"])["goal"] for row in asked} == {better}
    whose = {row["labelled_by"] for row in rows if row["aspect"] == "conversation"}
    assert whose == {"expert"}
    assert "dialogues whose goal an expert decided on: 1" in done.notes
    assert "For 1 of the dialogues an expert" in (done.folder / "README.md").read_text()
    taught = goal_rows(exported(tmp_path, run, "sft", aspects=("conversation",)).folder, first)
    assert [orjson.loads(row["completion"][-1]["content"]) for row in taught] == [{"goal": better}]
    assert {row["labelled_by"] for row in taught} == {"expert"}
    declared = goal_rows(exported(tmp_path, run, labels="declared").folder, first)
    assert {row["expert_goal"] for row in declared} == {None}
    assert {orjson.loads(row["target"])["goal"] for row in declared if row["options_goal"]} == {
        assigned
    }


def test_the_rows_of_every_kind_tell_the_experts_goal(tmp_path, run, first):
    better = other("goal", first.case.goal)
    decide(run, {"goal": better}, turn=None)
    for kind in ("dialogues", "turns", "lm-eval"):
        rows = goal_rows(exported(tmp_path, run, kind).folder, first)
        assert {row["expert_goal"] for row in rows} == {better}


def test_the_harness_scores_against_the_experts_goal(tmp_path, run, first):
    better = other("goal", first.case.goal)
    decide(run, {"goal": better}, turn=None)
    folder = exported(tmp_path, run, "lm-eval", fractions=(0, 0, 1)).folder
    found = SourceFileLoader("items_of_the_set", str(folder / "hipo_items.py")).load_module()
    labels = list(SCHEME.goal.values)
    items = found.items("conversation", "prompt_goal", "goal", labels)["test"]
    rows = [item for item in items if item["case"] == first.case.id]
    assert [labels[item["right"]] for item in rows] == [better]


def test_classes_are_balanced_by_the_goal_that_is_right(tmp_path, run, first):
    decide(run, {"goal": other("goal", first.case.goal)}, turn=None)
    done = exported(tmp_path, run, aspects=("conversation",), balance="goal")
    found = Counter(row["expert_goal"] or row["goal"] for row in rows_in(done.folder))
    assert len(set(found.values())) == 1 < len(found)


@pytest.mark.parametrize(("kind", "strategy"), [("sft", "direct"), ("dpo", "consistency")])
def test_nobody_learns_to_speak_from_a_dialogue_with_another_goal_than_its_own(
    tmp_path, kind, strategy
):
    run = exportable_run(tmp_path / "run", scenarios=4, strategies=(strategy,))
    asked = {"task": "actor"} if kind == "sft" else {"pairs": ("vote",)}
    with opened(Selection((run,))) as found:
        numbered = list(enumerate((one.dialogue for one in found.dialogues()), 1))
    number, honest = next((n, d) for n, d in numbered if d.case.goal in SCHEME.truthful_goals)
    liar, lie = next((n, d) for n, d in numbered if d.case.goal not in SCHEME.truthful_goals)

    def cases(**options):
        done = exported(tmp_path, run, kind, **asked, **options)
        return {row["case"] for row in rows_in(done.folder)}, done.facts.left_out.dialogues

    assert honest.case.id in cases()[0]
    decide(run, {"goal": other("goal", honest.case.goal)}, turn=None, dialogue=number)
    decide(run, {"goal": lie.case.goal}, turn=None, dialogue=liar)
    for leave in (False, True):
        there, left_out = cases(include_deception=leave)
        assert honest.case.id not in there
        assert (lie.case.id in there) is leave
        assert left_out["missed_goal"] == 1


def test_what_experts_decided_is_looked_up_for_the_dialogues_that_are_read_alone(
    tmp_path, monkeypatch
):
    class LookedUp(dict):
        def __iter__(self):
            raise AssertionError("everything that was decided is gone through")

        items = keys = values = __iter__

    run = exportable_run(tmp_path / "run", scenarios=2)
    decide(run, {DIMENSIONS[0]: SCHEME.dimension(DIMENSIONS[0]).values[0]})
    read = queries._read_decided
    monkeypatch.setattr(queries, "_read_decided", lambda reader: LookedUp(read(reader)))
    with open_corpus(run) as corpus:
        entries = list(corpus.entries(CorpusFilter(), adjudicated=True))
    assert [sorted(entry.adjudicated) for entry in entries if entry.adjudicated] == [[TURN]]


def test_what_the_expert_did_not_decide_on_is_still_called_declared(tmp_path, run, first, declared):
    decide(run, {"veracity": other("veracity", declared["veracity"])})
    done = exported(tmp_path, run)
    [row] = [
        row
        for row in rows_in(done.folder)
        if (row["case"], row["turn"], row["aspect"]) == (first.case.id, TURN, "utterance")
    ]
    assert row["sources"] == {
        "intention": "speaker", "veracity": "expert", "illocutionary": "speaker",
    }  # fmt: skip
    item = benchmark_item(Located(row, "set"), SCHEME)
    assert set(item.references["adjudicated"]) == {"veracity"}
    assert set(item.references["declared"]) == {"intention", "illocutionary", "goal"}
