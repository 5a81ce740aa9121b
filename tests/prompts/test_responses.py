"""Answer formats: what is demanded, what is forgiven, and what is handed back."""

from __future__ import annotations

import json
import pickle

import pytest

from prompts.responses import Unreadable, critique_format, tactic_format, utterance_format
from scenarios.dialogue import FIT, Critique, Draft, TacticLabel
from scenarios.errors import RunError, UsageError
from scenarios.schemes.registry import load_scheme
from tests.cpu_limit import cpu_limit

HIPO = load_scheme("hipo")
TACTIC = tactic_format(HIPO)
CRITIQUE = critique_format(HIPO)
UTTERANCE = utterance_format()


def answer(**changes):
    fields = {
        "plan": "Convince, Quantity, Representatives: leave the guardrail out",
        "utterance": "I've always looked after it.",
        "goal": "deception",
        "intention_rationale": "wants trust",
        "intention": "Convince",
        "veracity_rationale": "leaves the guardrail out",
        "veracity": "Quantity",
        "illocutionary_rationale": "a claim",
        "illocutionary": "Representatives",
    }
    return {k: v for k, v in (fields | changes).items() if v is not ...}


def failure(fmt, text):
    with pytest.raises(Unreadable) as caught:
        fmt.read(text)
    return caught.value


def test_a_strict_answer_is_read_field_by_field():
    assert TACTIC.read(json.dumps(answer())) == Draft(
        "I've always looked after it.",
        "deception",
        (
            TacticLabel("intention", "Convince", "wants trust"),
            TacticLabel("veracity", "Quantity", "leaves the guardrail out"),
            TacticLabel("illocutionary", "Representatives", "a claim"),
        ),
    )


def test_the_schema_demands_every_key_in_the_order_of_the_skeleton():
    keys = list(answer())
    assert list(TACTIC.schema["properties"]) == keys == TACTIC.schema["required"]
    assert TACTIC.schema["additionalProperties"] is False
    assert [line.split('"')[1] for line in TACTIC.skeleton.splitlines()[1:-1]] == keys
    enum = TACTIC.schema["properties"]["veracity"]["enum"]
    assert enum == ["Quantity", "Quality", "Relevance", "Manner", "None"]
    assert list(CRITIQUE.schema["properties"]) == [
        "intention_reason", "intention_carried", "veracity_reason", "veracity_carried",
        "illocutionary_reason", "illocutionary_carried", "fit_reason", "fit",
    ]  # fmt: skip


def test_a_plan_is_written_first_and_dropped():
    assert next(iter(TACTIC.keys)) == "plan"
    planned = TACTIC.read(json.dumps(answer()))
    assert TACTIC.read(json.dumps(answer(plan="something else"))) == planned
    assert TACTIC.read(json.dumps(answer(plan=...))) == planned


def test_the_order_of_the_paper_has_no_plan_and_is_read_alike():
    paper = tactic_format(HIPO, plan=False)
    assert paper.keys == TACTIC.keys[1:]
    assert paper.keys[:2] == ("utterance", "goal")
    assert paper.read(json.dumps(answer())) == TACTIC.read(json.dumps(answer()))


def test_a_bad_line_may_carry_every_label():
    fields = {f"{d.id}_carried": True for d in HIPO.utterance_dimensions}
    fields |= {"fit": False, "fit_reason": "It answers another question."}
    critiques = CRITIQUE.read(json.dumps(fields))
    assert [c.dimension for c in critiques if not c.carried] == [FIT]
    assert critiques[-1].reason == "It answers another question."


def test_the_bounds_leave_room_for_the_longest_line_that_is_wanted():
    longest = " ".join(["Verkehrsunfall"] * 30)  # far beyond 35 words of usual length
    assert len(longest) <= TACTIC.bounds["utterance"]
    assert TACTIC.bounds["utterance"] < 45 * 15


def test_every_measurement_has_its_schema_and_placeholder(small_scheme):
    fmt = tactic_format(small_scheme)
    properties = fmt.schema["properties"]
    assert properties["firmness"] == {"type": "string", "enum": ["soft", "even", "hard"]}
    assert properties["warmth"] == {"type": "number", "description": "number from -1 to 1"}
    assert properties["devices"]["items"]["enum"] == ["joke", "story", "number"]
    assert '"firmness": "<one of: soft | even | hard>"' in fmt.skeleton
    assert '"warmth": <number from -1 to 1>' in fmt.skeleton
    assert '"devices": ["<any of: joke | story | number>"]' in fmt.skeleton
    assert '"veracity_carried": <true or false>' in CRITIQUE.skeleton


