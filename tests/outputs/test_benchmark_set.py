"""Benchmark items and the counts of a corpus."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from hipo.app.export.export import export
from hipo.app.export.options import export_options
from hipo.cli.main import run as hipo
from outputs.contamination.comparable import row_lines
from outputs.evaluation_items.sets import load_set
from outputs.kinds.aspects import drawn_by
from prompts.environment import Templates
from prompts.languages import described_language
from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.errors import UsageError
from tests.factories import library, make_arm, make_case, make_dialogue, make_run, make_tactic
from tests.outputs.corpora import SCHEME, TELLER, exportable_run, exported, rows_in

ONE_SET = {"fractions": (0, 0, 1), "parquet": False}
ASKED = {"messages": "zero-shot", "messages_cot": "cot"}
SCENE = ("situation", "initiator", "initiator_description", "responder", "responder_description")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exportable_run(tmp_path_factory.mktemp("runs") / "run", scenarios=31, facts=1, turns=3)


def test_items_hold_what_may_be_seen_and_no_more(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", **ONE_SET)
    items = rows_in(done.folder, "test")
    assert {item["aspect"] for item in items} == {"utterance", "cumulative", "conversation"}
    for item in items:
        seen = {"utterance": 0, "cumulative": item["turn"], "conversation": 8}[item["aspect"]]
        assert len(item["context"]) == seen
        assert [m["role"] for m in item["context"]] == (["initiator", "responder"] * 4)[:seen]
        whole = item["aspect"] == "conversation"
        assert (item["utterance"] == "") is whole
        assert (item["label_veracity"] is None) is whole
        fact = library().scenarios[item["scenario"]].fact(item["fact"]).text
        shown = orjson.dumps([item["situation"], item["context"], item["utterance"]]).decode()
        assert fact not in shown or TELLER in shown


def test_aspects_can_be_chosen(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", aspects=("conversation",), **ONE_SET)
    assert {item["aspect"] for item in rows_in(done.folder)} == {"conversation"}


def test_utterances_without_any_label_are_no_items(tmp_path):
    run = tmp_path / "run"
    words = ["generate", "dilemmas", "--model", "offline/reasoner", "-n", "2"]
    assert hipo([*words, "-o", str(run), "-q"]) == 0
    with pytest.raises(UsageError, match="2 dialogues without an utterance that has") as caught:
        exported(tmp_path / "out", run, "benchmark", verdict="any", **ONE_SET)
    assert str(caught.value.hint).startswith(
        "speakers declare no label of the scheme payoff_reasoning@1: labels of people make items"
    )
    corpus = exported(tmp_path / "corpus", run, "dialogues", verdict="any", fractions=(1, 0, 0))
    total = orjson.loads((corpus.folder / "counts.json").read_bytes())["total"]
    assert total["dialogues"] == 2
    assert total["benchmark_utterances"] == 0
    assert total["contextual_utterances"] == total["utterances"] > 0


def test_the_counts_are_those_of_the_paper_in_kind(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", **ONE_SET)
    counts = orjson.loads((done.folder / "counts.json").read_bytes())
    total = counts.pop("total")
    assert set(counts) == {"relationships", "products", "finance", "privacy", "integrity"}
    assert {name: row["scenarios"] for name, row in counts.items()} == {
        "relationships": 3, "products": 9, "finance": 6, "privacy": 6, "integrity": 7,
    }  # fmt: skip
    assert total["scenarios"] == total["facts"] == 31
    assert total["dialogues"] == 62
    # opening + 2n: of eight utterances three are labelled, the other five are context
    assert total["benchmark_utterances"] == 62 * 3
    assert total["contextual_utterances"] == 62 * 5
    assert total["utterances"] == 62 * 8
    for key, value in total.items():
        assert value == sum(row[key] for row in counts.values())


def test_every_labelled_utterance_is_an_item_once_per_aspect(tmp_path, run):
    done = exported(tmp_path / "out", run, "benchmark", **ONE_SET)
    items = rows_in(done.folder)
    assert len({item["id"] for item in items}) == len(items) == 62 * (2 * 3 + 1)


def test_no_item_asks_for_the_goal_at_or_before_the_hard_question(tmp_path):
    """Up to there a shared opening is the same text under both goals."""
    tactic = make_tactic(intention="Inform", veracity="Manner", illocutionary="Representatives")
    opening = ("How long?", "Three years.", "Was it ever hit?")
    dialogues = [
        make_dialogue(
            "It has a history.", "What history?", "Who knows.",
            case=make_case(goal=goal, turns=2, variation={"openings": "shared"}),
            opening=opening, tactics=(tactic,),
        )
        for goal in ("deception", "truthful non-disclosure")
    ]  # fmt: skip
    # Rows that are imported may bring labels for a fixed line.
    fixed = [
        replace(d, turns=tuple(
            replace(t, tactic=tactic if t.index == 1 else t.tactic,
                    kind="opening" if t.index < 3 else t.kind)
            for t in d.turns
        ))
        for d in dialogues
    ]  # fmt: skip
    run = make_run(tmp_path / "run", fixed)
    done = exported(tmp_path / "out", run, "benchmark", verdict="any", **ONE_SET)
    items = rows_in(done.folder)
    assert {item["turn"] for item in items} == {3, 5, None}
    assert len({item["pair"] for item in items}) == 1
    for item in items:
        said = [m["content"] for m in item["context"]]
        if item["aspect"] == "utterance":
            assert item["utterance"] not in opening
        else:
            assert tuple(said[:3]) == opening
            assert len(said) + (item["aspect"] == "cumulative") > len(opening)


def item_of(row):
    """Return the item that a row is about, by what stands in its columns alone."""
    scene = SceneView(*(row[name] for name in SCENE), described_language(row["language"]))
    said = tuple((m["role"], m["content"]) for m in row["context"])
    order = drawn_by(row["case"], row["turn"], row["aspect"])
    if row["aspect"] == "conversation":
        return TaskItem(row["id"], scene, said, drawn_by=order)
    if row["aspect"] == "utterance":
        said = (("initiator", row["question"]),)
    standing = max(at for at, (role, _) in enumerate(said) if role == "initiator")
    assert said[standing][1] == row["question"]
    turns = (*said, ("responder", row["utterance"]))
    return TaskItem(row["id"], scene, turns, len(said), standing, drawn_by=order)


def test_rows_carry_the_prompts_that_a_task_makes_of_their_other_columns(tmp_path, run):
    rows = rows_in(exported(tmp_path / "out", run, "benchmark", **ONE_SET).folder)
    assert {row["aspect"] for row in rows[:14]} == {"utterance", "cumulative", "conversation"}
    for row in rows[:14]:
        task = load_task(f"hipo-{row['aspect']}")
        for column, mode in ASKED.items():
            (asked,) = TaskPrompts(Templates(), SCHEME, task, mode=mode).questions(item_of(row))
            sent = [{"role": m.role, "content": m.content} for m in asked.question.messages]
            assert row[column] == sent
            assert [m["role"] for m in row[column]] == ["system", "user"]
            for dimension, options in asked.options.items():
                assert row[f"options_{dimension}"] == list(options)


def test_options_are_listed_as_the_messages_list_them_and_hold_the_right_label(tmp_path, run):
    rows = rows_in(exported(tmp_path / "out", run, "benchmark", **ONE_SET).folder)
    for row in rows:
        targets = {"goal": row["goal"]}
        if row["aspect"] != "conversation":
            targets |= {name: row[f"label_{name}"] for name in ("intention", "veracity")}
        for dimension, right in targets.items():
            options = row[f"options_{dimension}"]
            assert right in options
            for column in ASKED:
                assert (
                    f'"{dimension}": "<one of: {" | ".join(options)}>"'
                    in (row[column][1]["content"])
                )
    whole = [row for row in rows if row["aspect"] == "conversation"]
    assert {row["options_veracity"] is None for row in whole} == {True}
    assert len({tuple(row["options_veracity"]) for row in rows if row not in whole}) > 10


def test_prompts_in_rows_never_show_the_private_fact(tmp_path, run):
    for row in rows_in(exported(tmp_path / "out", run, "benchmark", **ONE_SET).folder):
        fact = library().scenarios[row["scenario"]].fact(row["fact"]).text
        said = [row["utterance"], *(m["content"] for m in row["context"])]
        for column in ASKED:
            shown = "\n".join(message["content"] for message in row[column])
            assert fact not in shown or any(text.startswith(TELLER) for text in said)


def test_the_modes_of_prompts_can_be_chosen(tmp_path, run):
    whole = exported(tmp_path / "both", run, "benchmark", **ONE_SET)
    bare = exported(tmp_path / "none", run, "benchmark", modes=(), **ONE_SET)
    one = exported(tmp_path / "one", run, "benchmark", modes=("cot",), **ONE_SET)
    added = {"messages", "messages_cot", "target", *(f"options_{d.id}" for d in SCHEME.declared)}
    for row, plain, cot in zip(*map(rows_in, (whole.folder, bare.folder, one.folder)), strict=True):
        assert row.keys() - plain.keys() == added
        assert row.keys() - cot.keys() == {"messages"}
        # prompts say again what the other columns say: they are no words to compare sets by
        assert row_lines(row) == row_lines(plain)
    manifest = orjson.loads((one.folder / "manifest.json").read_bytes())
    assert manifest["options"]["modes"] == ["cot"]
    assert len(manifest["options"]["prompts"]) == 64


def test_modes_are_checked_before_anything_is_made():
    assert export_options("benchmark").modes == ("zero-shot", "cot")
    assert export_options("benchmark", modes=["cot", "zero-shot"]).modes == ("zero-shot", "cot")
    assert export_options("benchmark", modes=["none"]).modes == ()
    with pytest.raises(UsageError, match="no prompts of the mode 'icl'"):
        export_options("benchmark", modes=["icl"])
    with pytest.raises(UsageError, match="--mode is for --to benchmark"):
        export_options("sft", modes=["cot"])


def test_rows_hold_the_right_answer_to_their_messages(tmp_path, run):
    """A harness takes ``messages`` as the prompt and ``target`` as what is right."""
    for row in rows_in(exported(tmp_path / "out", run, "benchmark", **ONE_SET).folder):
        right = orjson.loads(row["target"])
        assert right["goal"] == row["goal"]
        own = {d.id: row[f"label_{d.id}"] for d in SCHEME.utterance_dimensions}
        assert right == {"goal": row["goal"]} | ({} if row["aspect"] == "conversation" else own)
        asked = row["messages"][-1]["content"] + row["messages"][0]["content"]
        assert all(f'"{dimension}"' in asked for dimension in right)


def test_a_set_to_measure_with_is_one_split_called_test(tmp_path, run):
    assert export(run, "benchmark", tmp_path / "set", parquet=False).rows.keys() == {"test"}
    for kind in ("benchmark", "swap", "lm-eval", "intention-mcq"):
        assert export_options(kind).fractions == (0, 0, 1)
    divided = export(run, "benchmark", tmp_path / "divided", parquet=False, fractions=(80, 10, 10))
    assert divided.rows.keys() == {"train", "validation", "test"}


def test_what_strategies_say_alike_stays_for_each_of_them_with_one_prompt_and_is_counted(tmp_path):
    tactic = make_tactic(intention="Inform", veracity="Manner", illocutionary="Representatives")
    said = make_dialogue("Was it ever hit?", "Once.", tactic=tactic)
    other = make_dialogue("Was it ever hit?", "Never.", tactic=tactic)
    arms = {name: make_arm(strategy=name) for name in ("direct", "consistency", "reflective")}
    dialogues = [replace(said, arm="direct"), replace(said, arm="consistency")]
    run = make_run(tmp_path / "run", [*dialogues, replace(other, arm="reflective")], arms=arms)
    done = exported(tmp_path / "out", run, "benchmark", verdict="any", **ONE_SET)
    rows = rows_in(done.folder)
    assert len(rows) == 3 * 3
    assert {row["strategy"] for row in rows} == set(arms)
    for column in ASKED:
        sent = {orjson.dumps(row[column]) for row in rows}
        assert len(sent) == 2 * 3
    told = "rows that repeat another arm's word for word, of which models are asked once: 3"
    assert told in done.notes
    assert done.facts.repeated == 3
    items = [item.asked for item in load_set(done.folder).items]
    for row, item in zip(rows, items, strict=True):
        task = load_task(f"hipo-{row['aspect']}")
        (asked,) = TaskPrompts(Templates(), SCHEME, task, mode="zero-shot").questions(item)
        assert row["messages"][1]["content"] == asked.question.messages[1].content
