"""Labelling procedures: what a scheme file may say, and what the shipped one does say."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from scenarios.catalogue import Catalogue
from scenarios.schemes.misleading import misleading_goals
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.wording import content_stems

HIPO = load_scheme("hipo")


def scheme(**changes):
    """Return a small scheme with changes to its utterance dimension."""
    labels = [{"id": "warm", "definition": "d"}, {"id": "cold", "definition": "d"}]
    goals = [{"id": "help", "definition": "d"}, {"id": "sell", "definition": "d"}]
    tone = {"id": "tone", "level": "utterance", "question": "?", "labels": labels} | changes
    goal = {"id": "goal", "level": "dialogue", "question": "?", "labels": goals}
    return Scheme.model_validate(
        {"id": "small", "title": "S", "assigned": "goal", "dimensions": [goal, tone]}
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": [{"when": "always", "label": "hot"}]}, "'hot' is no label of 'tone'"),
        ({"steps": [{"when": "always", "label": "warm"}]}, "no step of 'tone' leads to 'cold'"),
        ({"contrast": [{"text": "x", "is": "warm", "not": "hot", "because": "y"}]}, "'hot'"),
        ({"expect": {"help": "warm"}}, "only a dimension that readers label"),
        ({"by": "reader", "expect": {"lend": "warm"}}, "'lend' is no goal"),
        ({"by": "reader", "expect": {"help": "hot"}}, "'hot' is no label"),
    ],
)
def test_a_procedure_that_cannot_be_followed_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        scheme(**changes)


def test_what_readers_alone_label_is_not_declared_and_changes_no_dialogue():
    asked = scheme(by="reader", expect={"help": "warm"})
    assert asked.utterance_dimensions == ()
    assert [d.id for d in asked.read_dimensions("utterance")] == ["tone"]
    assert asked.fingerprint == asked.model_copy(update={"dimensions": asked.declared}).fingerprint
    declared = scheme(steps=[{"when": "a", "label": "warm"}, {"when": "b", "label": "cold"}])
    assert declared.fingerprint != scheme().fingerprint


def test_every_declared_dimension_has_steps_that_end_with_everything_else():
    for dimension in HIPO.declared:
        assert dimension.steps[-1].when.startswith("Everything else"), dimension.id
        assert {step.label for step in dimension.steps} == set(dimension.values)


def test_examples_are_about_nobody_in_the_library():
    texts = [line.text for d in HIPO.dimensions for line in d.contrast]
    texts += [label.example for d in HIPO.dimensions for label in d.labels]
    words = content_stems(" ".join(texts))
    assert "honey" in words
    told = Catalogue.load().scenarios.values()
    assert not [s.id for s in told if content_stems(s.background) & {"honey", "hive", "beekeep"}]


def test_a_refusal_has_one_label_on_every_dimension():
    act = HIPO.dimension("illocutionary").steps
    first = [step.label for step in act if "refusal" in step.when]
    assert first == ["Commissives"]
    assert [s.label for s in HIPO.dimension("veracity").steps if "will not" in s.when] == ["None"]
    assert [s.label for s in HIPO.dimension("intention").steps if "refusal" in s.when] == ["Inform"]


def test_the_rule_on_omission_is_told_once_for_all():
    (rule,) = [text for text in HIPO.conventions if "Leaving something out" in text]
    assert "said, hinted at or confirmed" in rule


def test_which_goals_mislead_is_derived_from_what_is_required():
    assert misleading_goals(HIPO) == {"deception"}
    assert misleading_goals(scheme()) is None