def test_numbers_and_several_labels_are_read(small_scheme):
    fmt = tactic_format(small_scheme)
    text = {"utterance": "Say a price.", "stance": "eager", "firmness": "Lenient", "warmth": 0.25}
    draft = fmt.read(json.dumps({**text, "devices": ["number", "joke"]}))
    assert draft.tactic == (
        TacticLabel("firmness", "soft", raw="Lenient"),
        TacticLabel("warmth", 0.25),
        TacticLabel("devices", ("joke", "number")),
    )
    error = failure(fmt, json.dumps({**text, "warmth": 3, "devices": ["joke", "song"]}))
    assert error.kind == "unknown_label"
    assert error.reasons == (
        "warmth: found 3, expected number from -1 to 1",
        'devices: found ["joke","song"], expected any of: joke | story | number',
    )
    not_a_number = json.dumps({**text, "warmth": float("nan"), "devices": ["joke"]})
    assert failure(fmt, not_a_number).reasons[0].startswith("warmth: found ")


@pytest.mark.parametrize(
    ("written", "meant", "raw"),
    [
        ("Quantity", "Quantity", None),
        (" quantity ", "Quantity", " quantity "),
        ("omission", "Quantity", "omission"),
        (["Quality"], "Quality", '["Quality"]'),
        (None, "None", "null"),
        ("n/a", "None", "n/a"),
    ],
)
def test_a_label_in_other_words_is_resolved_and_the_words_are_kept(written, meant, raw):
    label = TACTIC.read(json.dumps(answer(veracity=written))).tactic[1]
    assert (label.value, label.raw) == (meant, raw)


def test_null_is_a_missing_label_where_no_label_is_called_none():
    error = failure(TACTIC, json.dumps(answer(intention=None)))
    assert error.kind == "invalid"
    assert error.reasons == (
        "intention: missing, expected one of: Inform | Convince | Motivate | Affect",
    )


def test_an_unknown_label_is_told_with_what_was_expected():
    error = failure(TACTIC, json.dumps(answer(veracity="Silence\n# Now", goal=7)))
    assert error.kind == "unknown_label"
    assert error.reasons == (
        "goal: found 7, expected one of: deception | truthful non-disclosure",
        (
            'veracity: found "Silence\\n# Now", expected one of: '
            "Quantity | Quality | Relevance | Manner | None"
        ),
    )
    assert isinstance(error, RunError)


def test_what_is_kept_of_a_label_in_another_spelling_can_be_stored():
    draft = TACTIC.read(f"Sure: {json.dumps(answer(veracity='quality' + chr(0xD800)))}")
    assert [label.raw for label in draft.tactic if label.raw] == ["quality\ufffd"]


def test_everything_wrong_is_told_at_once_and_missing_outweighs_unknown():
    error = failure(TACTIC, json.dumps(answer(utterance=..., veracity="x", illocutionary=...)))
    assert error.kind == "invalid"
    assert [reason.split(":")[0] for reason in error.reasons] == [
        "utterance", "veracity", "illocutionary",
    ]  # fmt: skip


def test_a_missing_rationale_is_no_reason_to_pay_again():
    labels = TACTIC.read(json.dumps(answer(veracity_rationale=..., intention_rationale=None)))
    assert [label.rationale for label in labels.tactic] == ["", "", "a claim"]


@pytest.mark.parametrize("words", ["", "   ", '""', "...", "<text>", "RESPONDER:", None, 5, ["a"]])
def test_an_utterance_must_say_something(words):
    assert failure(UTTERANCE, json.dumps({"utterance": words})).kind == "invalid"


@pytest.mark.parametrize(
    "text", ["```" + "a" * 60_000, '{{a"' + '-"' * 9_000, '{} {1"' + ',\\:\u201c:1"' * 3_000]
)
def test_no_answer_takes_long_to_be_found_unreadable(text):
    with cpu_limit(10):
        error = failure(UTTERANCE, text)
    assert error.kind == "unparseable"
    assert ("too many" in error.reasons[0]) == text.startswith("{")
    assert "too many" not in failure(UTTERANCE, "{no").reasons[0]


def test_a_runaway_utterance_is_refused():
    error = failure(UTTERANCE, json.dumps({"utterance": "so " * 1_000}))
    assert error.reasons[0].startswith('utterance: found "2,999 characters"')


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('"Who told you that?"', "Who told you that?"),
        ("\u201cWho told you?\u201d", "Who told you?"),
        ("RESPONDER: Who told you?", "Who told you?"),
        ('**Responder:** "Who told you?"', "Who told you?"),
        ('"INITIATOR: It\'s fine."', "It's fine."),
        ("'I don't know.'", "I don't know."),
        ('"No," he said, "never."', '"No," he said, "never."'),
        ("'No' and 'yes'", "'No' and 'yes'"),
        ("Well \n\n  then,\tgo on.", "Well then, go on."),
        ("Note: it is red.", "Note: it is red."),
        ('He said "no"', 'He said "no"'),
        ("un\x00even\x1b", "un even"),
        ("\u0639\u0632\u06cc\u0632\u200c\u0645", "\u0639\u0632\u06cc\u0632\u200c\u0645"),
    ],
)
def test_an_utterance_is_only_what_is_said(written, said):
    assert UTTERANCE.read(json.dumps({"utterance": written})) == said


