"""Rows to fine-tune on: what they ask, what they answer, and what they never show."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outputs.contamination.comparable import PROMPTS
from outputs.formats.registry import FORMATS
from outputs.kinds.aspects import ASPECTS, TASK_OF, chosen_aspects
from outputs.kinds.system_prompt import SystemPrompt
from outputs.rows.actor_lines import ActorLines
from outputs.rows.discretion import reveals
from outputs.rows.label_rows import LabelRows
from outputs.rows.sft import ActorRows
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from prompts.environment import Templates
from prompts.responses import tactic_format, utterance_format
from prompts.tasks.answers import LabelForm
from prompts.tasks.asked import asked_dimensions
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from tests.factories import library
from tests.outputs.corpora import (
    DECEPTION,
    SCHEME,
    TELLER,
    TRUTH,
    exportable_run,
    exported,
    messages_of,
    rows_in,
    words_of,
)

ONE_SET = {"fractions": (1, 0, 0), "parquet": False}
FULL = {"prompt": SystemPrompt("full"), "goal_of_lines": True}
"""As evaluation asks: with all definitions, and for the goal beside a single line, too."""
AS_SENT = {"prompt": SystemPrompt("full"), "target": "json"}
"""As actors were asked, and as they answered."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exportable_run(tmp_path_factory.mktemp("runs") / "run", scenarios=31, facts=3, turns=3)


def rows(tmp_path, run, kind="sft", **options):
    done = exported(tmp_path / "out", run, kind, **(ONE_SET | options))
    return rows_in(done.folder), done


def facts_of(row):
    """Return the private fact of a row's dialogue."""
    return library().scenarios[row["scenario"]].fact(row["fact"]).text


def test_every_labelled_utterance_is_asked_about_in_each_aspect(tmp_path, run):
    found, _ = rows(tmp_path, run)
    dialogues = {(row["case"], row["arm"]) for row in found}
    counts = Counter(row["aspect"] for row in found)
    assert counts == {
        "utterance": 3 * len(dialogues),
        "cumulative": 3 * len(dialogues),
        "conversation": len(dialogues),
    }
    assert len({row["id"] for row in found}) == len(found)
    assert all(row["fictional"] is True for row in found)


def test_answers_are_read_back_by_the_task_of_the_aspect_as_the_declared_labels(tmp_path, run):
    found, _ = rows(tmp_path, run, goal_of_lines=True)
    forms = {
        aspect: LabelForm(asked_dimensions(load_task(name), SCHEME))
        for aspect, name in TASK_OF.items()
    }
    for row in found:
        labels = forms[row["aspect"]].found(messages_of(row)[-1]["content"])
        told = {label.dimension: label.value for label in labels}
        assert told.pop("goal") == row["goal"]
        assert told == {
            d.id: row[f"label_{d.id}"]
            for d in SCHEME.utterance_dimensions
            if row["aspect"] != "conversation"
        }


@pytest.mark.parametrize("rationale", [False, True])
def test_no_label_row_shows_a_private_fact_that_was_not_said(tmp_path, run, rationale):
    found, _ = rows(tmp_path, run, rationale=rationale)
    assert found
    told = 0
    for row in found:
        shown = words_of(row)
        said = f"{TELLER} {facts_of(row)}" in shown
        told += said
        assert (facts_of(row) in shown) is said, row["id"]
    assert told, "some answer tells the fact, and then it may be seen"


def test_rationales_that_use_words_of_the_fact_alone_are_withheld(tmp_path, run):
    found, done = rows(tmp_path, run, rationale=True, aspects=("utterance",))
    assert found
    for row in found:
        answer = orjson.loads(messages_of(row)[-1]["content"])
        assert list(answer)[:2] == ["intention_reason", "intention"]
        assert answer["intention_reason"] == "because it is so" or TELLER in words_of(row)
    assert done.facts.left_out.rows["telling_reason"] > 0


