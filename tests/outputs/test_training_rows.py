"""Training rows as they are by default: short, each once, a chat where somebody speaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import orjson
import pytest

from hipo.app.export.options import export_options
from outputs.kinds.aspects import ASPECTS
from outputs.kinds.system_prompt import SystemPrompt, chosen_prompt
from prompts.chat_lines import BEGIN, GO_ON, chat
from scenarios.errors import UsageError
from tests.factories import make_arm, make_run
from tests.outputs.corpora import (
    SCHEME,
    STRATEGIES,
    cases,
    exportable_run,
    exported,
    messages_of,
    play,
    rows_in,
    some_scenarios,
)

ONE_SET = {"fractions": (1, 0, 0), "parquet": False}
TASKS = ("label", "actor", "initiator")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of three strategies, of which every other case begins with the same answer."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    return exportable_run(folder, scenarios=6, strategies=STRATEGIES)


def rows(tmp_path, run, **options):
    done = exported(tmp_path / "out", run, "sft", **(ONE_SET | options))
    return rows_in(done.folder), done


def content(row):
    """Return what is learnt from a row, whatever the order in which labels are listed."""
    *asked, answer = messages_of(row)
    shown = "\n".join(message["content"] for message in asked)
    whole = shown.partition("\n# Answer format\n")[0]
    return row.get("aspect"), whole, answer["content"]


def manifest_of(done):
    return orjson.loads((done.folder / "manifest.json").read_bytes())


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a run in which every dialogue was played twice, word for word, by two strategies."""
    played = [
        play(case, scenario, "direct", number)
        for number, (case, scenario) in enumerate(cases(some_scenarios(4), facts=2, turns=2))
    ]
    again = [replace(dialogue, arm="reflective") for dialogue in played]
    folder = tmp_path_factory.mktemp("runs") / "copied"
    arms = {name: make_arm(name, "compatible/m") for name in ("direct", "reflective")}
    return make_run(folder, [*played, *again], arms=arms)


@pytest.mark.parametrize("task", TASKS)
def test_what_several_strategies_say_alike_is_learnt_once_and_counted(tmp_path, copied, task):
    options = {"include_deception": True} if task == "actor" else {}
    found, done = rows(tmp_path, copied, task=task, verdict="any", **options)
    assert found
    assert len({content(row) for row in found}) == len(found)
    assert {row["strategy"] for row in found} == {"direct"}
    assert done.facts.left_out.rows["duplicate"] == len(found)


def test_labels_that_differ_are_no_repetition(tmp_path, run):
    """The same words with other labels are another thing to learn, or a conflict to be seen."""
    found, _ = rows(tmp_path, run, aspects=("utterance",))
    said = Counter(content(row)[1] for row in found)
    assert len({content(row) for row in found}) == len(found) > len(said)


def test_each_aspect_is_a_configuration_of_its_own(tmp_path, run):
    _, done = rows(tmp_path, run)
    assert [file.subset for file in done.facts.primary] == list(ASPECTS)
    for file in done.facts.primary:
        lines = (done.folder / file.path).read_bytes().splitlines()
        assert {orjson.loads(line)["aspect"] for line in lines} == {file.subset}
        assert len(lines) == file.rows
    assert done.rows == {"train": sum(file.rows for file in done.facts.primary)}
    one, _ = rows(tmp_path / "one", run, aspects=("cumulative",))
    assert (tmp_path / "one/out/jsonl/train.jsonl").is_file()
    assert one


@pytest.mark.parametrize("asked", [False, True])
def test_a_goal_is_asked_of_a_single_line_only_on_request(tmp_path, run, asked):
    found, _ = rows(tmp_path, run, goal_of_lines=asked)
    for row in found:
        answer = orjson.loads(messages_of(row)[-1]["content"])
        assert ("goal" in answer) is (asked or row["aspect"] != "utterance")
        assert ('"goal"' in messages_of(row)[1]["content"]) is ("goal" in answer)


