"""Any roles speak offline: authored lines in their rounds, labels that may stand together, no repeats."""

from __future__ import annotations

import pytest

from pipeline.offline import speaking
from pipeline.offline.engine import answer
from pipeline.offline.grammar import listed
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.turn_views import answering_view, asking_view
from scenarios.flow import planned_turns
from scenarios.lines.model import FlowLines
from scenarios.schemes.registry import load_scheme
from tests.flows import make_flow_case, make_hearing, make_watched
from tests.questions import messages

SCHEME, HEARING = make_watched(), make_hearing()
PROMPTS = ActorPrompts(Templates(), SCHEME)
LINES = FlowLines.model_validate(
    {
        "scenario": "hearing",
        "flow": {
            "examination": {
                "counsel": [
                    {"text": "Where were you that night?", "labels": {"move": "ask", "ease": 5}},
                    [
                        {"text": "I'll ask you again.", "labels": {"move": "press"}},
                        {"text": "Did you hear a car?", "labels": {"move": "ask"}},
                    ],
                ],
                "first_witness": [
                    {"text": "I can't recall.", "labels": {"move": "dodge", "way": "forgets"}},
                    {"text": "I heard an engine.", "labels": {"move": "tell"}},
                ],
            }
        },
    }
)


def said(case, *, wanted=(), seed=3):
    """Play a case with the rules; return every turn with its draft, or the words alone."""
    history, spoken = [], []
    for planned in planned_turns(HEARING, case):
        if planned.text is not None:
            text, draft = planned.text, None
        elif planned.labelled:
            view = answering_view(HEARING, SCHEME, case, planned, ())
            question = PROMPTS.responder(view, tuple(history), wanted)
            draft = question.answer.read(answer(messages(question), seed))
            text = draft.text
        else:
            view = asking_view(HEARING, SCHEME, case, planned, ())
            question = PROMPTS.initiator(view, tuple(history))
            text, draft = question.answer.read(answer(messages(question), seed)), None
        history.append((planned.role, text))
        spoken.append((planned.role, text, draft))
    return spoken


@pytest.fixture
def written(monkeypatch):
    monkeypatch.setattr(speaking, "flow_lines_of", lambda _: LINES)


@pytest.mark.parametrize("seed", range(4))
def test_without_lines_everybody_says_something_new_with_labels_that_go_together(seed):
    spoken = said(make_flow_case(repetition=seed), seed=seed)
    texts = [text for _, text, _ in spoken]
    assert len(set(texts)) == len(texts)
    for role, _, draft in spoken:
        labels = {label.dimension: label.value for label in draft.tactic} if draft else {}
        if draft:
            moves = {"counsel": {"ask", "press"}, "first_witness": {"tell", "dodge"}}
            assert labels["move"] in moves[role]
        assert ("way" in labels) == (labels.get("move") == "dodge")


def test_written_lines_are_said_in_their_rounds_with_their_labels(written):
    spoken = said(make_flow_case())
    by_role = {
        role: [text for who, text, _ in spoken if who == role]
        for role in ("counsel", "first_witness")
    }
    assert by_role["counsel"][0] == "Where were you that night?"
    assert by_role["counsel"][1] in ("I'll ask you again.", "Did you hear a car?")
    assert by_role["first_witness"][:2] == ["I can't recall.", "I heard an engine."]
    drafts = [draft for role, _, draft in spoken if role == "first_witness"]
    assert [(x.dimension, x.value) for x in drafts[0].tactic][:2] == [
        ("move", "dodge"), ("way", "forgets"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("move", "text"), [("press", "I'll ask you again."), ("ask", "Did you hear a car?")]
)
def test_of_alternatives_the_one_with_the_wanted_label_is_said(written, move, text):
    spoken = said(make_flow_case(), wanted=(("move", move),))
    assert [t for role, t, _ in spoken if role == "counsel"][1] == text


def test_a_phase_longer_than_its_lines_says_none_of_them_twice(written):
    case = next(
        case for case in (make_flow_case(repetition=r) for r in range(20)) if case.turns == 6
    )
    texts = [text for _, text, _ in said(case)]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("seed", range(6))
def test_whoever_deceives_with_a_secret_lies_at_first_where_nobody_wrote_lines(seed):
    scheme = load_scheme("hipo")
    hearing = make_hearing(scheme="hipo")
    case = make_flow_case(hearing, goal="deception", repetition=seed)
    first = next(p for p in planned_turns(hearing, case) if p.role == "first_witness")
    view = answering_view(hearing, scheme, case, first, ())
    question = ActorPrompts(Templates(), scheme).responder(view, (("counsel", "Who did it?"),), ())
    draft = question.answer.read(answer(messages(question), seed))
    labels = {label.dimension: label.value for label in draft.tactic}
    assert labels == {
        "intention": "Inform",
        "veracity": "Quality",
        "illocutionary": "Representatives",
    }
    assert any(lie in draft.text for lie in listed("asides", "lies", "untold"))