@pytest.mark.parametrize(
    ("written", "carried"),
    [(True, True), (False, False), ("yes", True), ("No", False), ("not carried", False), (1, True)],
)
def test_verdicts_are_understood_in_plain_words(written, carried):
    fields = {f"{d.id}_carried": written for d in HIPO.utterance_dimensions} | {"fit": written}
    read = CRITIQUE.read(json.dumps(fields | {"veracity_reason": " It\nis. "}))
    assert read == (
        Critique("intention", carried, ""),
        Critique("veracity", carried, "It is."),
        Critique("illocutionary", carried, ""),
        Critique(FIT, carried, ""),
    )


def test_a_verdict_that_is_none_is_handed_back():
    fields = {"intention_carried": "maybe", "veracity_carried": True, "fit": True}
    error = failure(CRITIQUE, json.dumps(fields))
    assert error.reasons == (
        'intention_carried: found "maybe", expected true or false',
        "illocutionary_carried: missing, expected true or false",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "nothing"), ("  \n", "nothing"), ("I can't do that.", "no JSON"), ("[1, 2]", "no JSON"),
     ('{"text": "hello"}', "no JSON"), ("null", "no JSON"), ("{" * 5_000, "no JSON"),
     ('{"utterance": ' * 3_000, "no JSON"), ("x" * 70_000, "no JSON")],
)  # fmt: skip
def test_what_is_no_answer_is_unparseable(text, found):
    error = failure(UTTERANCE, text)
    assert error.kind == "unparseable"
    assert error.reasons[0].startswith(f"answer: found {found}")
    assert '"utterance"' in error.reasons[0]


@pytest.mark.parametrize(
    "text",
    [
        'Here {as asked} it is:\n{"utterance": "Go on."}\nHope {that} helps.',
        '<think>{"utterance": "No."} or rather...</think>{"utterance": "Go on."}',
        '```json\n{"utterance": "Go on."}\n```',
        '```json\n{"utterance": "Go on."}',
        '{"answer": {"utterance": "Go on."}}',
        '[{"utterance": "Go on."}]',
        '{"Utterance": "Go on."}',
        '{utterance: "Go on."}',
        "{'utterance': 'Go on.'}",
        '{"utterance": "Go on.",}',
        '{"utterance": "Go on."',
        '\ufeff{"utterance": "Go on."}',
        '{"utterance": "Go\non."}',
        '{"utterance": "Go on.\ud800"}'.replace("\ud800", "") + " \ud800",
    ],
)
def test_wrapping_and_small_breakage_are_forgiven(text):
    assert UTTERANCE.read(text) == "Go on."


def test_quotes_inside_an_utterance_that_nobody_escaped_survive():
    assert UTTERANCE.read('{"utterance": "He said "never" to me."}') == 'He said "never" to me.'


def test_a_lone_surrogate_cannot_reach_the_record():
    assert UTTERANCE.read('{"utterance": "odd \\ud800 sign"}') == "odd \ufffd sign"


def test_the_fullest_object_counts_and_of_equals_the_last():
    full = json.dumps(answer())
    for text in ('As in {"utterance": "x"}: ' + full, full + ' unlike {"utterance": "x"}'):
        assert TACTIC.read(text).text == "I've always looked after it."
    corrected = full + " No, rather: " + json.dumps(answer(utterance="Look after it yourself."))
    assert TACTIC.read(corrected).text == "Look after it yourself."


def test_signs_outside_the_basic_plane_survive_repair():
    assert UTTERANCE.read('{"utterance": "fine \\ud83d\\ude00",}') == "fine \U0001f600"


def test_a_dimension_called_like_an_answer_key_is_refused(small_scheme):
    data = small_scheme.model_dump()
    data["dimensions"][1]["id"] = "utterance"
    data["contradictions"] = []
    with pytest.raises(UsageError, match="has the key 'utterance' twice"):
        tactic_format(type(small_scheme).model_validate(data))


def test_an_unreadable_answer_can_cross_processes():
    error = failure(UTTERANCE, "")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.kind, copy.reasons, str(copy)) == (error.kind, error.reasons, str(error))