def test_a_set_of_reasons_holds_no_row_without_one_and_counts_what_it_leaves_out(tmp_path, run):
    found, done = rows(tmp_path, run, rationale=True)
    dialogues = done.facts.left_out.generated
    assert {row["aspect"] for row in found} == {"utterance", "cumulative"}
    assert all("_reason" in messages_of(row)[-1]["content"] for row in found)
    left = done.facts.left_out.rows
    assert left["no_reason"] == dialogues, "nobody gave a reason for the goal of a conversation"
    assert len(found) + left["telling_reason"] + left.get("duplicate", 0) == 2 * 3 * dialogues
    manifest = orjson.loads((done.folder / "manifest.json").read_bytes())
    assert manifest["left_out"]["rows"] == left
    told = list(done.facts.left_out.sentences())
    assert f"left out: {dialogues} rows without a reason for what they answer (--rationale)" in told


def test_where_no_row_has_a_reason_the_set_is_refused_and_says_why(tmp_path, run):
    with pytest.raises(UsageError, match="rows without a reason for what they answer") as caught:
        rows(tmp_path, run, rationale=True, aspects=("conversation",))
    assert "the labels alone are taken without --rationale" in str(caught.value.hint)


def test_the_cumulative_aspect_shows_what_was_said_before_and_nothing_after(tmp_path, run):
    found, _ = rows(tmp_path, run)
    for row in found:
        asked = messages_of(row)[1]["content"]
        lines = asked.count("INITIATOR: ") + asked.count("RESPONDER: ")
        expected = {"utterance": 1, "cumulative": row["turn"], "conversation": 8}[row["aspect"]]
        assert lines == expected
        assert ("# Standing question" in asked) is (row["aspect"] == "utterance")


def test_an_actor_is_asked_as_in_generation_and_answers_as_it_did(tmp_path, run):
    found, done = rows(tmp_path, run, task="actor", include_deception=True, **AS_SENT)
    read = tactic_format(SCHEME).read
    assert {row["goal"] for row in found} == {DECEPTION, TRUTH}
    assert done.facts.includes_deception
    for row in found:
        draft = read(messages_of(row)[-1]["content"])
        assert draft.goal == row["goal"]
        assert draft.tactic[0].value == row["label_intention"]
        asked = messages_of(row)[1]["content"]
        assert f"Fact: {facts_of(row)}" in asked
        assert f"Goal: {row['goal']}" in asked
        assert "Wanted intention: Inform" in asked


def test_without_leave_no_actor_learns_to_deceive(tmp_path, run):
    found, done = rows(tmp_path, run, task="actor")
    assert {row["goal"] for row in found} == {TRUTH}
    assert not done.facts.includes_deception
    assert done.facts.by_goal == {DECEPTION: 0, TRUTH: done.facts.dialogues}
    assert done.facts.left_out.dialogues["deceptive"] > 0


def test_an_actor_never_sees_what_the_other_one_is_after(tmp_path, run):
    scenarios = library().scenarios
    actors, _ = rows(tmp_path, run, task="actor")
    for row in actors:
        assert scenarios[row["scenario"]].roles["initiator"].aim not in words_of(row)
        for other in scenarios[row["scenario"]].facts:
            if other.id != row["fact"]:
                assert other.text not in words_of(row)


def test_an_initiator_never_sees_fact_goal_labels_or_rationales(tmp_path, run):
    scenarios = library().scenarios
    found, _ = rows(tmp_path, run, task="initiator", target="json")
    read = utterance_format().read
    assert {row["goal"] for row in found} == {DECEPTION, TRUTH}
    for row in found:
        shown = words_of(row)
        assert scenarios[row["scenario"]].roles["responder"].aim not in shown
        said = f"{TELLER} {facts_of(row)}" in shown
        assert (facts_of(row) in shown) is said
        assert DECEPTION not in shown
        assert "because it is so" not in shown
        assert read(messages_of(row)[-1]["content"]).startswith("Question")