@pytest.mark.parametrize(
    ("options", "has_scene"),
    [
        ({}, False),
        ({"rationale": True}, False),
        ({"task": "actor", "target": "json"}, False),
        ({"task": "actor"}, True),
        ({"task": "initiator"}, True),
    ],
)
def test_the_instruction_of_the_short_prompt_is_short_and_defines_nothing(
    tmp_path, run, options, has_scene
):
    found, _ = rows(tmp_path, run, **options)
    systems = [messages_of(row)[0]["content"].partition("\n\n# Situation\n") for row in found]
    assert all(messages_of(row)[0]["role"] == "system" for row in found)
    assert all(bool(scene) is has_scene for _, _, scene in systems)
    instructions = {instruction for instruction, _, _ in systems}
    assert len(instructions) <= len(ASPECTS)
    for text in instructions:
        # 150 tokens: of plain English words one has 1.3 tokens at most
        assert len(text.split()) <= 115
        assert not any(label.definition in text for d in SCHEME.dimensions for label in d.labels)


def test_prompts_are_short_full_none_or_ones_own(tmp_path, run):
    own = tmp_path / "mine.txt"
    own.write_text("Label it.\n")
    first = {}
    for name in ("short", "full", "none", str(own)):
        found, done = rows(tmp_path, run, prompt=chosen_prompt(name), overwrite=True)
        first[name] = messages_of(found[0])
        assert manifest_of(done)["options"]["prompt"] == ("Label it." if name == str(own) else name)
    assert [m["role"] for m in first["none"]] == ["user", "assistant"]
    assert first[str(own)][0] == {"role": "system", "content": "Label it."}
    definition = SCHEME.dimensions[0].labels[0].definition
    assert definition in first["full"][0]["content"]
    users = {messages[-2]["content"] for messages in first.values()}
    assert len(users) == 1, "what is asked about is the same"


def test_a_prompt_that_is_neither_named_nor_a_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is no prompt, and no such file") as caught:
        chosen_prompt("shrot")
    assert "did you mean 'short'?" in caught.value.hint
    (tmp_path / "empty").write_text(" \n")
    with pytest.raises(UsageError, match="is empty"):
        chosen_prompt(str(tmp_path / "empty"))
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(UsageError, match="expected text in UTF-8"):
        chosen_prompt(str(tmp_path / "latin"))
    with pytest.raises(UsageError, match="--target is for"):
        export_options("sft", target="json")


@pytest.mark.parametrize("task", ["actor", "initiator"])
@pytest.mark.parametrize("choice", ["short", "full", "none"])
def test_who_is_learnt_from_is_the_assistant_of_a_chat_of_the_whole_conversation(
    tmp_path, run, task, choice
):
    found, _ = rows(tmp_path, run, task=task, prompt=SystemPrompt(choice))
    own = "Answer" if task == "actor" else "Question"
    for row in found:
        messages = messages_of(row)
        assert (messages[0]["role"] == "system") is (choice != "none")
        talk = [m for m in messages if m["role"] != "system"]
        assert [m["role"] for m in talk] == ["user", "assistant"] * (len(talk) // 2)
        assert talk[-1]["content"].startswith((own, "I may as well"))
        assert not talk[-1]["content"].startswith("{")
        lines = len(talk) - (task == "initiator")  # there the user only says that it begins
        assert lines == row["turn"] + 1
        if task == "initiator":
            assert talk[0]["content"].endswith(BEGIN)


def test_a_chat_begins_with_the_user_alternates_and_says_whose_lines_are_whose():
    said = (("buyer", "Well?"), ("seller", "So."), ("agent", "Hm."), ("buyer", "And?"))
    as_seller = chat(said, "seller", system="S", several=True)
    assert [(m.role, m.content) for m in as_seller] == [
        ("system", "S"),
        ("user", "BUYER: Well?"),
        ("assistant", "So."),
        ("user", "AGENT: Hm.\nBUYER: And?"),
    ]
    as_buyer = chat(said, "buyer", scene="A shop.")
    assert [m.role for m in as_buyer] == ["user", "assistant", "user", "assistant", "user"]
    assert as_buyer[0].content == f"A shop.\n\n# Said first\n{BEGIN}"
    assert as_buyer[-1].content == GO_ON
    assert all(a.role != b.role for a, b in pairwise(as_buyer))
    assert [m.content for m in chat((), "seller")] == [BEGIN]


def test_an_actor_of_a_chat_knows_its_own_fact_and_nothing_of_labels(tmp_path, run):
    found, _ = rows(tmp_path, run, task="actor", include_deception=True)
    for row in found:
        system = messages_of(row)[0]["content"]
        assert f"Goal: {row['goal']}" in system
        assert SCHEME.goal.labels[0].definition not in system
        assert "Wanted" not in system
        assert row["label_veracity"] not in messages_of(row)[-2]["content"]