def test_a_scheme_that_knows_no_truthful_goal_is_not_trusted(tmp_path):
    lawless = Scheme.model_validate(SCHEME.model_dump() | {"contradictions": ()})
    actors = ActorLines(lawless)
    with pytest.raises(UsageError, match="does not say which of its goals are truthful"):
        ActorRows(lawless, actors, FORMATS.get("messages"))
    assert ActorRows(lawless, actors, FORMATS.get("messages"), include_deception=True).columns


def test_utterances_without_all_labels_are_no_rows(run):
    with opened(Selection((run,))) as found:
        dialogue = next(found.dialogues())
        wider = SCHEME.model_dump()
        wider["dimensions"] += (wider["dimensions"][1] | {"id": "mood"},)
        source = LabelRows(Scheme.model_validate(wider), Templates(), FORMATS.get("messages"))
        assert list(source.rows([dialogue])) == []


WORDS = st.lists(
    st.sampled_from(("rust", "paint", "wing", "deposit", "40,000", "the", "was", "of")), max_size=6
)


@settings(max_examples=30)
@given(WORDS, WORDS, WORDS)
def test_a_text_reveals_only_telling_words_of_the_fact_that_are_not_public(text, fact, public):
    secret = {w for w in fact if w not in ("the", "was", "of")} - set(public)
    found = reveals(" ".join(text), fact=" ".join(fact), public=[" ".join(public)])
    assert found is bool(secret & set(text))


def test_other_forms_and_undivided_scripts_are_recognised():
    assert reveals("it is about repairs", fact="The wing was repaired.", public=[])
    assert reveals("他隐瞒了事故的经过", fact="这辆车出过严重事故", public=["他隐瞒了"])
    assert not reveals("他隐瞒了", fact="这辆车出过严重事故", public=[])


def test_a_reason_in_another_language_than_a_private_fact_may_give_it_away():
    fact = "邻居在湖边住了十天"
    told = {"text": "It leaves out the ten days at the lake.", "fact": fact, "language": "zh-CN"}
    assert reveals(**told, public=[])
    assert not reveals(**told, public=[fact])
    assert not reveals("他把话题岔开了，没有回答", fact=fact, public=[], language="zh")


def test_aspects_are_chosen_by_name_and_come_in_their_usual_order():
    assert ASPECTS == tuple(TASK_OF) == ("utterance", "cumulative", "conversation")
    assert chosen_aspects(["conversation", "utterance"]) == ("utterance", "conversation")
    with pytest.raises(UsageError, match="'utterence'"):
        chosen_aspects(["utterence"])


def test_a_row_asks_what_a_model_is_asked_that_is_scored_on_the_item_of_that_id(tmp_path, run):
    for mode, rationale in (("zero-shot", False), ("cot", True)):
        found, _ = rows(tmp_path, run, rationale=rationale, overwrite=True, **FULL)
        items, _ = rows(tmp_path, run, kind="benchmark", overwrite=True)
        by_id = {item["id"]: item for item in items}
        # Nobody gave a reason for the goal of a conversation.
        assert {row["aspect"] for row in found} == set(ASPECTS[:2] if rationale else ASPECTS)
        for row in found:
            assert messages_of(row)[:-1] == by_id[row["id"]][PROMPTS[mode]], row["id"]


def test_the_manifest_names_the_prompts_that_rows_were_rendered_with(tmp_path, run):
    _, done = rows(tmp_path, run, **FULL)
    manifest = orjson.loads((done.folder / "manifest.json").read_bytes())
    of_tasks = [
        TaskPrompts(Templates(), SCHEME, load_task(name)).fingerprint for name in TASK_OF.values()
    ]
    assert manifest["options"]["prompts"] == fingerprint(of_tasks)
    _, done = rows(tmp_path, run, overwrite=True, task="initiator", **AS_SENT)
    manifest = orjson.loads((done.folder / "manifest.json").read_bytes())
    assert "prompts" not in manifest["options"]
    [note] = [note for note in manifest["notes"] if "prompts rendered" in note]
    assert note.endswith(f": {done.facts.files[0].rows:,}"), "hand-made dialogues were sent nothing"
